internal import NaluService
internal import Platform

/// A line on the terminal that is written over while a job lasts; nothing where standard error is no
/// terminal.
final class ProgressLine {
  private static let period: UInt64 = 200_000_000
  private let name: String
  private let text: ProgressText
  private let start = monotonicNanoseconds()
  private var next: UInt64
  private let isShown: Bool
  private var hasWritten = false

  /// `size` is that of the input, in bytes; nil when it is not known.
  init(_ name: String, size: Int?, isShown: Bool) {
    self.name = name
    self.isShown = isShown && errorsGoToATerminal()
    text = ProgressText(size: size)
    // What is over at once needs no line.
    next = start + 2 * ProgressLine.period
  }

  /// Takes the line away.
  func clear() {
    if hasWritten { writeErrorText("\r\u{1B}[K") }
    hasWritten = false
  }

  func update(bytesRead: Int, counters: Counters) {
    guard isShown else { return }
    let now = monotonicNanoseconds()
    guard now >= next else { return }
    next = now + ProgressLine.period
    hasWritten = true
    let line = text.line(
      bytesRead: bytesRead, frames: counters.framesOut, seconds: Double(now - start) / 1e9)
    writeErrorText("\r\(name): \(line)\u{1B}[K")
  }
}
