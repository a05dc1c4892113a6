import Testing

@testable import NaluService

@Suite struct EncodeRulesTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var query: String
    var code: Problem.Code
    var parameter: String
    var testDescription: String { query }

    init(_ query: String, _ code: Problem.Code, _ parameter: String) {
      self.query = query
      self.code = code
      self.parameter = parameter
    }
  }

  private static let size = "width=320&height=240"

  @Test(
    arguments: [
      Case("bitrate=1M&crf=20", .conflictingParameters, "crf"),
      Case("bitrate=1M&qp=20", .conflictingParameters, "qp"),
      Case("crf=20&qp=20", .conflictingParameters, "qp"),
      Case("bitrate=1M&crf=20&qp=20", .conflictingParameters, "crf"),
      Case("qp=20&maxrate=1M", .conflictingParameters, "maxrate"),
      Case("qp=20&bufsize=1M", .conflictingParameters, "bufsize"),
      Case("bufsize=1M", .missingParameter, "maxrate"),
      Case("crf=20&bufsize=1M", .missingParameter, "maxrate"),
      Case("bitrate=2M&maxrate=1M", .conflictingParameters, "maxrate"),
      Case("maxrate=1M&bufsize=39k", .conflictingParameters, "bufsize"),
      Case("maxrate=1M&fps=1/2", .conflictingParameters, "bufsize"),
      Case("bitrate_changes=5:1M", .missingParameter, "bitrate"),
      Case("bitrate_changes=5:1M&crf=20", .missingParameter, "bitrate"),
      Case("bitrate=1M&maxrate=1M&bitrate_changes=5:1M", .conflictingParameters, "maxrate"),
      Case("bitrate=1M&bufsize=1M&bitrate_changes=5:1M", .conflictingParameters, "bufsize"),
    ])
  func refusesContradictionsOfRateControl(_ wrong: Case) { expectRefusal(wrong) }

  @Test(
    arguments: [
      Case("profile=baseline&bframes=1", .conflictingParameters, "bframes"),
      Case("profile=baseline&entropy=cabac", .conflictingParameters, "entropy"),
      Case("profile=baseline&open_gop=1", .conflictingParameters, "open_gop"),
      Case("profile=baseline&interlaced=tff", .conflictingParameters, "interlaced"),
      Case("profile=baseline&pix_fmt=gray", .conflictingParameters, "profile"),
      Case("profile=main&pix_fmt=nv16", .conflictingParameters, "profile"),
      Case("profile=high&pix_fmt=yuv422p", .conflictingParameters, "profile"),
      Case("profile=high&chroma_format=4:2:2", .conflictingParameters, "profile"),
      Case("profile=high&pix_fmt=p010le", .conflictingParameters, "profile"),
      Case("profile=high10&pix_fmt=yuv422p10le", .conflictingParameters, "profile"),
      Case("profile=high422&pix_fmt=yuv444p", .conflictingParameters, "profile"),
      Case("profile=high&qp=0", .conflictingParameters, "profile"),
      Case("profile=main&crf=0", .conflictingParameters, "profile"),
      Case("profile=high422&crf=0.9", .conflictingParameters, "profile"),
      Case("profile=high10&pix_fmt=yuv420p10le&qp=0", .conflictingParameters, "profile"),
      Case("qp=0&bframes=2", .conflictingParameters, "bframes"),
      Case("qp=0&open_gop=1", .conflictingParameters, "open_gop"),
      Case("crf=0&maxrate=1M", .conflictingParameters, "maxrate"),
      Case("qp=52", .invalidParameter, "qp"),
    ])
  func refusesContradictionsOfProfile(_ wrong: Case) { expectRefusal(wrong) }

  @Test(
    arguments: [
      Case("realtime=1&bframes=1", .conflictingParameters, "bframes"),
      Case("tune=zerolatency&bframes=1", .conflictingParameters, "bframes"),
      Case("realtime=1&open_gop=1", .conflictingParameters, "open_gop"),
      Case("open_gop=1&intra_refresh=1", .conflictingParameters, "open_gop"),
      Case("open_gop=1&bframes=0", .conflictingParameters, "open_gop"),
      Case("open_gop=1&preset=ultrafast", .conflictingParameters, "open_gop"),
      Case("intra_refresh=1&refs=2", .conflictingParameters, "refs"),
      Case("intra_refresh=1&gop=1", .conflictingParameters, "intra_refresh"),
      Case("gop=3&bframes=3", .conflictingParameters, "bframes"),
      Case("gop=1&refs=2", .conflictingParameters, "refs"),
      Case("tune=film,grain", .conflictingParameters, "tune"),
      Case("slices=16", .conflictingParameters, "slices"),
      Case("slices=9&interlaced=tff", .conflictingParameters, "slices"),
      Case("pix_fmt=gray&colorspace=bt709", .conflictingParameters, "colorspace"),
      Case("colorspace=gbr", .conflictingParameters, "colorspace"),
      Case("pix_fmt=rgb24&colorspace=ycgco", .conflictingParameters, "colorspace"),
    ])
  func refusesContradictionsOfStructureAndColour(_ wrong: Case) { expectRefusal(wrong) }

  @Test(
    arguments: [
      ("level=1b", "1.3"), ("level=1.2", "1.3"), ("level=1.3&fps=60", "2.1"),
      ("level=2&refs=9", "2.1"), ("level=3&bitrate=13M", "3.1"), ("level=3.0&maxrate=13M", "3.1"),
      ("level=3&maxrate=10M&bufsize=13M", "3.1"), ("level=2&interlaced=tff", "2.1"),
      ("level=4.2&interlaced=tff", "2.1"), ("level=3&bitrate=1M&bitrate_changes=9:13M", "3.1"),
    ])
  func namesTheLowestLevelThatFits(query: String, lowest: String) throws {
    let problem = refusal("\(Self.size)&\(query)")
    #expect(problem?.code == .conflictingParameters)
    #expect(problem?.parameter == "level")
    let detail = try #require(problem?.detail)
    #expect(detail.hasSuffix("the lowest level that fits is \(lowest)."), "\(detail)")
  }

  @Test(
    arguments: [
      "level=1.3", "level=2", "level=3&bitrate=12500k", "level=2.1&interlaced=bff",
      "profile=high422&pix_fmt=gray",
      "profile=high444&qp=0", "profile=high10&pix_fmt=yuv420p10le&crf=0", "profile=main&bframes=2",
      "bitrate=1M&bufsize=500k", "maxrate=1M", "tune=film,fastdecode,zerolatency", "slices=15",
      "open_gop=1&preset=ultrafast&bframes=1", "pix_fmt=yuv444p&colorspace=gbr",
      "qp=63&pix_fmt=p010le",
    ])
  func takesWhatGoesTogether(query: String) {
    #expect(refusal("\(Self.size)&\(query)") == nil)
  }

  /// Sizes, the rest of the query, and the axis that is refused.
  @Test(
    arguments: [
      ("width=177&height=144", "", "width"), ("width=176&height=145", "", "height"),
      ("width=177&height=145", "&pix_fmt=nv21", "width"),
      ("width=177&height=145", "&pix_fmt=yuv422p", "width"),
      ("width=176&height=145", "&pix_fmt=yuv422p", nil),
      ("width=177&height=145", "&pix_fmt=yuv444p", nil),
      ("width=177&height=145", "&pix_fmt=gray", nil),
      ("width=177&height=145", "&pix_fmt=yuv420p&chroma_format=4:4:4", nil),
      ("width=177&height=144", "&pix_fmt=rgb24", "width"),
      ("width=177&height=145", "&pix_fmt=bgra&chroma_format=4:4:4", nil),
      ("width=176&height=146", "&interlaced=tff", "height"),
      ("width=177&height=145", "&pix_fmt=gray&interlaced=bff", "height"),
    ] as [(String, String, String?)])
  func namesTheAxisThatSubsamplingCannotHalve(size: String, rest: String, axis: String?) {
    let problem = refusal(size + rest)
    #expect(problem?.code == axis.map { _ in .oddDimensions })
    #expect(problem?.parameter == axis)
  }

  @Test(
    arguments: [
      ("width=320", "height"), ("height=240", "width"), ("width=320&pix_fmt=nv12", "height"),
    ])
  func missesTheOtherDimension(query: String, parameter: String) {
    for media in [[1], [UInt8](repeating: 7, count: 5000)] {
      let problem = #expect(throws: Problem.self) { try encode(query, media) }
      #expect(problem?.code == .missingParameter)
      #expect(problem?.parameter == parameter)
    }
  }

  @Test func findsContradictionsBeforeTheSizeIsKnown() {
    #expect(refusal("realtime=1&bframes=1")?.parameter == "bframes")
  }

  private func expectRefusal(_ wrong: Case) {
    let problem = refusal("\(Self.size)&\(wrong.query)")
    #expect(problem?.code == wrong.code)
    #expect(problem?.parameter == wrong.parameter)
    #expect(problem?.detail.isEmpty == false)
  }

  private func refusal(_ query: String) -> Problem? {
    do throws(Problem) {
      _ = try EncodeOperation(.query(query), limits: .init(), spoolDirectory: .test)
      return nil
    } catch {
      return error
    }
  }
}
