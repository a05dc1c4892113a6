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

  package var isStopped: Bool { isStopped(within: 0) }

  /// Whether the input is stopped, or will be in so many milliseconds.
  package func isStopped(within milliseconds: Int32) -> Bool {
    isReadable(reader, orElse: nil, milliseconds)
  }

  /// Waits until there is something to read, or the end; false when the input is stopped.
  func allowsReading(of descriptor: Int32) -> Bool { !isReadable(reader, orElse: descriptor, -1) }

  /// Whether the first can be read; waits for that or for the other, if there is one, but not longer
  /// than so many milliseconds.
  private func isReadable(_ first: Int32, orElse second: Int32?, _ milliseconds: Int32) -> Bool {
    var polled = [first, second ?? -1].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while poll(&polled, nfds_t(polled.count), milliseconds) < 0, errno == EINTR {}
    return polled[0].revents != 0
  }
}
