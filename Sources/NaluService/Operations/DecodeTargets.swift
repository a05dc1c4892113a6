/// Which frames are still to come out, as far as that is known before decoding.
struct DecodeTargets: Sendable {
  private enum Wanted: Sendable {
    case ranges([ClosedRange<Int>])
    case every(Int)
    case all
    /// By what the decoder says of each frame.
    case keyframes
    /// Whatever comes out last.
    case last
  }

  private let wanted: Wanted
  /// The second that was asked for, and how long the stream lasts.
  private var time: (asked: Double, duration: Double)?

  /// - Parameters:
  ///   - selection: What was asked for.
  ///   - index: The frames of the stream; where it is reliable, numbers are known beforehand.
  /// - Throws: `frame-not-found`, as far as that is certain now.
  init(_ selection: FrameSelection, in index: DecodeIndex) throws(Problem) {
    let count = index.frameCount
    switch selection {
    case .all:
      wanted = .all
    case .every(let step):
      wanted = .every(step)
    case .numbers(let ranges):
      wanted = .ranges(ranges)
    case .time(let seconds) where index.timing != nil:
      let number = index.timing.map { $0.number(at: $0.units(seconds)) } ?? 0
      wanted = .ranges([number...number])
      time = (seconds, index.timing.map { $0.seconds($0.end) } ?? 0)
    case .time(let seconds):
      guard let rate = index.frameRate else {
        throw Problem(
          .frameNotFound, "The stream does not say its frame rate, so no time belongs to a frame.",
          parameter: "frames")
      }
      // The exact product may come out a hair too small.
      let frame = seconds * Double(rate.numerator) / Double(rate.denominator) + 1e-6
      let number = frame < 1e15 ? Int(frame) : Int.max
      wanted = .ranges([number...number])
      time = (seconds, Double(count * rate.denominator) / Double(rate.numerator))
    case .last where index.isReliable:
      wanted = .ranges([count - 1...count - 1])
    case .last:
      wanted = .last
    case .keyframes where index.isReliable:
      let numbers = index.entries.indices
        .filter { index.isKeyframe($0) && !index.entries[$0].flags.contains(.hidden) }
        .map(index.number)
      wanted = .ranges(numbers.sorted().map { $0...$0 })
    case .keyframes:
      wanted = .keyframes
    }
    if index.isReliable || (greatest ?? 0) >= count { try check(count: count) }
  }

  /// The stream has `count` frames.
  func check(count: Int) throws(Problem) {
    guard let greatest, greatest >= count else { return }
    let frames = "\(count) \(count == 1 ? "frame" : "frames")"
    let detail =
      if let time {
        "No frame is shown at second \(shortest(time.asked)); the stream has \(frames) and ends at "
          + "second \(shortest((time.duration * 1000).rounded() / 1000))."
      } else {
        "There is no frame \(greatest); the stream has \(frames)."
      }
    throw Problem(
      .frameNotFound, detail, parameter: "frames",
      members: [.init("frame", greatest), .init("frame_count", count)])
  }

  private var greatest: Int? {
    if case .ranges(let ranges) = wanted { ranges.last?.upperBound } else { nil }
  }

  /// Only the frame that comes out last is wanted.
  var isLast: Bool { if case .last = wanted { true } else { false } }

  /// Only keyframes are wanted, whatever their numbers.
  var areKeyframes: Bool { if case .keyframes = wanted { true } else { false } }

  /// The first number from `number` on that is wanted, or may be.
  func first(atOrAfter number: Int) -> Int? {
    switch wanted {
    case .all, .keyframes, .last:
      return number
    case .every(let step):
      return (number + step - 1) / step * step
    case .ranges(let ranges):
      var low = 0
      var high = ranges.count
      while low < high {
        let middle = (low + high) / 2
        if ranges[middle].upperBound < number { low = middle + 1 } else { high = middle }
      }
      return low < ranges.count ? max(number, ranges[low].lowerBound) : nil
    }
  }
}
