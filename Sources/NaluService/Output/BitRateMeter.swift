internal import H264

/// Bits per second of a stream whose frames have all the same duration.
struct BitRateMeter: Sendable {
  /// Frames per second, once it is known: the first that a sequence parameter set in use says.
  private(set) var frameRate: H264.Ratio?
  private(set) var frames = 0
  /// Bits of all frames.
  private(set) var bits = 0
  /// Bits of the second that is being filled, and of the fullest whole one.
  private var bitsOfSecond = 0
  private var mostBits: Int?
  /// The second's part that is filled, in units of 1 / numerator.
  private var elapsed = 0

  /// Frames after this one have that duration.
  mutating func begin(_ rate: H264.Ratio?) {
    frameRate = rate
  }

  mutating func add(frameOfBytes size: Int) {
    frames += 1
    bits += 8 * size
    guard let frameRate else { return }
    bitsOfSecond += 8 * size
    elapsed += frameRate.denominator
    if elapsed >= frameRate.numerator {
      elapsed %= frameRate.numerator
      mostBits = max(mostBits ?? 0, bitsOfSecond)
      bitsOfSecond = 0
    }
  }

  /// Seconds.
  var duration: Double? {
    frameRate.map { Double(frames) * Double($0.denominator) / Double($0.numerator) }
  }

  /// Bits in the fullest whole second, counted from the first frame.
  var peak: Int? { mostBits }

  /// Bits per second of `bytes` over the whole duration.
  func mean(ofBytes bytes: Int) -> Int? {
    duration.flatMap { Self.mean(ofBytes: bytes, seconds: $0) }
  }

  /// Bits per second of `bytes` over that time.
  static func mean(ofBytes bytes: Int, seconds: Double) -> Int? {
    guard seconds > 0 else { return nil }
    let rate = (Double(bytes) * 8 / seconds).rounded()
    return rate < 9e18 ? Int(rate) : nil
  }
}
