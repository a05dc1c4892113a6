internal import Codec
internal import Platform

/// A whole upload, for reading here and there.
final class SpooledUpload: DemuxerSource {
  private let spool: Spool

  init(_ spool: consuming Spool) {
    self.spool = spool
  }

  var count: Int { spool.count }

  func read(at offset: Int, into output: inout OutputSpan<UInt8>) -> Bool {
    do throws(Problem) {
      try spool.read(at: offset, into: &output)
      return true
    } catch {
      return false
    }
  }

  /// The bytes from `offset` on, at most `count` of them.
  func bytes(at offset: Int, count: Int) -> [UInt8] {
    [UInt8](capacity: max(0, min(count, spool.count - offset))) { output in
      _ = read(at: offset, into: &output)
    }
  }
}
