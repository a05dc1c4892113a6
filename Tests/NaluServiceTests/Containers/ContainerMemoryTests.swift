import Codec
import Platform
import Testing

@testable import NaluService

/// What stands beside the samples of a container costs memory several times over.
@Suite struct ContainerMemoryTests {
  /// The limits that allow 16 MiB of it.
  private static let limits: Limits = {
    var limits = Limits()
    limits.maxMemory = 256 << 20
    return limits
  }()

  private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

  private static func attachments(_ size: Int) -> [UInt8] {
    let file =
      MatroskaBuilder.text(0x466E, "a") + MatroskaBuilder.text(0x4660, "text/plain")
      + MatroskaBuilder.element(0x465C, zeros(size))
    return MatroskaBuilder.element(0x1941_A469, MatroskaBuilder.element(0x61A7, file))
  }

  /// Whatever a size of the segment says, or nothing does.
  private static func live(_ change: (inout MatroskaBuilder) -> Void = { _ in }) -> [UInt8] {
    var builder = MatroskaBuilder()
    builder.isLive = true
    change(&builder)
    return builder.file
  }

  private static func insertingBeforeClusters(_ bytes: [UInt8], _ file: [UInt8]) -> [UInt8] {
    let cluster: [UInt8] = [0x1F, 0x43, 0xB6, 0x75]
    let place = file.indices.first { Array(file[$0...].prefix(4)) == cluster } ?? 0
    return Array(file[..<place]) + bytes + file[place...]
  }

  /// One of two tags, each as large as a tag can be made.
  private static var metadata: [UInt8] {
    FLVBuilder.tag(18, 0, [2] + FLVBuilder.text("onMetaData") + zeros(9 << 20))
  }

  private static let protection = MP4Builder.box(
    "moof", MP4Builder.full("mfhd", bigEndian(1, 4)) + MP4Builder.box("pssh", zeros(17 << 20)))

  struct File: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let bytes: [UInt8]

    init(_ name: String, _ bytes: [UInt8]) {
      testDescription = name
      self.bytes = bytes
    }
  }

  static let large: [File] = [
    File("attachments behind", live() + attachments(17 << 20)),
    File("attachments before", insertingBeforeClusters(attachments(17 << 20), live())),
    File("a box", MP4Builder().file + MP4Builder.box("uuid", zeros(17 << 20))),
    File("a box of a fragment", MP4Builder().fragmented + protection),
    File("metadata", FLVBuilder().file + metadata + metadata),
  ]

  @Test(arguments: large)
  func whatIsNoSampleMayNotBeLarge(file: File) {
    let problem = #expect(throws: Problem.self) { try decode(file.bytes, limits: Self.limits) }
    #expect(problem?.code == .unsupportedFeature)
    #expect(problem?.members.contains(.init("limit", 16 << 20)) == true)
  }

  static let usual: [File] = [
    File("small attachments", live() + attachments(1 << 20)),
    File("voids", live { $0.hasVoid = true }),
    File("a large void", live() + MatroskaBuilder.element(0xEC, zeros(17 << 20))),
    File("a free box", MP4Builder().file + MP4Builder.box("free", zeros(17 << 20))),
  ]

  @Test(arguments: usual)
  func paddingAndSmallAttachmentsMayBeThere(file: File) throws {
    let result = try remux("format=h264", file.bytes, limits: Self.limits)
    #expect(result.counters.framesOut == 5)
  }

  private func open(
    _ file: [UInt8], _ format: Demuxer.Format, headerBytes: Int = 64 << 20
  ) throws -> Demuxer {
    var spool = Spool(in: .test)
    try spool.append(file.span)
    var settings = Demuxer.Settings()
    settings.maxHeaderBytes = headerBytes
    return try Demuxer(SpooledUpload(spool), format: format, settings)
  }

  /// Also where an index points at what is hidden elsewhere.
  @Test func noMoreIsReadBeforeTheFirstPacketThanIsAllowed() throws {
    let file = Self.insertingBeforeClusters(Self.attachments(12 << 20), Self.live())
    let held = try open(file, .matroska).heldBytes
    #expect(held >= 24 << 20)
    let error = #expect(throws: CodecError.self) {
      _ = try open(file, .matroska, headerBytes: 1 << 20)
    }
    #expect(error?.code == CodecError.tooLarge)
  }

  @Test func descriptionsOfOtherTracksAreNotCopied() throws {
    let file = Self.insertingBeforeClusters(Self.attachments(2 << 20), Self.live())
    let tracks = try open(file, .matroska).tracks
    #expect(tracks.map(\.extradata.isEmpty) == [false, true])
  }

  // MARK: Reports

  private static func tracks(codec: String, name: String) -> [UInt8] {
    var entry = MatroskaBuilder.number(0xD7, 9)
    entry += MatroskaBuilder.number(0x83, 17)
    entry += MatroskaBuilder.text(0x86, codec)
    entry += MatroskaBuilder.text(0x536E, name)
    return MatroskaBuilder.element(0x1654_AE6B, MatroskaBuilder.element(0xAE, entry))
  }

  @Test func textIsCutBehindAWholeCharacter() throws {
    let name = "x" + String(repeating: "\u{FC}", count: 300_000)
    let file = Self.insertingBeforeClusters(Self.tracks(codec: "S_X", name: name), Self.live())
    let tracks = try report(file)["source"]?["tracks"]
    #expect(tracks?.items.last?["name"]?.text == String(name.prefix(2048)))
  }

  @Test func aProblemShowsLittleOfWhatTheUploadSays() throws {
    let codec = "S_\u{1B}[31m" + String(repeating: "ab\n", count: 200_000)
    let head = MatroskaBuilder.element(0x1A45_DFA3, MatroskaBuilder.text(0x4282, "matroska"))
    let tracks = Self.tracks(codec: codec, name: "")
    let file = head + MatroskaBuilder.element(0x1853_8067, tracks)
    let problem = #expect(throws: Problem.self) { try report(file) }
    let detail = try #require(problem?.detail)
    #expect(detail.utf8.count < 300)
    #expect(detail.unicodeScalars.allSatisfy { $0.value >= 0x20 })
  }

  /// The upload stops behind the tables.
  @Test func theSampleTablesOfAnUploadCountAsMemory() throws {
    var builder = MP4Builder()
    builder.sampleSizes = [Int](repeating: 500, count: 200_000)
    let file = builder.file
    var operation = InspectOperation(
      InspectSettings(), spoolDirectory: SpoolDirectory(path: "/tmp", capacity: 1 << 24))
    var output = Output()
    var position = 0
    while position < file.count - 100 {
      guard try operation.step(into: &output) == .needsInput else { continue }
      let end = min(file.count - 100, position + operation.blockSize)
      try operation.push(Block(Array(file[position..<end])))
      position = end
    }
    while try operation.step(into: &output) == .again {}
    let held = operation.heldBytes
    #expect(held > 800_000)
  }
}
