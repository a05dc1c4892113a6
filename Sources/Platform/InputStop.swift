internal import Glibc

/// Ends an input that would go on: whoever waits for more of it learns so at once.
package final class InputStop: Sendable {
  /// A pipe into which a byte is written once.
  private let reader: Int32
  private let writer: Int32

  package init() throws(SystemError) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw SystemError("pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    (reader, writer) = (ends[0], ends[1])
  }

  deinit {
    close(reader)
    close(writer)
  }

  package func stop() {
    var byte: UInt8 = 0
    _ = write(writer, &byte, 1)
  }

  package var isStopped: Bool { isReadable(reader, orElse: nil) }

  /// Waits until there is something to read, or the end; false when the input is stopped.
  func allowsReading(of descriptor: Int32) -> Bool { !isReadable(reader, orElse: descriptor) }

  /// Whether the first can be read; waits for that or for the other, if there is one.
  private func isReadable(_ first: Int32, orElse second: Int32?) -> Bool {
    var polled = [first, second ?? -1].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while poll(&polled, nfds_t(polled.count), second == nil ? 0 : -1) < 0, errno == EINTR {}
    return polled[0].revents != 0
  }
}
