import H264
import Testing

@testable import NaluService

@Suite struct ParameterTests {
  private static let width = Parameter<Int>("width", .integer(2...100), help: "")
  private static let fps = Parameter<Ratio>(
    "fps", .rate(atMost: 1000), otherNames: ["framerate", "r"], help: "")
  private static let bitrate = Parameter<Int>("bitrate", .bits(1000...1_000_000_000), help: "")
  private static let crf = Parameter<Double>("crf", .number(0...51), help: "")
  private static let aud = Parameter<Bool>("aud", .boolean, help: "")
  private static let sar = Parameter<Ratio>("sar", .aspectRatio, help: "")
  private static let frames = Parameter<[Int]>("frames", .integers(0...1000, limit: 4), help: "")
  private static let size = Parameter<Int>("size", .size, help: "")
  private static let table: [any AnyParameter] = [
    width, fps, bitrate, crf, aud, sar, frames, size,
  ]

  private func read(_ name: String, _ value: String) throws(Problem) -> ParameterValues {
    try ParameterValues([(name, value)], table: Self.table)
  }

  @Test(
    arguments: [
      ("25", 25, 1), ("30000/1001", 30000, 1001), ("23.976", 24000, 1001), ("29.97", 30000, 1001),
      ("59.94", 60000, 1001), ("119.88", 120_000, 1001), ("12.5", 25, 2), ("0.5", 1, 2),
      ("50/2", 25, 1),
    ])
  func readsFrameRates(text: String, numerator: Int, denominator: Int) throws {
    #expect(try read("fps", text)[Self.fps] == Ratio(numerator, denominator))
  }

  @Test(arguments: [("fps", "25.0000001"), ("crf", "20.1234567"), ("bitrate", "1.0000001M")])
  func saysHowManyDecimalsAreRead(name: String, text: String) {
    let problem = #expect(throws: Problem.self) { try read(name, text) }
    #expect(problem?.code == .invalidParameter)
    #expect(problem?.detail.contains("at most six decimals") == true)
  }

  @Test(
    arguments: [
      ("640000", 640_000), ("640k", 640_000), ("2M", 2_000_000), ("2.5M", 2_500_000),
      ("0.8M", 800_000),
    ])
  func readsBitRates(text: String, bits: Int) throws {
    #expect(try read("bitrate", text)[Self.bitrate] == bits)
  }

  @Test(arguments: [("7", 7), ("1k", 1000), ("1Ki", 1024), ("16Gi", 16 << 30), ("3M", 3_000_000)])
  func readsSizes(text: String, bytes: Int) throws {
    #expect(try read("size", text)[Self.size] == bytes)
  }

  @Test func readsTheOtherKinds() throws {
    #expect(try read("crf", "23.5")[Self.crf] == 23.5)
    #expect(try read("aud", "true")[Self.aud] == true)
    #expect(try read("aud", "0")[Self.aud] == false)
    #expect(try read("sar", "4:3")[Self.sar] == Ratio(4, 3))
    #expect(try read("sar", "10/11")[Self.sar] == Ratio(10, 11))
    #expect(try read("frames", "0,5,10")[Self.frames] == [0, 5, 10])
    #expect(try read("frames", "0")[Self.width] == nil)
  }

  @Test(
    arguments: [
      ("width", "1"), ("width", "101"), ("width", ""), ("width", "+5"), ("width", " 5"),
      ("width", "5.0"), ("width", "٥"), ("width", "99999999999999999999"), ("fps", "0"),
      ("fps", "25/0"), ("fps", "25/"), ("fps", "/25"), ("fps", "-25"), ("fps", "1e3"),
      ("fps", "1001"),
      ("bitrate", "999"), ("bitrate", "2G"), ("bitrate", "k"), ("bitrate", "1.0005k"),
      ("crf", "51.1"), ("crf", "nan"), ("crf", "-1"), ("aud", "yes"), ("aud", "TRUE"), ("sar", "4"),
      ("sar", "0:1"), ("sar", "1:65536"), ("frames", "1,,2"), ("frames", "0,1,2,3,4"),
      ("frames", "5,1001"), ("size", "16GiB"), ("size", "9999999999999Gi"), ("size", "-1"),
    ])
  func refusesWhatItCannotRead(name: String, text: String) {
    let problem = #expect(throws: Problem.self) { try read(name, text) }
    #expect(problem?.code == .invalidParameter)
    #expect(problem?.parameter == name)
    #expect(problem?.detail.contains("must be") == true)
  }

  @Test(
    arguments: [
      ("framerate", "fps"), ("r", "fps"), ("widht", "width"), ("Width", "width"), ("with", "width"),
      ("asr", "sar"),
      ("bit_rate", "bitrate"),
    ])
  func namesTheNearestParameter(name: String, meant: String) {
    let problem = #expect(throws: Problem.self) { try read(name, "1") }
    #expect(problem?.code == .unknownParameter)
    #expect(problem?.detail.hasSuffix("Did you mean \(meant)?") == true)
  }

  @Test func listsWhatThereIsWhenNothingIsNear() {
    let problem = #expect(throws: Problem.self) { try read("colour_of_the_sky", "1") }
    #expect(problem?.detail.contains("Known are: width, fps") == true)
  }

  @Test func refusesARepeatedParameter() {
    let problem = #expect(throws: Problem.self) {
      try ParameterValues([("width", "5"), ("width", "5")], table: Self.table)
    }
    #expect(problem?.code == .invalidParameter)
    #expect(problem?.detail == "width is given more than once.")
  }
}
