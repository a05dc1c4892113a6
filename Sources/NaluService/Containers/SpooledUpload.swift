internal import Codec
internal import Platform

/// A whole upload, for reading here and there: spooled, or the file that a command was given.
final class SpooledUpload: DemuxerSource {
  /// What is read in the place of bytes of the upload.
  struct Patch: Equatable, Sendable {
    var offset: Int
    var bytes: [UInt8]
  }

  private final class Content: Sendable {
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

    /// False: the bytes cannot be read.
    func read(at offset: Int, into output: inout OutputSpan<UInt8>) -> Bool {
      do {
        try spool?.read(at: offset, into: &output)
        try file?.read(at: offset, into: &output)
        return true
      } catch {
        return false
      }
    }
  }

  private let content: Content
  private let patches: [Patch]
  /// From the first of them to the last.
  private let patched: Range<Int>
  /// Of an MP4 file, once its boxes were looked at.
  let movie: MovieForm

  init(_ spool: consuming Spool) {
    content = Content(spool)
    patches = []
    patched = 0..<0
    movie = .missing
  }

  init(_ file: StoredFile) {
    content = Content(file)
    patches = []
    patched = 0..<0
    movie = .missing
  }

  private init(_ content: Content, _ patches: [Patch], _ movie: MovieForm) {
    self.content = content
    self.movie = movie
    self.patches = patches
    let first = patches.map(\.offset).min() ?? 0
    patched = first..<max(first, patches.map { $0.offset + $0.bytes.count }.max() ?? 0)
  }

  /// The same upload with changes, all of which lie within it, and what is known of its movie.
  func patched(_ patches: [Patch], _ movie: MovieForm) -> SpooledUpload {
    SpooledUpload(content, patches, movie)
  }

  var count: Int { content.count }

  func read(at offset: Int, into output: inout OutputSpan<UInt8>) -> Bool {
    let end = offset + output.freeCapacity
    let touched =
      patched.lowerBound >= end || patched.upperBound <= offset
      ? []
      : patches.filter { $0.offset < end && $0.offset + $0.bytes.count > offset }
    guard !touched.isEmpty else { return content.read(at: offset, into: &output) }
    var isRead = true
    var bytes = [UInt8](capacity: min(end, count) - offset) { copy in
      isRead = content.read(at: offset, into: &copy)
    }
    for patch in touched {
      for (index, byte) in patch.bytes.enumerated()
      where bytes.indices.contains(patch.offset + index - offset) {
        bytes[patch.offset + index - offset] = byte
      }
    }
    _ = output.append(fitting: bytes.span)
    return isRead
  }

  /// The bytes from `offset` on, at most `count` of them.
  func bytes(at offset: Int, count: Int) -> [UInt8] {
    [UInt8](capacity: max(0, min(count, self.count - offset))) { output in
      _ = read(at: offset, into: &output)
    }
  }
}
