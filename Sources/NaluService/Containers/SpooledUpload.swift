internal import Codec
internal import Platform

/// A whole upload, for reading here and there: spooled, or the file that a command was given.
final class SpooledUpload: DemuxerSource {
  private let spool: Spool?
  private let file: StoredFile?
  let count: Int

  init(_ spool: consuming Spool) {
    count = spool.count
    self.spool = consume spool
    file = nil
  }

  init(_ file: StoredFile) {
    count = file.count
    spool = nil
    self.file = file
  }

  func read(at offset: Int, into output: inout OutputSpan<UInt8>) -> Bool {
    do {
      try spool?.read(at: offset, into: &output)
      try file?.read(at: offset, into: &output)
      return true
    } catch {
      return false
    }
  }

  /// The bytes from `offset` on, at most `count` of them.
  func bytes(at offset: Int, count: Int) -> [UInt8] {
    [UInt8](capacity: max(0, min(count, self.count - offset))) { output in
      _ = read(at: offset, into: &output)
    }
  }
}
