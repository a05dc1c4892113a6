import Codec
import H264
import Testing

@testable import NaluService

/// Clocks whose unit is a whole frame, or nearly.
@Suite struct CoarseClockTests {
  private func index(_ starts: [Int], _ base: Rational, rate: String = "25") throws -> DecodeIndex {
    let stream = try encode(
      "width=64&height=48&fps=\(rate)&preset=ultrafast", movingPictures(64, 48, count: 1))
    var index = DecodeIndex()
    index.sequence = try EncodedStream(stream.bytes).sequenceParameterSets[0]
    index.frameRate = index.sequence?.frameRate.map { ($0.numerator, $0.denominator) }
    index.entries = starts.indices.map { .init(offset: 0, order: $0, size: 0, flags: []) }
    index.timing = FrameTiming(timeBase: base, starts: starts, lastDuration: 1)
    return index
  }

  /// Frame 10 is missing.
  private static let gap = Array(0..<10) + Array(11..<31)

  @Test func aGapOfOneUnitStaysOneInARemux() throws {
    let index = try index(Self.gap, Rational(1, 25))
    let timeline = SampleTimeline(index, try #require(index.timing))
    let starts = index.entries.indices.map {
      timeline.timing(of: $0, isKeyframe: false).presentation
    }
    #expect(starts == Self.gap)
    #expect(timeline.timeBase == Rational(1, 25))
  }

  @Test func aGapOfOneUnitStaysOneInATranscode() throws {
    let plan = try TranscodePlan(index(Self.gap, Rational(1, 25)), TranscodeSettings())
    #expect(plan.pace == .variable(Rational(1, 25)))
    #expect((0..<30).map { plan.ticks(ofFrame: $0) } == Self.gap)
  }

  @Test(arguments: [("25", 25, 1, 1000), ("30000/1001", 30_000, 1001, 1000), ("120", 120, 1, 1000)])
  func roundingToMillisecondsIsStillARate(
    text: String, numerator: Int, denominator: Int, units: Int
  ) throws {
    let starts = (0..<300).map { $0 * units * denominator / numerator }
    let index = try index(starts, Rational(1, units), rate: text)
    let timeline = SampleTimeline(index, try #require(index.timing))
    #expect(timeline.frameRate == Rational(numerator, denominator))
    let plan = try TranscodePlan(index, TranscodeSettings())
    #expect(plan.pace == .constant(Rational(numerator, denominator)))
  }
}
