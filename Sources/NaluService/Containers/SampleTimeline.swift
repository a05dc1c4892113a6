internal import Codec
internal import H264

extension FrameTiming {
  /// Not all frames are shown at once, as some muxer says.
  var isPlausible: Bool {
    guard starts.count > 1, let first = starts.first, let last = starts.last else { return true }
    let seconds = Double(last - first) * timeBase.doubleValue
    return seconds >= Double(starts.count - 1) / Double(SampleTimeline.highestRate)
  }
}

/// When each frame of a scanned stream is decoded and shown, for a container that wants to know.
///
/// A frame is shown at its place in output order, and decoded at its place in decoding order; the
/// clock of decoding starts so much earlier that no frame is shown before it is decoded.
struct SampleTimeline: Sendable {
  /// Where the times come from.
  enum Source: Equatable, Sendable {
    /// The container, or whoever asked.
    case given
    /// time_scale and num_units_in_tick.
    case stream
    /// Nothing says it: `usualRate`.
    case assumed
  }

  /// Seconds per unit.
  let timeBase: Rational
  /// Frames per second; nil when that varies.
  let frameRate: Rational?
  let source: Source
  /// When the frame at each position of output order is shown; nil: at its position.
  private let starts: [Int]?
  /// By the frame's place in decoding order: its position in output order.
  private let positions: [Int]
  private let end: Int
  /// How much earlier the clock of decoding starts.
  private let delay: Int

  static let usualRate = Rational(25)
  /// Frames per second that are believed.
  static let highestRate = 1000

  /// The times of a stream that has none of its own.
  ///
  /// - Parameters:
  ///   - index: Its frames, arranged.
  ///   - frameRate: Frames per second; nil: what the stream says.
  init(_ index: DecodeIndex, frameRate: Rational?) {
    let (rate, source) = Self.rate(index, frameRate)
    self.source = source
    self.frameRate = rate
    timeBase = Rational(rate.denominator, rate.numerator)
    starts = nil
    positions = index.entries.map(\.order)
    end = positions.count
    delay = Self.delay(positions, starts: nil)
  }

  private static func rate(_ index: DecodeIndex, _ given: Rational?) -> (Rational, Source) {
    if let given { return (given, .given) }
    return statedRate(index).map { ($0, .stream) } ?? (usualRate, .assumed)
  }

  /// The frame rate that the stream or its container says, if it can be one.
  static func statedRate(_ index: DecodeIndex) -> Rational? {
    guard let rate = index.frameRate,
      rate.numerator <= Int(Int32.max), rate.denominator <= Int(Int32.max),
      rate.numerator <= highestRate * rate.denominator, rate.numerator > 0
    else { return nil }
    return Rational(rate.numerator, rate.denominator)
  }

  /// The times of frames of a container, of which some may not be shown.
  init(_ index: DecodeIndex, _ timing: FrameTiming) {
    source = .given
    let starts = Self.allStarts(index, timing)
    positions = index.entries.map(\.order)
    if let rate = Self.constantRate(index, timing, starts) {
      frameRate = rate
      timeBase = Rational(rate.denominator, rate.numerator)
      self.starts = nil
      end = starts.count
    } else {
      frameRate = nil
      timeBase = timing.timeBase
      self.starts = starts
      end = (starts.last ?? 0) + max(1, timing.lastDuration)
    }
    delay = Self.delay(positions, starts: self.starts)
  }

  /// Times of all positions of output order: frames that are not shown have some too, before the
  /// first or between others.
  private static func allStarts(_ index: DecodeIndex, _ timing: FrameTiming) -> [Int] {
    let count = index.entries.count
    var isHidden = [Bool](repeating: false, count: count)
    for entry in index.entries where entry.flags.contains(.hidden) { isHidden[entry.order] = true }
    let known = timing.starts
    let gap = known.count > 1 ? known[1] - known[0] : timing.lastDuration
    let step = max(1, min(DecodeIndex.longestStep, gap))
    let first = isHidden.firstIndex(of: false) ?? count
    var starts: [Int] = []
    starts.reserveCapacity(count)
    var number = 0
    for position in 0..<count {
      if position < first {
        starts.append((known.first ?? 0) - (first - position) * step)
        continue
      }
      var start = (starts.last ?? 0) + (position == 0 ? 0 : step)
      if !isHidden[position], number < known.count {
        start = known[number]
        number += 1
      }
      if let last = starts.last, start <= last { start = last + 1 }
      starts.append(start)
    }
    return starts
  }

  /// The frame rate that the stream says, if the container's times are those, rounded to its units.
  private static func constantRate(
    _ index: DecodeIndex, _ timing: FrameTiming, _ starts: [Int]
  ) -> Rational? {
    guard let rate = index.sequence?.frameRate, starts.first == 0, starts.count > 1,
      rate.numerator <= Int(Int32.max), rate.denominator <= Int(Int32.max),
      rate.numerator <= highestRate * rate.denominator
    else { return nil }
    let perFrame =
      Double(rate.denominator) / Double(rate.numerator) / timing.timeBase.doubleValue
    for (position, start) in starts.enumerated() {
      let exact = Double(position) * perFrame
      guard abs(Double(start) - exact) <= 1 else { return nil }
    }
    return Rational(rate.numerator, rate.denominator)
  }

  /// The most by which a frame would be decoded after it is shown.
  private static func delay(_ positions: [Int], starts: [Int]?) -> Int {
    var delay = 0
    for (place, position) in positions.enumerated() {
      let late = starts.map { $0[place] - $0[position] } ?? (place - position)
      delay = max(delay, late)
    }
    return delay
  }

  /// Units from the first frame that is shown, or before it, to the end of the last.
  var seconds: Double { Double(end) * timeBase.doubleValue }

  /// The times of the frame at that place of decoding order.
  func timing(of place: Int, isKeyframe: Bool) -> SampleTiming {
    let position = positions[place]
    guard let starts else {
      return SampleTiming(
        presentation: position, decoding: place - delay, duration: 1, isKeyframe: isKeyframe)
    }
    // Where durations count from one sample to the next, the last one ends with everything.
    if place + 1 == positions.count {
      return SampleTiming(
        presentation: starts[position], decoding: starts[place] - delay,
        duration: end - starts[place], isKeyframe: isKeyframe)
    }
    let next = position + 1 < starts.count ? starts[position + 1] : end
    return SampleTiming(
      presentation: starts[position], decoding: starts[place] - delay,
      duration: next - starts[position], isKeyframe: isKeyframe)
  }
}
