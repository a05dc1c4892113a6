import H264
import Testing

@testable import NaluService

@Suite struct EncodeRateTests {
  private static let frames = 150
  private static let media = movingPictures(96, 96, count: frames, noise: 40)

  /// Sizes of the access units, in bits.
  private func bits(_ query: String) throws -> [Int] {
    let result = try encode(
      "width=96&height=96&fps=25&preset=veryfast&threads=1&\(query)", Self.media)
    return try EncodedStream(result.bytes).accessUnits.map { 8 * $0.size }
  }

  /// For all i ≤ j: bits(i…j) ≤ bufsize + maxrate · (j - i + 1) / fps.
  @Test(
    arguments: [
      ("bitrate=400k&maxrate=400k", 400_000, 400_000),
      ("crf=15&maxrate=300k&bufsize=150k", 300_000, 150_000),
      ("bitrate=300k&maxrate=500k&bufsize=100k", 500_000, 100_000),
      ("bitrate=400k&bufsize=200k&realtime=1", 400_000, 200_000),
      ("maxrate=250k&gop=10&realtime=1", 250_000, 250_000),
    ])
  func neverEmptiesTheBuffer(query: String, maxRate: Int, bufferSize: Int) throws {
    let sizes = try bits(query)
    let share = maxRate / 25
    var largestRun = 0
    var run = 0
    for size in sizes {
      run = max(0, run) + size - share
      largestRun = max(largestRun, run)
    }
    #expect(largestRun <= bufferSize)
    // The bound has something to do: without it there would be more.
    let free = try bits("crf=15").reduce(0, +)
    #expect(sizes.reduce(0, +) < free)
  }

  @Test(arguments: [200_000, 600_000])
  func meetsTheBitrate(bitrate: Int) throws {
    let average = try bits("bitrate=\(bitrate)").reduce(0, +) * 25 / Self.frames
    #expect(abs(average - bitrate) < bitrate / 5)
  }

  @Test(arguments: ["", "&realtime=1"])
  func changesTheBitrateOnTheWay(query: String) throws {
    let sizes = try bits("bitrate=200k&bitrate_changes=100:200k,50:800k\(query)")
    // The last 25 frames of each stretch, as bits per second: the rate has arrived by then.
    let rates = [25..<50, 75..<100, 125..<150].map { sizes[$0].reduce(0, +) }
    #expect(rates[1] > 2 * rates[0])
    #expect(rates[1] > 2 * rates[2])
    #expect(abs(rates[1] - 800_000) < 240_000)
    #expect(abs(rates[2] - 200_000) < 60_000)
  }

  @Test func choosesALevelForTheHighestRateToCome() throws {
    let media = movingPictures(96, 96, count: 3)
    func level(_ query: String) throws -> String? {
      try EncodedStream(encode("width=96&height=96&\(query)", media).bytes)
        .sequenceParameterSets.first?.levelName
    }
    #expect(try level("bitrate=100k&maxrate=100k") == "1b")
    // Level 2.0 allows 2000 * 1250 bit/s in High profile, 2.1 allows 4000 * 1250.
    #expect(try level("bitrate=100k&bitrate_changes=2:3M") == "2.1")
  }

  @Test func codesBetterQualityWithALowerQuantiser() throws {
    let sizes = try ["qp=40", "qp=20", "qp=1"].map { try bits($0).reduce(0, +) }
    #expect(sizes[0] < sizes[1])
    #expect(sizes[1] < sizes[2])
    let byQuality = try ["crf=40", "crf=20"].map { try bits($0).reduce(0, +) }
    #expect(byQuality[0] < byQuality[1])
  }
}
