import Platform
import Testing

@testable import NaluService

/// Runs the whole operation over `media`, and `sound` as the part audio.
func remux(
  _ query: String, _ media: [UInt8], sound: [UInt8] = [], limits: Limits = .init(),
  spoolDirectory: SpoolDirectory = .test, file: StoredFile? = nil
) throws(Problem) -> EncodeResult {
  let pairs = query.split(separator: "&").map { pair in
    let parts = pair.split(separator: "=", maxSplits: 1)
    return (name: String(parts[0]), value: String(parts[1]))
  }
  let values = try ParameterValues(pairs, table: RemuxParameters.all)
  var operation = RemuxOperation(
    try RemuxSettings(values), limits: limits, spoolDirectory: spoolDirectory, file: file)
  if !sound.isEmpty { try operation.pushSecond(Block(sound)) }
  var result = EncodeResult()
  var output = Output()
  var position = 0
  var step = Step.needsInput
  while step != .finished {
    if step == .needsInput {
      let end = min(position + operation.blockSize, media.count)
      if position < end {
        try operation.push(Block(Array(media[position..<end])))
        position = end
      } else {
        try operation.endOfInput()
      }
    }
    step = try operation.step(into: &output)
  }
  result.bytes = output.bytes
  result.answer = output.answer
  result.counters = output.counters
  return result
}

@Suite struct RemuxTests {
  private static let settings = "width=64&height=48&fps=25&gop=40&preset=fast&bframes=3"

  /// A hundred frames with B-frames.
  private static let stream = Result {
    try encode(settings, movingPictures(64, 48, count: 100)).bytes
  }

  private func frames(_ bytes: [UInt8]) throws -> [UInt8] {
    try decode(bytes, decodeSettings(["format": "framemd5"])).bytes
  }

  @Test func aHundredFramesWithBFramesLastExactlyFourSeconds() throws {
    let result = try remux("format=mp4", try Self.stream.get())
    let root = BoxTree(result.bytes)
    let table = SampleTable(try #require(root["moov/trak"]))
    #expect(table.sizes.count == 100)
    let tick = table.timescale / 25
    #expect(table.presentations.sorted() == (0..<100).map { $0 * tick })
    #expect(table.presentations[0] == 0)
    #expect(table.presentations != table.presentations.sorted())
    #expect(table.edits.first?.duration == 4 * table.timescale)
    #expect(root["moov/mvhd"]?.number(16) == 4 * table.timescale)
    #expect(result.header("Nalu-Frames-Out") == "100")
    #expect(result.header("Nalu-Note") == nil)
  }

  @Test(arguments: OutputFormat.allCases, OutputFormat.allCases)
  func framesAreTheSameThroughAnyTwoFormats(first: OutputFormat, second: OutputFormat) throws {
    let stream = try Self.stream.get()
    let once = try remux("format=\(first.rawValue)", stream).bytes
    let twice = try remux("format=\(second.rawValue)", once).bytes
    #expect(try frames(twice) == frames(stream))
    if second == .h264 {
      // The same NAL units in the same order.
      let units = try EncodedStream(twice).accessUnits.flatMap(\.units).map(\.bytes)
      let original = try EncodedStream(stream).accessUnits.flatMap(\.units).map(\.bytes)
      #expect(units.filter { $0[0] & 31 != 9 } == original)
    }
  }

  @Test func aStreamWithoutARateGetsOneThatIsSaid() throws {
    let stream = PCMStream()
    let bytes =
      stream.parameterSets
      + (0..<3).flatMap { stream.flat(.idr(id: $0 % 2), value: 100) }
    let result = try remux("format=mp4", bytes)
    let table = SampleTable(try #require(BoxTree(result.bytes)["moov/trak"]))
    #expect(table.durations == Array(repeating: table.timescale / 25, count: 3))
    #expect(result.header("Nalu-Note")?.contains("25") == true)
    let given = try remux("format=mp4&fps=10", bytes)
    let other = SampleTable(try #require(BoxTree(given.bytes)["moov/trak"]))
    #expect(other.durations == Array(repeating: other.timescale / 10, count: 3))
    #expect(given.header("Nalu-Note") == nil)
  }

  @Test func fpsContradictsAContainer() throws {
    let file = try remux("format=mp4", try Self.stream.get()).bytes
    let problem = #expect(throws: Problem.self) { try remux("format=mkv&fps=30", file) }
    #expect(problem?.code == .conflictingParameters)
    #expect(problem?.parameter == "fps")
  }

  @Test(arguments: [OutputFormat.mp4, .fmp4, .flv, .mpegts, .mkv])
  func soundGoesAlongAndComesBack(format: OutputFormat) throws {
    let stream = try Self.stream.get()
    // Silence of AAC LC in stereo.
    let frame: [UInt8] = [0x21, 0x10, 0x04, 0x60, 0x8C, 0x1C]
    let sound = adts(Array(repeating: frame, count: 187))
    let first = try remux("format=\(format.rawValue)", stream, sound: sound).bytes
    #expect(try frames(first) == frames(stream))
    // What was put in is still there in another container.
    let second = try remux("format=mp4", first)
    let tracks = BoxTree(second.bytes)["moov"]?.children.filter { $0.type == "trak" } ?? []
    #expect(tracks.count == 2)
    let table = SampleTable(try #require(tracks.last))
    #expect(table.sizes == Array(repeating: frame.count, count: 187))
    let silent = try remux("format=mp4&audio=none", first)
    #expect(BoxTree(silent.bytes)["moov"]?.children.count { $0.type == "trak" } == 1)
    #expect(second.header("Nalu-Note") == nil)
  }

  @Test func bareStreamsHaveNoRoomForSound() throws {
    let stream = try Self.stream.get()
    let problem = #expect(throws: Problem.self) {
      try remux("format=h264", stream, sound: adts([[1]]))
    }
    #expect(problem?.status == 400)
    let file = try remux("format=mp4", stream, sound: adts([[0x21, 0x10, 0x04]])).bytes
    let bare = try remux("format=h264", file)
    #expect(bare.header("Nalu-Note")?.contains("sound") == true)
  }

  @Test func parameterSetsThatChangeStayInTheSamples() throws {
    let small = try encode("width=64&height=48&qp=20", movingPictures(64, 48, count: 3)).bytes
    let large = try encode("width=96&height=64&qp=20", movingPictures(96, 64, count: 3)).bytes
    let result = try remux("format=mp4", small + large)
    let entry = try #require(BoxTree(result.bytes)["moov/trak/mdia/minf/stbl/stsd"])
    #expect(entry.contains("avc3"))
    let back = try remux("format=h264", result.bytes).bytes
    #expect(try frames(back) == frames(small + large))
  }

  @Test func lengthsAndParameterSetsComeByParameter() throws {
    let stream = try Self.stream.get()
    let file = try remux("format=mp4", stream).bytes
    let entry = try #require(BoxTree(file)["moov/trak/mdia/minf/stbl/stsd"])
    let start = try #require(entry.range(of: "avcC"))
    let size = entry.number(start - 8) - 8
    let record = (0..<size).map { UInt8(entry.number(start + $0, 1)) }
    // The samples of the file, without the parameter sets that the record has.
    let data = try #require(BoxTree(file)["mdat"])
    let samples = Array(file[data.content])
    let back = try remux("format=h264&avcc=\(base64(record))", samples).bytes
    #expect(try frames(back) == frames(stream))
    let problem = #expect(throws: Problem.self) {
      try remux("format=h264&nal_length_size=4", file)
    }
    #expect(problem?.code == .conflictingParameters)
  }

  /// What cannot be decoded here can be moved all the same.
  @Test func picturesWithTheirSlicesInAnyOrderStayApart() throws {
    var stream = PCMStream(profile: 66)
    stream.widthInMbs = 2
    let pictures = (0..<3).flatMap { number in
      stream.picture(.idr(id: number % 2), firstMbs: [1, 0]) { _, _, _ in 100 }
    }
    let result = try remux("format=mp4&fps=25", stream.parameterSets + pictures)
    #expect(result.header("Nalu-Frames-Out") == "3")
    #expect(throws: Problem.self) { try decode(stream.parameterSets + pictures) }
  }

  @Test func formatIsRequired() {
    let problem = #expect(throws: Problem.self) { try remux("audio=copy", [0, 0, 1]) }
    #expect(problem?.code == .missingParameter)
  }

  @Test func whatHasNoRoomOnDiskIsRefused() throws {
    let noise = movingPictures(320, 240, count: 40, noise: 200)
    let stream = try encode("width=320&height=240&qp=1&preset=ultrafast", noise).bytes
    #expect(stream.count > 4 << 20)
    let problem = #expect(throws: Problem.self) {
      try remux("format=mp4", stream, spoolDirectory: SpoolDirectory(path: "/tmp", capacity: 0))
    }
    #expect(problem?.code == .insufficientStorage)
  }
}
