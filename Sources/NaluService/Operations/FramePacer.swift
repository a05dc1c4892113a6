internal import Codec

/// Gives decoded frames the times at which they are encoded: drops and repeats them for a constant
/// rate, or keeps the times that they have.
struct FramePacer: ~Copyable, Sendable {
  enum Pace: Equatable, Sendable {
    /// Frames per second; a tick is a frame.
    case constant(Rational)
    /// As the times are; a tick is that many seconds.
    case variable(Rational)
  }

  /// A frame for the encoder.
  struct PacedFrame: ~Copyable, Sendable {
    var frame: Frame
    /// In ticks.
    var time: Int
    var duration: Int
  }

  let pace: Pace
  private let isConstant: Bool
  /// What is shown until the next frame is.
  private var held: Frame?
  private var heldTime = 0
  private var following: Frame?
  private var followingTime = 0
  /// The first tick that has no frame yet.
  private var next: Int?
  private var end: Int?
  private var hasShown = false

  init(_ pace: Pace) {
    self.pace = pace
    if case .constant = pace { isConstant = true } else { isConstant = false }
  }

  /// Everything is out.
  var isOver: Bool { end != nil && following == nil && (held == nil || (next ?? 0) >= limit) }

  /// The first tick that what is held is not shown at.
  private var limit: Int {
    if following != nil { return followingTime }
    // Something of a stream is always shown, and where times are kept, every frame is.
    return max(end ?? 0, isConstant && hasShown ? 0 : heldTime + 1)
  }

  /// Takes the next frame in output order, shown from tick `time` on.
  mutating func push(_ frame: consuming Frame, at time: Int) {
    if held == nil {
      held = consume frame
      heldTime = time
      next = time
    } else {
      following = consume frame
      // Times that do not ascend would stop the encoder.
      followingTime = isConstant ? max(heldTime, time) : max(heldTime + 1, time)
    }
  }

  /// No frame follows; the last is shown until tick `time`.
  mutating func finish(at time: Int) {
    end = time
  }

  /// The next frame to be encoded; `nil` when another must be put in, or none is left.
  mutating func pop() throws(CodecError) -> PacedFrame? {
    guard held != nil, following != nil || end != nil else { return nil }
    if following != nil, let first = next, first >= followingTime { advance() }
    guard following != nil || end != nil, let first = next, first < limit else { return nil }
    let time = isConstant ? first : heldTime
    let duration = isConstant ? 1 : limit - heldTime
    next = time + duration
    hasShown = true
    guard let picture = try held?.shared() else { return nil }
    return PacedFrame(frame: picture, time: time, duration: duration)
  }

  private mutating func advance() {
    guard let picture = following.take() else { return }
    held = consume picture
    heldTime = followingTime
    next = max(next ?? heldTime, heldTime)
  }
}
