internal import Platform

/// How many bytes of a long upload are waited for before the I/O thread is woken to read them.
///
/// A fast sender would wake it at each of its writes, and each time a processor would leave what it
/// works on. The bytes of a slow one are not kept waiting for more than two sweeps, and the end of
/// an upload never is.
struct WakeThreshold {
  private static let bytes = 256 << 10

  private var isRaised = false
  /// Nothing came between two sweeps: this upload is not waited for in this way again.
  private var isSlow = false
  /// What was to come when the sweep last looked.
  private var remaining: Int?

  /// Bytes were taken, and `remaining` are to come; nil when that is not known.
  mutating func progressed(_ descriptor: Int32, remaining: Int?) {
    guard let remaining, !isSlow else { return }
    if isRaised {
      if remaining < 2 * WakeThreshold.bytes { lower(descriptor) }
    } else if remaining > 4 * WakeThreshold.bytes {
      isRaised = true
      Sockets.setWakeThreshold(descriptor, WakeThreshold.bytes)
    }
  }

  /// The sweep looks at an upload that is the client's turn.
  mutating func look(_ descriptor: Int32, remaining: Int?) {
    guard isRaised else { return }
    if remaining == self.remaining {
      isSlow = true
      lower(descriptor)
    }
    self.remaining = remaining
  }

  private mutating func lower(_ descriptor: Int32) {
    isRaised = false
    Sockets.setWakeThreshold(descriptor, 1)
  }
}
