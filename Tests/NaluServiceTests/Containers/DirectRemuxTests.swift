import Codec
import Glibc
import Platform
import Testing

@testable import NaluService

/// Samples that go from one container into another as they are.
@Suite struct DirectRemuxTests {
  private static let stream = Result {
    try encode(
      "width=64&height=48&fps=25&gop=40&preset=fast&bframes=3", movingPictures(64, 48, count: 60)
    ).bytes
  }

  private static let inputs: [OutputFormat] = [.mp4, .fmp4, .flv, .mkv]

  /// Whether it went through a byte stream or not makes no difference.
  @Test(arguments: inputs, inputs)
  func theResultIsThatOfTheByteStream(input: OutputFormat, output: OutputFormat) throws {
    let stream = try Self.stream.get()
    let file = try remux("format=\(input.rawValue)", stream).bytes
    let result = try remux("format=\(output.rawValue)", file)
    let expected = try remux("format=\(output.rawValue)", stream)
    if output == .mp4 || output == .fmp4 { #expect(result.bytes == expected.bytes) }
    #expect(try digests(result.bytes) == digests(stream))
    #expect(result.header("Nalu-Frames-Out") == "60")
    #expect(result.counters == expected.counters)
    #expect(result.answer.length == (output == .fmp4 ? nil : result.bytes.count))
  }

  @Test func soundStaysWhereItWas() throws {
    let frame: [UInt8] = [0x21, 0x10, 0x04, 0x60, 0x8C, 0x1C]
    let sound = adts((0..<100).map { frame + [UInt8($0)] })
    let file = try remux("format=mp4", try Self.stream.get(), sound: sound).bytes
    let result = try remux("format=mp4", file).bytes
    let before = try packets(of: file, .mov)
    #expect(
      try packets(of: result, .mov).filter { $0.track == 0 } == before.filter { $0.track == 0 })
    #expect(
      try packets(of: result, .mov).filter { $0.track == 1 } == before.filter { $0.track == 1 })
    #expect(try digests(result) == digests(file))
  }

  /// More than stays in memory.
  private static let large = Result {
    let noise = movingPictures(320, 240, count: 45, noise: 200)
    return try encode("width=320&height=240&qp=1&preset=ultrafast&format=mp4", noise).bytes
  }

  /// Some megabytes stay in memory, and the rest of the upload is in the spool once.
  @Test(arguments: inputs)
  func anUploadIsKeptOnce(format: OutputFormat) throws {
    let file = try remux("format=\(format.rawValue)", try Self.large.get()).bytes
    let spooled = file.count - Limits.spoolMemory
    #expect(spooled > 1 << 18)
    // Not half of what a second copy of it would take.
    let room = SpoolDirectory(path: "/tmp", capacity: spooled + spooled / 2)
    let result = try remux("format=mp4", file, spoolDirectory: room).bytes
    #expect(try digests(result) == digests(file))
    #expect(room.usedBytes == 0)
  }

  @Test func aFileIsNotKeptAtAll() throws {
    let file = try Self.large.get()
    let result = try remux("format=mp4", file).bytes
    var template = Array("/tmp/nalu-direct-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    try #require(descriptor >= 0)
    close(descriptor)
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { unlink(path) }
    let output = try OutputFile(path: path)
    try output.write(file.span)
    try output.commit()
    let input = try InputFile(path: path)
    let opened = StoredFile(input)
    let stored = try #require(opened)
    #expect(stored.count == file.count)
    let none = SpoolDirectory(path: "/tmp", capacity: 0)
    #expect(try remux("format=mp4", file, spoolDirectory: none, file: stored).bytes == result)
  }

  @Test func aPipeIsNoStoredFile() throws {
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { ends.forEach { close($0) } }
    let input = try InputFile(path: "/dev/fd/\(ends[0])")
    let opened = StoredFile(input)
    #expect(opened == nil)
  }

  private func isTiled(_ file: [UInt8]) throws -> Bool {
    let table = SampleTable(try #require(BoxTree(file)["moov/trak"]))
    var start = try #require(BoxTree(file)["mdat"]).content.lowerBound
    for size in table.sizes {
      let layout = AccessUnitLayout.lengthPrefixed(
        Array(file[start..<start + size]).span, lengthSize: 4)
      guard layout?.isPlain == true else { return false }
      start += size
    }
    return true
  }

  @Test(arguments: [1, 2, 4])
  func lengthsOfAnySizeBecomeFourBytes(lengthSize: Int) throws {
    var builder = MP4Builder()
    builder.lengthSize = lengthSize
    let result = try remux("format=mp4", builder.file)
    #expect(result.header("Nalu-Frames-Out") == "5")
    #expect(try isTiled(result.bytes))
    let units = try remux("format=h264", result.bytes).bytes
    #expect(try units == remux("format=h264", builder.file).bytes)
  }

  /// A length beyond its sample does not reach the result.
  @Test(arguments: [0, 1, 0x7FFF_FFFF, 0xFFFF_FFFF])
  func wrongLengthsAreMadeRight(length: Int) throws {
    let stream = try Self.stream.get()
    var file = try remux("format=mp4", stream).bytes
    let table = SampleTable(try #require(BoxTree(file)["moov/trak"]))
    let start = try #require(BoxTree(file)["mdat"]).content.lowerBound
    ContainerFile.put(length, at: start + table.sizes[..<20].reduce(0, +), in: &file)
    let result = try remux("format=mp4", file).bytes
    #expect(try isTiled(result))
  }

  @Test func parameterSetsInSamplesLeaveThem() throws {
    let file = try encode(
      "width=64&height=48&format=mkv&repeat_headers=1&gop=2", movingPictures(64, 48, count: 5)
    ).bytes
    let result = try remux("format=mp4", file).bytes
    let entry = try #require(BoxTree(result)["moov/trak/mdia/minf/stbl/stsd"])
    #expect(entry.contains("avc1"))
    let table = SampleTable(try #require(BoxTree(result)["moov/trak"]))
    var start = try #require(BoxTree(result)["mdat"]).content.lowerBound
    for size in table.sizes {
      let sample = Array(result[start..<start + size])
      let found = AccessUnitLayout.lengthPrefixed(sample.span, lengthSize: 4)
      let layout = try #require(found)
      #expect(layout.units.allSatisfy { ![7, 8].contains(sample[$0.lowerBound] & 31) })
      start += size
    }
    #expect(try digests(result) == digests(file))
  }

  /// An edit list of the input hides its first frames; they stay hidden.
  @Test func whatAnEditListHidesStaysHidden() throws {
    var builder = MP4Builder()
    builder.mediaTime = MP4Builder.ticks
    let file = builder.file
    let result = try remux("format=mp4", file).bytes
    #expect(try digests(result) == digests(file))
    let table = SampleTable(try #require(BoxTree(result)["moov/trak"]))
    #expect(table.sizes.count == 5)
  }

  /// It goes through a byte stream in pieces.
  @Test(arguments: [300_000, 512 << 10, 900_001])
  func aLargeSampleComesOutWhole(size: Int) throws {
    var builder = MP4Builder()
    let filler = [12] + (0..<size).map { UInt8(1 + $0 % 251) } + [0x80]
    builder.film.pictures[1].units.insert(filler, at: 0)
    let units = ContainerFilm.units(of: try remux("format=h264", builder.file).bytes)
    #expect(units.contains(filler))
    #expect(units.suffix(1) == builder.film.pictures[4].units.suffix(1))
  }

  @Test(arguments: [true, false], ["mp4", "mkv"])
  func aSampleLargerThanMemoryAllowsIsRefused(isMovieFirst: Bool, format: String) throws {
    var limits = Limits()
    limits.maxMemory = 16 << 20
    #expect(limits.maxSampleBytes == 2 << 20)
    var builder = MP4Builder()
    builder.isMovieFirst = isMovieFirst
    builder.film.pictures[1].units[0] += [UInt8](repeating: 0x55, count: 3 << 20)
    var matroska = MatroskaBuilder()
    matroska.film = builder.film
    let file = format == "mp4" ? builder.file : matroska.file
    let problem = #expect(throws: Problem.self) {
      try remux("format=h264", file, limits: limits)
    }
    #expect(problem?.code == .undecodable)
    #expect(problem?.members.contains(.init("limit", 2 << 20)) == true)
  }

  @Test func aFrameLargerThanAnyCanBeIsRefused() throws {
    var builder = MP4Builder()
    builder.film.pictures[1].units[0] += [UInt8](repeating: 0x55, count: 2 << 20)
    for format in ["mp4", "mkv"] {
      let problem = #expect(throws: Problem.self) { try remux("format=\(format)", builder.file) }
      #expect(problem?.code == .undecodable)
    }
  }
}
