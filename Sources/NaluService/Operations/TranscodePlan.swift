internal import Codec

/// Which frames of the input are encoded, and when they are shown.
struct TranscodePlan: Sendable {
  let timing: FrameTiming
  let pace: FramePacer.Pace
  /// Frames per second of the encoder: exact where they are constant, else the average.
  let frameRate: Rational
  /// Numbers of the frames.
  let numbers: ClosedRange<Int>
  /// What becomes 0, in units of the timing.
  let origin: Int
  /// When the last frame ends, in units of the timing.
  let end: Int
  /// No rate is asked for.
  private let keepsFrames: Bool

  init(_ index: DecodeIndex, _ settings: TranscodeSettings) throws(Problem) {
    let stated = SampleTimeline.statedRate(index)
    // A stream without any times has the rate that is asked for.
    let timing =
      index.timing
      ?? FrameTiming(
        constant: stated ?? settings.frameRate ?? Rational(25), count: index.frameCount)
    let first = settings.start.map { timing.ceilUnits($0) } ?? .min
    let numbersFrom = timing.firstNumber(notBefore: first)
    // As ffmpeg: from the first frame that is kept on.
    let begin = numbersFrom < timing.starts.count ? timing.starts[numbersFrom] : 0
    let last = settings.duration.map { begin + timing.ceilUnits($0) } ?? .max
    let numbersTo = timing.firstNumber(notBefore: last)
    guard numbersFrom < numbersTo else {
      let name = settings.start != nil ? "start" : "duration"
      throw Problem(
        .frameNotFound,
        "No frame begins in that part of the stream, which has \(timing.starts.count) frames and ends "
          + "at \(timing.seconds(timing.end)) seconds.",
        parameter: name, members: [.init("frame_count", timing.starts.count)])
    }
    self.timing = timing
    numbers = numbersFrom...numbersTo - 1
    origin = settings.start.map { $0 > 0 } == true ? timing.starts[numbersFrom] : 0
    end = min(numbersTo < timing.starts.count ? timing.starts[numbersTo] : timing.end, last)
    keepsFrames = settings.frameRate == nil
    if let rate = settings.frameRate {
      pace = .constant(rate)
      frameRate = rate
    } else if let rate = timing.constantRate(stated) {
      pace = .constant(rate)
      frameRate = rate
    } else {
      pace = .variable(timing.timeBase)
      frameRate = timing.averageRate
    }
    guard max(ticks(ofFrame: numbers.lowerBound).magnitude, endTicks.magnitude) < 1 << 48 else {
      throw Problem(
        .unsupportedFeature, "The times in the container are longer than any recording.")
    }
  }

  /// When frame `number` is shown, in ticks of the pace.
  func ticks(ofFrame number: Int) -> Int { ticks(timing.starts[number]) }

  /// When everything ends, in ticks of the pace.
  var endTicks: Int {
    // As many frames come out as go in.
    if case .constant = pace, keepsFrames { return ticks(ofFrame: numbers.upperBound) + 1 }
    return ticks(end)
  }

  /// Seconds of a tick.
  var tick: Double {
    switch pace {
    case .constant(let rate): 1 / rate.doubleValue
    case .variable(let base): base.doubleValue
    }
  }

  private func ticks(_ time: Int) -> Int {
    guard case .constant(let rate) = pace else { return time - origin }
    guard keepsFrames else { return timing.timeBase.rescale(time - origin, toRate: rate) }
    let first = timing.starts[numbers.lowerBound]
    return timing.timeBase.rescale(time - first, toRate: rate) + lead
  }

  /// Ticks before the first frame, where all frames are kept at a constant rate.
  private var lead: Int { Int((leadSeconds / tick - 1e-6).rounded(.up)) }

  private var leadSeconds: Double {
    let units = timing.starts[numbers.lowerBound] - origin
    return min(max(0, Double(units) * timing.timeBase.doubleValue), 1e6)
  }

  /// Seconds by which pictures come later than they did, because they begin at whole ticks: the
  /// sound must too.
  var delay: Double {
    guard case .constant = pace, keepsFrames else { return 0 }
    return Double(lead) * tick - leadSeconds
  }
}

extension FrameTiming {
  /// `count` frames at a constant rate.
  init(constant rate: Rational, count: Int) {
    self.init(
      timeBase: Rational(rate.denominator, rate.numerator), starts: Array(0..<count),
      lastDuration: 1)
  }

  func seconds(_ units: Int) -> Double {
    let milliseconds = (Double(units) * timeBase.doubleValue * 1000).rounded()
    return milliseconds / 1000
  }

  /// `seconds` in units, rounded up, whatever a decimal fraction is too much.
  func ceilUnits(_ seconds: Double) -> Int {
    let units = (seconds / timeBase.doubleValue - 1e-6).rounded(.up)
    return units < 1e15 ? Int(units) : .max >> 1
  }

  /// The first frame that begins at `time` or later; the number of frames when there is none.
  func firstNumber(notBefore time: Int) -> Int {
    var low = 0
    var high = starts.count
    while low < high {
      let middle = (low + high) / 2
      if starts[middle] < time { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Frames per second, if they are the same all the way; `stated` by the stream, or usual.
  func constantRate(_ stated: Rational?) -> Rational? {
    guard starts.count > 1 else { return stated ?? Rational(25) }
    let candidates = [stated].compactMap(\.self) + [exactRate].compactMap(\.self) + Self.usualRates
    return candidates.first(where: isConstant)
  }

  /// All frames are where they would be at that rate, but for the rounding of their times.
  private func isConstant(_ rate: Rational) -> Bool {
    guard rate.numerator > 0, rate.doubleValue <= 1000 else { return false }
    let step = 1 / (rate.doubleValue * timeBase.doubleValue)
    for (number, start) in starts.enumerated() {
      let expected = Double(starts[0]) + Double(number) * step
      if abs(Double(start) - expected) > 1.001 { return false }
    }
    return true
  }

  /// The rate by the distance of the first two frames.
  private var exactRate: Rational? {
    let step = starts[1] - starts[0]
    let (divisor, overflows) = timeBase.numerator.multipliedReportingOverflow(by: step)
    guard !overflows, divisor > 0, divisor < 1 << 31 else { return nil }
    return Rational(timeBase.denominator, divisor).reduced
  }

  private static let usualRates: [Rational] =
    [24, 25, 30, 48, 50, 60, 100, 120].map { Rational($0) }
    + [24, 30, 48, 60, 120].map { Rational($0 * 1000, 1001) } + [10, 12, 15].map { Rational($0) }

  /// Frames per second on average, in thousandths.
  var averageRate: Rational {
    let seconds = Double(end - (starts.first ?? 0)) * timeBase.doubleValue
    let rate = seconds > 0 ? Double(starts.count) / seconds : 25
    return Rational(Int((min(max(rate, 0.001), 1000) * 1000).rounded()), 1000).reduced
  }
}

extension Rational {
  /// `time` in units of this time base as a number of frames, rounded to the nearest, halves away
  /// from 0.
  fileprivate func rescale(_ time: Int, toRate rate: Rational) -> Int {
    let dividend = Int128(time) * Int128(numerator) * Int128(rate.numerator)
    let divisor = Int128(denominator) * Int128(rate.denominator)
    let doubled = 2 * dividend.magnitude + divisor.magnitude
    let quotient = Int(min(doubled / (2 * divisor.magnitude), 1 << 60))
    return dividend < 0 ? -quotient : quotient
  }
}
