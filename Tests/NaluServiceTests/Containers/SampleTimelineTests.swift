import Codec
import H264
import Testing

@testable import NaluService

@Suite struct SampleTimelineTests {
  /// An index of frames that have these positions in output order.
  private func index(_ orders: [Int]) -> DecodeIndex {
    var index = DecodeIndex()
    index.entries = orders.map { DecodeIndex.Entry(offset: 0, order: $0, size: 0, flags: []) }
    return index
  }

  private func times(_ timeline: SampleTimeline, count: Int) -> [SampleTiming] {
    (0..<count).map { timeline.timing(of: $0, isKeyframe: false) }
  }

  @Test(arguments: [
    ([0, 1, 2, 3], 0),
    ([0, 2, 1, 4, 3], 1),
    ([0, 3, 1, 2], 1),
    ([0, 4, 2, 1, 3], 2),
    // A closed group of pictures behind an open one.
    ([0, 3, 1, 2, 4, 7, 5, 6], 1),
    // Pictures before the first recovery point.
    ([2, 0, 1, 3], 1),
  ])
  func framesAreShownInOrderAndDecodedBeforeThat(orders: [Int], delay: Int) {
    let timeline = SampleTimeline(index(orders), frameRate: Rational(25))
    let times = times(timeline, count: orders.count)
    #expect(times.map(\.presentation) == orders)
    #expect(times.map(\.decoding) == orders.indices.map { $0 - delay })
    #expect(times.allSatisfy { $0.decoding <= $0.presentation })
    #expect(times.allSatisfy { $0.duration == 1 })
    #expect(timeline.seconds == Double(orders.count) / 25)
  }

  @Test func theRateIsThatOfWhoeverAskedThenOfTheStreamThenTheUsualOne() {
    var stream = index([0])
    #expect(SampleTimeline(stream, frameRate: nil).frameRate == Rational(25))
    #expect(SampleTimeline(stream, frameRate: nil).source == .assumed)
    stream.frameRate = (30000, 1001)
    #expect(SampleTimeline(stream, frameRate: nil).timeBase == Rational(1001, 30000))
    #expect(SampleTimeline(stream, frameRate: nil).source == .stream)
    #expect(SampleTimeline(stream, frameRate: Rational(50)).frameRate == Rational(50))
    #expect(SampleTimeline(stream, frameRate: Rational(50)).source == .given)
  }

  @Test(arguments: [(1001, 1), (1 << 32, 1 << 20), (0, 1)])
  func ratesThatNobodyMeansAreNotBelieved(numerator: Int, denominator: Int) {
    var stream = index([0])
    stream.frameRate = (numerator, denominator)
    #expect(SampleTimeline(stream, frameRate: nil).frameRate == Rational(25))
  }

  @Test func variableTimesStayAsTheContainerHasThem() {
    let timing = FrameTiming(
      timeBase: Rational(1, 1000), starts: [0, 40, 100, 110], lastDuration: 25)
    let timeline = SampleTimeline(index([0, 3, 1, 2]), timing)
    let times = times(timeline, count: 4)
    #expect(times.map(\.presentation) == [0, 110, 40, 100])
    // The last one is over when all of them are, counted from when it is decoded.
    #expect(times.map(\.duration) == [40, 25, 60, 25])
    // Decoded at 0, 40, 100, 110 less the 60 by which the third would be late.
    #expect(times.map(\.decoding) == [-60, -20, 40, 50])
    #expect(times[3].decoding + times[3].duration - times[0].decoding == 135)
    #expect(timeline.frameRate == nil)
  }

  @Test(arguments: [([0, 1, 2], false), ([0, 90, 180], true), ([7], true), ([0, 3000], true)])
  func timesThatAreAllTheSameAreNotBelieved(starts: [Int], isPlausible: Bool) {
    let timing = FrameTiming(timeBase: Rational(1, 90000), starts: starts, lastDuration: 1)
    #expect(timing.isPlausible == isPlausible)
  }

  @Test func framesThatAreNotShownComeBeforeTheOthers() {
    var stream = index([0, 1, 2, 3])
    stream.entries[0].flags = .hidden
    stream.entries[1].flags = .hidden
    let timing = FrameTiming(timeBase: Rational(1, 90000), starts: [0, 3600], lastDuration: 3600)
    let timeline = SampleTimeline(stream, timing)
    #expect(times(timeline, count: 4).map(\.presentation) == [-7200, -3600, 0, 3600])
  }
}
