/// What a container says of one of its tracks.
package struct ContainerTrack: Equatable, Sendable {
  package enum Kind: String, Sendable {
    case video, audio, subtitle, data
  }

  package struct Edit: Equatable, Sendable {
    /// In units of the movie's time scale.
    package var duration: Int
    /// In units of the track's; -1 for an empty edit.
    package var mediaTime: Int
    /// 16.16 fixed point.
    package var rate: Int
  }

  /// So many samples take so many ticks.
  package struct Measure: Equatable, Sendable {
    package var samples: Int
    package var ticks: Int
    /// Times are rounded to ticks, each for itself.
    package var isRounded = false
  }

  package var id: Int
  package var kind = Kind.data
  /// A short name such as `h264` or `aac`; nil when it is not known.
  package var codec: String?
  /// The container's own name for the codec: `avc1`, `V_MPEG4/ISO/AVC`, `0x1b`.
  package var codecTag: String?
  /// ISO 639 or BCP 47, as the container says.
  package var language: String?
  package var name: String?
  package var isEnabled: Bool?
  /// One tick, in seconds, as a fraction.
  package var timeBase: Fraction?
  /// Ticks.
  package var duration: Int?
  package var sampleCount: Int?
  /// By what its rate is told, where that is not the duration.
  package var measure: Measure?
  /// Samples across and down, as the container says.
  package var width: Int?
  package var height: Int?
  /// The size at which the container wants the pictures shown.
  package var displayWidth: Double?
  package var displayHeight: Double?
  /// The nine numbers a, b, u, c, d, v, x, y, w of ISO/IEC 14496-12 §6.2.2, as they are stored.
  package var matrix: [Int]?
  /// Degrees, clockwise.
  package var rotation: Int?
  package var pixelAspectRatio: Fraction?
  package var sampleRate: Int?
  package var channels: Int?
  /// Ticks for one frame, if the container says so.
  package var defaultDuration: Int?
  package var edits: [Edit]?
  /// Its NAL units are reported.
  package var isReported = false
  /// The first record of the track, and where it is.
  package var configuration: AVCConfigurationRecord?
  package var configurationOffset: Int?

  package init(id: Int) {
    self.id = id
  }

  /// Samples per second, reduced.
  package var averageFrameRate: Fraction? {
    let measure = measure ?? Measure(samples: sampleCount ?? 0, ticks: duration ?? 0)
    guard measure.samples > 0, measure.ticks > 0, let timeBase, timeBase.numerator > 0
    else { return nil }
    let samples = measure.samples.multipliedReportingOverflow(by: timeBase.denominator)
    let ticks = measure.ticks.multipliedReportingOverflow(by: timeBase.numerator)
    guard !samples.overflow, !ticks.overflow else { return nil }
    let exact = Fraction(samples.partialValue, ticks.partialValue).reduced
    guard measure.isRounded else { return exact }
    // Of the usual rates that rounding allows, the nearest.
    let tick = Double(timeBase.numerator) / Double(timeBase.denominator)
    let seconds = Double(measure.ticks) * tick
    func error(_ rate: Fraction) -> Double {
      abs(Double(measure.samples) * Double(rate.denominator) / Double(rate.numerator) - seconds)
    }
    guard let nearest = Self.usualRates.min(by: { error($0) < error($1) }),
      error(nearest) <= 1.5 * tick
    else { return exact }
    return nearest
  }

  private static let usualRates =
    [24, 25, 30, 48, 50, 60, 15, 10, 12, 100, 120].map { Fraction($0, 1) }
    + [24, 30, 48, 60, 120].map { Fraction($0 * 1000, 1001) }

  /// Seconds.
  package var durationSeconds: Double? {
    guard let duration, let timeBase, timeBase.denominator > 0 else { return nil }
    return Double(duration) * Double(timeBase.numerator) / Double(timeBase.denominator)
  }
}

package struct Fraction: Equatable, Sendable {
  package let numerator: Int
  package let denominator: Int

  package init(_ numerator: Int, _ denominator: Int) {
    self.numerator = numerator
    self.denominator = denominator
  }

  /// In lowest terms; both numbers must be positive.
  package var reduced: Fraction {
    var divisor = (numerator, denominator)
    while divisor.1 != 0 { divisor = (divisor.1, divisor.0 % divisor.1) }
    return Fraction(numerator / divisor.0, denominator / divisor.0)
  }
}
