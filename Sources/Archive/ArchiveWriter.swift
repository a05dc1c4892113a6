internal import CArchive

/// Writes files into a zip or tar archive, which comes out as it grows.
///
/// The files are kept in memory for as long as they are written; of a zip, what stays is its
/// directory: about a hundred bytes a file.
package struct ArchiveWriter: ~Copyable {
  package enum Format: Sendable {
    /// Files are stored as they are; images do not get smaller. Past 4 GiB it is Zip64.
    case zip
    /// POSIX ustar.
    case tar
  }

  private let archive: OpaquePointer
  private let format: Format
  /// Where libarchive's bytes go.
  private let sink: Sink

  /// Starts an archive.
  ///
  /// - Throws: `ArchiveError` when there is no memory.
  package init(_ format: Format) throws(ArchiveError) {
    guard let archive = archive_write_new() else {
      throw ArchiveError(function: "archive_write_new", message: "out of memory")
    }
    let sink = Sink()
    do throws(ArchiveError) {
      try Self.set(up: archive, format, sink)
    } catch {
      archive_write_free(archive)
      throw error
    }
    self.archive = archive
    self.format = format
    self.sink = sink
  }

  deinit {
    archive_write_free(archive)
  }

  /// Adds a file.
  ///
  /// - Parameters:
  ///   - name: Its name in the archive.
  ///   - content: Its bytes.
  /// - Throws: `ArchiveError` when libarchive cannot take it.
  package mutating func add(_ name: String, _ content: [UInt8]) throws(ArchiveError) {
    guard let entry = archive_entry_new() else {
      throw ArchiveError(function: "archive_entry_new", message: "out of memory")
    }
    defer { archive_entry_free(entry) }
    archive_entry_set_pathname(entry, name)
    archive_entry_set_size(entry, Int64(content.count))
    archive_entry_set_filetype(entry, nalu_regular_file)
    archive_entry_set_perm(entry, 0o644)
    try check(archive_write_header(archive, entry), "archive_write_header")
    let written = archive_write_data(archive, content, content.count)
    guard written == content.count else { throw failure("archive_write_data") }
    try check(archive_write_finish_entry(archive), "archive_write_finish_entry")
  }

  /// Completes the archive.
  ///
  /// - Parameter comment: Up to 65535 bytes; a zip carries it, a tar has no place for it.
  /// - Throws: `ArchiveError` when libarchive cannot write its directory.
  package mutating func finish(comment: String) throws(ArchiveError) {
    try check(archive_write_close(archive), "archive_write_close")
    if format == .zip { sink.endZip(comment: Array(comment.utf8.prefix(65535))) }
  }

  /// Moves what was written so far to the end of `bytes`.
  package mutating func take(into bytes: inout [UInt8]) {
    sink.move(to: &bytes, keeping: format == .zip && !sink.isEnded ? Sink.commentLengthSize : 0)
  }

  private static func set(
    up archive: OpaquePointer, _ format: Format, _ sink: Sink
  ) throws(ArchiveError) {
    switch format {
    case .zip:
      try check(archive_write_set_format_zip(archive), "archive_write_set_format_zip", archive)
      try check(
        archive_write_set_options(archive, "zip:compression=store"), "archive_write_set_options",
        archive)
    case .tar:
      try check(archive_write_set_format_ustar(archive), "archive_write_set_format_ustar", archive)
    }
    // Neither blocks nor padding at the end: bytes come out as they are.
    try check(
      archive_write_set_bytes_per_block(archive, 0), "archive_write_set_bytes_per_block", archive)
    try check(
      archive_write_set_bytes_in_last_block(archive, 1), "archive_write_set_bytes_in_last_block",
      archive)
    // SAFETY: the writer owns the sink for longer than the archive that has its address.
    let address = Unmanaged.passUnretained(sink).toOpaque()
    try check(
      archive_write_open(archive, address, nil, receive, nil), "archive_write_open", archive)
  }

  private func check(_ result: Int32, _ function: String) throws(ArchiveError) {
    try Self.check(result, function, archive)
  }

  private static func check(
    _ result: Int32, _ function: String, _ archive: OpaquePointer
  ) throws(ArchiveError) {
    if result != ARCHIVE_OK { throw failure(function, archive) }
  }

  private func failure(_ function: String) -> ArchiveError { Self.failure(function, archive) }

  private static func failure(_ function: String, _ archive: OpaquePointer) -> ArchiveError {
    ArchiveError(
      function: function,
      message: archive_error_string(archive).map { String(cString: $0) } ?? "no reason given")
  }
}

// SAFETY: libarchive's handle may move between threads; the unique owner rules out concurrent use.
extension ArchiveWriter: @unchecked Sendable {}

/// What libarchive answered to a failed call.
package struct ArchiveError: Error, Equatable, Sendable {
  /// The function, for the log.
  package let function: String
  package let message: String
}

/// Gathers what libarchive writes.
private final class Sink {
  private var bytes: [UInt8] = []
  private(set) var isEnded = false

  /// A zip ends in the length of its comment and the comment (APPNOTE 4.3.16). libarchive always
  /// writes length 0, so these two bytes stay here until they can be replaced.
  static let commentLengthSize = 2

  func append(_ written: UnsafeRawBufferPointer) {
    bytes.append(contentsOf: written)
  }

  func endZip(comment: [UInt8]) {
    isEnded = true
    bytes.removeLast(Self.commentLengthSize)
    bytes.append(UInt8(comment.count & 255))
    bytes.append(UInt8(comment.count >> 8))
    bytes += comment
  }

  func move(to other: inout [UInt8], keeping count: Int) {
    guard bytes.count > count else { return }
    let kept = Array(bytes.suffix(count))
    other.append(contentsOf: bytes.dropLast(count))
    bytes.removeAll(keepingCapacity: true)
    bytes += kept
  }
}

private let receive:
  @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeRawPointer?, Int) -> Int = {
    _, sink, bytes, count in
    guard let sink else { return -1 }
    Unmanaged<Sink>.fromOpaque(sink).takeUnretainedValue()
      .append(UnsafeRawBufferPointer(start: bytes, count: count))
    return count
  }
