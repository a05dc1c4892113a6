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

  /// Another descriptor of it; negative when there are no more.
  borrowing func duplicate() -> Int32 { fcntl(descriptor, F_DUPFD_CLOEXEC, 3) }

  /// It is the file of that name, by whatever path.
  package func isFile(at path: String) -> Bool {
    var own = stat()
    var other = stat()
    return fstat(descriptor, &own) == 0 && stat(path, &other) == 0 && own.st_dev == other.st_dev
      && own.st_ino == other.st_ino && own.st_mode & S_IFMT == S_IFREG
  }

  /// Fills the free room of `block`, waiting for more as long as there may be more; a block that is
  /// not full afterwards is the last. When `stop` says so, no more is waited for.
  package borrowing func fill(_ block: Block, until stop: InputStop? = nil) throws(SystemError) {
    let descriptor = descriptor
    try fill(block) { room in
      stop?.allowsReading(of: descriptor) == false
        ? 0 : read(descriptor, room.baseAddress, room.count)
    }
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

/// Two names are of one regular file; `-` is standard input.
package func isSameFile(_ first: String, _ second: String) -> Bool {
  var one = stat()
  var other = stat()
  return stat(first == "-" ? "/dev/stdin" : first, &one) == 0 && stat(second, &other) == 0
    && one.st_dev == other.st_dev && one.st_ino == other.st_ino
    && one.st_mode & S_IFMT == S_IFREG
}

/// Writes a line to standard error, in one piece.
package func writeErrorLine(_ line: String) { writeErrorText(line + "\n") }

/// A person reads standard error.
package func errorsGoToATerminal() -> Bool { isatty(2) == 1 }

/// Writes to standard error.
package func writeErrorText(_ text: String) {
  let bytes = Array(text.utf8)
  // A standard error that cannot be written leaves nobody to tell.
  try? writeAll(bytes.span, to: 2)
}

func writeAll(_ bytes: Span<UInt8>, to descriptor: Int32) throws(SystemError) {
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

/// The content of a small file; what is no UTF-8 is replaced. One of more than `limit` bytes is an
/// error.
package func readTextFile(_ path: String, limit: Int) throws(SystemError) -> String {
  let file = try InputFile(path: path)
  let block = Block(capacity: limit + 1)
  try file.fill(block)
  guard block.count <= limit else { throw SystemError("read", EFBIG) }
  return block.span.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
}
