import Codec
import H264
import Platform
import Testing

@testable import NaluService

@Suite struct Y4MTests {
  private func header(_ line: String) throws(Problem) -> RawVideo {
    try Y4MHeader([UInt8](line.utf8)).video
  }

  @Test func readsEveryTag() throws {
    let video = try header(
      "YUV4MPEG2 W176 H144 F30000:1001 It A128:117 C420mpeg2 XYSCSS=420MPEG2 XCOLORRANGE=FULL")
    #expect((video.width, video.height) == (176, 144))
    #expect(video.pixelFormat == .yuv420p)
    #expect(video.frameRate == Rational(30000, 1001))
    #expect(video.interlacing == .tff)
    #expect(video.sampleAspectRatio == Rational(128, 117))
    #expect(video.colorRange == .pc)
    #expect(video.chromaLocation == .left)
  }

  @Test func takesWhatIsNotSaidAsUnknown() throws {
    for line in ["YUV4MPEG2 W4 H2", "YUV4MPEG2 H2 W4 F0:0 A0:0 I? Xnonsense Z1"] {
      let video = try header(line)
      #expect((video.width, video.height) == (4, 2))
      #expect(video.pixelFormat == .yuv420p)
      #expect(video.frameRate == nil)
      #expect(video.interlacing == nil)
      #expect(video.sampleAspectRatio == nil)
      #expect(video.colorRange == nil)
    }
  }

  @Test(
    arguments: [
      ("420", .yuv420p, .center), ("420jpeg", .yuv420p, .center), ("420mpeg2", .yuv420p, .left),
      ("420paldv", .yuv420p, .topLeft), ("422", .yuv422p, nil), ("444", .yuv444p, nil),
      ("mono", .gray, nil), ("mono10", .gray10le, nil), ("420p9", .yuv420p9le, nil),
      ("420p10", .yuv420p10le, nil), ("422p10", .yuv422p10le, nil), ("444p10", .yuv444p10le, nil),
      ("420p12", .yuv420p12le, nil), ("422p14", .yuv422p14le, nil), ("444p12", .yuv444p12le, nil),
    ] as [(String, PixelFormat, ChromaLocation?)])
  func knowsTheSampleLayouts(tag: String, format: PixelFormat, location: ChromaLocation?) throws {
    let video = try header("YUV4MPEG2 W4 H2 C\(tag)")
    #expect(video.pixelFormat == format)
    #expect(video.chromaLocation == location)
  }

  @Test(
    arguments: [
      ("W4", .unrecognisedInput), ("W4 H0", .unrecognisedInput), ("W4 H-2", .unrecognisedInput),
      ("W4 H2000001", .unrecognisedInput), ("W4 Hx", .unrecognisedInput),
      ("W4 H2 F25", .unrecognisedInput), ("W4 H2 F25:0", .unrecognisedInput),
      ("W4 H2 F0:1", .unrecognisedInput), ("W4 H2 F99999999999:1", .unrecognisedInput),
      ("W4 H2 A1:99999", .unrecognisedInput), ("W4 H2 Ix", .unrecognisedInput),
      ("W4 H2 Im", .unsupportedFeature), ("W4 H2 C411", .unsupportedFeature),
      ("W4 H2 C444alpha", .unsupportedFeature), ("W4 H2 C420p16", .unsupportedFeature),
      ("W4 H2 C420p8", .unsupportedFeature), ("W4 H2 Cmono12", .unsupportedFeature),
    ] as [(String, Problem.Code)])
  func saysWhatIsWrongWithAHeader(tags: String, code: Problem.Code) {
    let problem = #expect(throws: Problem.self) { try header("YUV4MPEG2 \(tags)") }
    #expect(problem?.code == code)
    #expect(problem?.detail.contains("Y4M") == true)
  }

  // MARK: Encoding Y4M

  private static let frame = Array(movingPictures(16, 8, count: 1))
  private static let header = [UInt8]("YUV4MPEG2 W16 H8 F50:1 Ip A4:3 C420jpeg\n".utf8)
  private static func frames(_ count: Int, _ line: String = "FRAME\n") -> [UInt8] {
    header + (0..<count).flatMap { _ in Array(line.utf8) + frame }
  }

  @Test(arguments: [[1], [5, 70], [198], [4096], []])
  func encodesTheSameAsHeaderlessVideo(blockSizes: [Int]) throws {
    let media = Self.frame + Self.frame + Self.frame
    let expected = try encode("width=16&height=8&fps=50&sar=4:3", media).bytes
    let result = try encode("", Self.frames(3), blockSizes: blockSizes)
    #expect(result.counters.framesIn == 3)
    let stream = try EncodedStream(result.bytes)
    let plain = try EncodedStream(expected)
    #expect(
      stream.accessUnits.last?.units.map(\.bytes) == plain.accessUnits.last?.units.map(\.bytes))
    #expect(
      stream.sequenceParameterSets.first?.vui?.timing
        == plain.sequenceParameterSets.first?.vui?.timing)
    #expect(stream.sequenceParameterSets.first?.vui?.chromaSampleLocTypeTopField == 1)
    #expect(
      stream.sequenceParameterSets.first?.vui?.sampleAspectRatio
        == plain.sequenceParameterSets.first?.vui?.sampleAspectRatio)
  }

  @Test func asksForBlocksThatEndWithAFrame() throws {
    var operation = try EncodeOperation(
      .query("realtime=1"), limits: .init(), spoolDirectory: .test)
    var output = Output()
    var media = Self.frames(3)[...]
    var sizes: [Int] = []
    while !media.isEmpty {
      let size = operation.blockSize
      try operation.push(Block(Array(media.prefix(size))))
      media = media.dropFirst(size)
      while try operation.step(into: &output) == .again {}
      sizes.append(output.counters.framesOut)
    }
    // The header takes one block; then each block completes a frame and yields it at once.
    #expect(sizes == [0, 1, 2, 3])
  }

  @Test func ignoresParametersOfFrames() throws {
    let result = try encode("", Self.frames(2, "FRAME Ip Xanything\n"))
    #expect(result.counters.framesOut == 2)
  }

  @Test(arguments: [
    "width=16&height=8", "width=2&height=1&pix_fmt=gray", "width=1&height=1&pix_fmt=yuv444p",
  ])
  func conflictsWithAGivenSize(query: String) {
    let problem = #expect(throws: Problem.self) { try encode(query, Self.frames(1)) }
    #expect(problem?.code == .conflictingParameters)
    #expect(problem?.parameter == "width")
  }

  @Test(arguments: ["width=16", "height=8", "width=99"])
  func conflictsWithHalfAGivenSize(query: String) {
    for blockSizes in [[], [1]] {
      let problem = #expect(throws: Problem.self) {
        try encode(query, Self.frames(1), blockSizes: blockSizes)
      }
      #expect(problem?.code == .conflictingParameters)
      #expect(problem.map { query.hasPrefix($0.parameter ?? "?") } == true)
    }
  }

  @Test(arguments: ["fps=25", "pix_fmt=yuv420p", "sar=1:1", "interlaced=no"])
  func conflictsWithWhatTheHeaderSays(query: String) {
    let problem = #expect(throws: Problem.self) { try encode(query, Self.frames(1)) }
    #expect(problem?.code == .conflictingParameters)
    #expect(problem.map { query.hasPrefix($0.parameter ?? "?") } == true)
  }

  /// What the header leaves open is unknown, and not a parameter's to say.
  @Test(arguments: ["fps=10", "sar=2:1", "interlaced=tff", "interlaced=no"])
  func conflictsWithWhatTheHeaderLeavesOpen(query: String) {
    let media = [UInt8]("YUV4MPEG2 W16 H8\nFRAME\n".utf8) + Self.frame
    let problem = #expect(throws: Problem.self) { try encode(query, media) }
    #expect(problem?.code == .conflictingParameters)
    #expect(problem.map { query.hasPrefix($0.parameter ?? "?") } == true)
  }

  /// Where the stream of two frames is cut, and what is left over.
  @Test(
    arguments: [
      (20, .partialFrame, 20), (9, .partialFrame, 9), (40, .emptyBody, nil),
      (43, .partialFrame, 3), (46, .partialFrame, 0), (47, .partialFrame, 1),
      (237, .partialFrame, 191), (240, .partialFrame, 2), (244, .partialFrame, 0),
    ] as [(Int, Problem.Code, Int?)])
  func saysWhatIsMissingWhereTheStreamIsCut(length: Int, code: Problem.Code, remainder: Int?) {
    let media = Array(Self.frames(2).prefix(length))
    let problem = #expect(throws: Problem.self) { try encode("", media) }
    #expect(problem?.code == code)
    let found = problem?.members.first { $0.name == "remainder" }
    #expect(found == remainder.map { .init("remainder", $0) })
  }

  @Test(arguments: ["YUV4MPEG3 W16 H8\n", "hello", "\n", "RIFF....AVI "])
  func missesTheSizeOfWhatIsNotY4M(text: String) {
    let problem = #expect(throws: Problem.self) { try encode("", [UInt8](text.utf8)) }
    #expect(problem?.code == .missingParameter)
    #expect(problem?.parameter == "width")
  }

  @Test func refusesWhatIsNoFrame() {
    let media = Self.frames(1) + [UInt8]("FRAMES\n".utf8) + Self.frame
    let problem = #expect(throws: Problem.self) { try encode("", media) }
    #expect(problem?.code == .unrecognisedInput)
    #expect(problem?.members == [.init("frame", 1)])
  }

  @Test func refusesEndlessHeaderLines() {
    let long = [UInt8](repeating: UInt8(ascii: "x"), count: 2000)
    for media in [Y4MHeader.magic + long, Self.header + [UInt8]("FRAME ".utf8) + long] {
      let problem = #expect(throws: Problem.self) { try encode("", media) }
      #expect(problem?.code == .unrecognisedInput)
    }
  }
}
