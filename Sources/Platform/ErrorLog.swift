internal import Dispatch
internal import Synchronization

/// Lines for standard error from threads that must not wait for whoever reads it: a full pipe holds
/// up nobody. What cannot be written in time is left out, and counted.
package final class ErrorLog: Sendable {
  /// Bytes that wait to be written; what is more is left out.
  private static let capacity = 8 << 20
  private let queue = DispatchQueue(label: "nalu.log")
  private let waiting = Atomic<Int>(0)
  private let omitted = Atomic<Int>(0)
  private let report: @Sendable (Int) -> String

  /// - Parameter report: the line that says how many were left out.
  package init(report: @escaping @Sendable (Int) -> String) {
    self.report = report
  }

  package func write(_ line: String) {
    // With what the queue needs for a line.
    let size = line.utf8.count + 128
    guard waiting.add(size, ordering: .relaxed).newValue <= ErrorLog.capacity else {
      waiting.subtract(size, ordering: .relaxed)
      omitted.add(1, ordering: .relaxed)
      return
    }
    queue.async {
      writeErrorLine(line)
      self.waiting.subtract(size, ordering: .relaxed)
      let omitted = self.omitted.exchange(0, ordering: .relaxed)
      if omitted > 0 { writeErrorLine(self.report(omitted)) }
    }
  }

  /// Waits for what is to be written, but not for ever: for a second.
  package func flush() {
    let done = DispatchSemaphore(value: 0)
    queue.async { done.signal() }
    _ = done.wait(timeout: .now() + 1)
  }
}
