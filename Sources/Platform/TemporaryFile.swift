internal import Glibc

/// What the operating system answered to a failed call.
package struct SystemError: Error, Equatable, Sendable {
  /// The call, as in its manual page.
  package let call: String
  /// The `errno` it left.
  package let number: Int32

  package init(_ call: String, _ number: Int32 = errno) {
    self.call = call
    self.number = number
  }

  /// Nobody reads what is written.
  package var isBrokenPipe: Bool { number == EPIPE }

  /// No room is left: on the device, of the quota, or below the file size limit.
  package var isOutOfSpace: Bool { number == ENOSPC || number == EDQUOT || number == EFBIG }
}

/// A file without a name (or, where the file system has none such, with one for the moment in which
/// it is made): it vanishes with its last descriptor, however the process ends.
package struct TemporaryFile: ~Copyable {
  private let descriptor: Int32
  /// Bytes written so far.
  package private(set) var size = 0

  package init(in directory: String) throws(SystemError) {
    if let opened = try openUnnamedFile(in: directory, mode: 0o600, isLinkable: false) {
      descriptor = opened
    } else {
      let (opened, name) = try openNamedFile("\(directory)/nalu-")
      unlink(name)
      descriptor = opened
    }
  }

  deinit {
    close(descriptor)
  }

  /// Writes all of `bytes` at the end.
  package mutating func append(_ bytes: Span<UInt8>) throws(SystemError) {
    try write(bytes, at: size)
  }

  /// Writes all of `bytes` at `offset`, over what is there.
  package mutating func write(_ bytes: Span<UInt8>, at offset: Int) throws(SystemError) {
    var done = 0
    while done < bytes.count {
      let written = bytes.withUnsafeBytes { source in
        pwrite(
          descriptor, source.baseAddress.map { $0 + done }, source.count - done,
          off_t(offset + done))
      }
      if written < 0 {
        if errno == EINTR { continue }
        throw SystemError("pwrite")
      }
      done += written
      size = max(size, offset + done)
    }
  }

  /// Reads into the free room of `output` from `offset` on; a short read means the end of the file.
  package borrowing func read(
    at offset: Int, into output: inout OutputSpan<UInt8>
  ) throws(SystemError) {
    try fill(&output, from: descriptor, at: offset)
  }
}
