internal import Glibc

/// A regular file that is read here and there, from where an `InputFile` stood.
package final class StoredFile: Sendable {
  private let descriptor: Int32
  private let start: Int
  /// Bytes that there were when it was opened.
  package let count: Int

  /// Nil when the input is no regular file.
  package init?(_ input: borrowing InputFile) {
    guard let start = input.position, let size = input.remainingSize else { return nil }
    let copy = input.duplicate()
    guard copy >= 0 else { return nil }
    descriptor = copy
    self.start = start
    count = size
  }

  deinit {
    close(descriptor)
  }

  /// Fills the free room of `output` from `offset` on, as far as there are bytes.
  package func read(at offset: Int, into output: inout OutputSpan<UInt8>) throws(SystemError) {
    try fill(&output, from: descriptor, at: start + offset)
  }
}

/// Reads into the free room of `output`; a short read means the end of the file.
func fill(
  _ output: inout OutputSpan<UInt8>, from descriptor: Int32, at offset: Int
) throws(SystemError) {
  var position = offset
  while output.freeCapacity > 0 {
    let count = output.withUnsafeMutableBufferPointer { buffer, initialized in
      let room = buffer.count - initialized
      let got = pread(
        descriptor, buffer.baseAddress.map { $0 + initialized }, room, off_t(position))
      if got > 0 { initialized += got }
      return got
    }
    if count < 0 {
      if errno == EINTR { continue }
      throw SystemError("pread")
    }
    if count == 0 { return }
    position += count
  }
}
