internal import Platform

/// How long a client may still take for its part, as a sum of time that runs out while it is the
/// client's turn and is earned back by progress.
struct Pace {
  private var left: Double
  private let allowance: Double
  private let secondsPerByte: Double
  private var last = monotonicNanoseconds()

  /// - Parameters:
  ///   - allowance: what a client may take without any progress, in seconds.
  ///   - rate: bytes per second it must keep up on average; 0 asks only for some progress.
  init(allowance: Duration, rate: Int = 0) {
    self.allowance = allowance / .seconds(1)
    left = self.allowance
    secondsPerByte = rate > 0 ? 1 / Double(rate) : .infinity
  }

  /// Counts progress of that many bytes.
  mutating func progressed(by bytes: Int) {
    guard bytes > 0 else { return }
    left = min(allowance, left + Double(bytes) * secondsPerByte)
  }

  /// Lets time pass, which counts only when it was the client's turn, and says whether some is
  /// left.
  mutating func isInTime(at now: UInt64, isItsTurn: Bool = true) -> Bool {
    let passed = now > last ? Double(now - last) / 1e9 : 0
    last = max(last, now)
    guard isItsTurn else { return true }
    left -= passed
    return left > 0
  }
}
