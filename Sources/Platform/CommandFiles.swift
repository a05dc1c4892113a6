internal import Glibc

/// What a command reads: a file, or standard input.
package struct InputFile: ~Copyable {
  private let descriptor: Int32

  /// Opens the file; `-` is standard input.
  package init(path: String) throws(SystemError) {
    guard path != "-" else {
      descriptor = 0
      return
    }
    let opened = open(path, O_RDONLY | O_CLOEXEC)
    guard opened >= 0 else { throw SystemError("open") }
    descriptor = opened
  }

  deinit {
    if descriptor > 0 { close(descriptor) }
  }

  /// Bytes from the current position to the end, where that can be known: of a regular file.
  package var remainingSize: Int? {
    var status = stat()
    guard let position, fstat(descriptor, &status) == 0 else { return nil }
    return max(0, Int(status.st_size) - position)
  }

  /// The current position in a regular file.
  var position: Int? {
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
    let position = lseek(descriptor, 0, SEEK_CUR)
    return position < 0 ? nil : Int(position)
  }

  /// Fills the free room of `block`, waiting for more as long as there may be more; a block that is
  /// not full afterwards is the last.
  package borrowing func fill(_ block: Block) throws(SystemError) {
    let descriptor = descriptor
    try fill(block) { read(descriptor, $0.baseAddress, $0.count) }
  }

  /// Fills the free room of `block` from that position of a regular file.
  borrowing func fill(_ block: Block, at position: Int) throws(SystemError) {
    let descriptor = descriptor
    let start = position - block.count
    try fill(block) { pread(descriptor, $0.baseAddress, $0.count, off_t(start + block.count)) }
  }

  private borrowing func fill(
    _ block: Block, _ read: (UnsafeMutableRawBufferPointer) -> Int
  ) throws(SystemError) {
    var isAtEnd = false
    while !block.isFull, !isAtEnd {
      try block.append { (room) throws(SystemError) in
        while true {
          let count = read(room)
          if count < 0, errno == EINTR { continue }
          guard count >= 0 else { throw SystemError("read") }
          isAtEnd = count == 0
          return count
        }
      }
    }
  }
}

/// What a command writes: a file, or standard output.
///
/// A file gets its name only when it is complete (`commit`): until then what had that name stays as
/// it was, be it the input itself, and a failure leaves nothing behind. Devices and pipes are
/// written to directly.
package struct OutputFile: ~Copyable {
  private let descriptor: Int32
  /// What the file is called until it is complete, and then.
  private let names: (temporary: String, final: String)?

  /// Nil or `-` is standard output.
  package init(path: String?) throws(SystemError) {
    guard let path, path != "-" else {
      descriptor = 1
      names = nil
      return
    }
    var status = stat()
    let exists = stat(path, &status) == 0
    if exists, status.st_mode & S_IFMT != S_IFREG {
      let opened = open(path, O_WRONLY | O_CLOEXEC)
      guard opened >= 0 else { throw SystemError("open") }
      descriptor = opened
      names = nil
      return
    }
    let final = exists ? OutputFile.resolved(path) : path
    var template = Array("\(final).XXXXXX".utf8CString)
    let opened = mkstemp(&template)
    guard opened >= 0 else { throw SystemError("open") }
    let mask = umask(0)
    umask(mask)
    _ = fchmod(opened, exists ? status.st_mode & 0o7777 : 0o666 & ~mask)
    _ = fcntl(opened, F_SETFD, FD_CLOEXEC)
    descriptor = opened
    names = (
      String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self), final
    )
  }

  deinit {
    if descriptor > 1 { close(descriptor) }
  }

  /// A person would see the bytes.
  package var isTerminal: Bool { isatty(descriptor) == 1 }

  package borrowing func write(_ bytes: Span<UInt8>) throws(SystemError) {
    try writeAll(bytes, to: descriptor)
  }

  /// The result is complete: the file gets its name.
  package borrowing func commit() throws(SystemError) {
    guard let names else { return }
    guard rename(names.temporary, names.final) == 0 else { throw SystemError("rename") }
  }

  /// There is no result: nothing is left of the file.
  package borrowing func discard() {
    if let names { unlink(names.temporary) }
  }

  /// Where a symbolic link leads, so that the file it names is replaced and not the link.
  private static func resolved(_ path: String) -> String {
    guard let target = realpath(path, nil) else { return path }
    defer { free(target) }
    return String(cString: target)
  }
}

/// Writes a line to standard error, in one piece.
package func writeErrorLine(_ line: String) {
  var bytes = Array(line.utf8)
  bytes.append(UInt8(ascii: "\n"))
  // A standard error that cannot be written leaves nobody to tell.
  try? writeAll(bytes.span, to: 2)
}

private func writeAll(_ bytes: Span<UInt8>, to descriptor: Int32) throws(SystemError) {
  var done = 0
  while done < bytes.count {
    let written = bytes.withUnsafeBytes { source in
      Glibc.write(descriptor, source.baseAddress.map { $0 + done }, source.count - done)
    }
    if written < 0 {
      if errno == EINTR { continue }
      throw SystemError("write")
    }
    done += written
  }
}

extension SystemError {
  /// The system's words for the error.
  package var message: String { String(cString: strerror(number)) }
}

/// The content of a small file, up to `limit` bytes; what is no UTF-8 is replaced.
package func readTextFile(_ path: String, limit: Int) throws(SystemError) -> String {
  let file = try InputFile(path: path)
  let block = Block(capacity: limit)
  try file.fill(block)
  return block.span.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
}
