import NaluService
import Testing

@Suite struct ContainerFindingTests {
  /// A finding, and a file that has it.
  struct Damage: CustomTestStringConvertible, Sendable {
    let code: String
    let file: [UInt8]
    var testDescription: String { code }

    init(_ code: String, _ file: [UInt8]) {
      self.code = code
      self.file = file
    }
  }

  private static func mp4(_ change: (inout MP4Builder) -> Void) -> [UInt8] {
    var builder = MP4Builder()
    change(&builder)
    return builder.file
  }

  private static func replacing(
    _ type: String, at distance: Int, with bytes: [UInt8], in file: [UInt8]
  ) -> [UInt8] {
    let name = Array(type.utf8)
    guard let start = (0..<file.count - 4).first(where: { Array(file[$0..<$0 + 4]) == name })
    else { return [] }
    var changed = file
    let first = start + 4 + distance
    changed.replaceSubrange(first..<first + bytes.count, with: bytes)
    return changed
  }

  private static let otherSPS: [UInt8] = {
    var sequence = StreamBuilder.Sequence()
    sequence.maxNumRefFrames = 3
    return ContainerFilm.units(of: StreamBuilder.stream(sequence) { _ in })[0]
  }()

  /// A box that is larger than the file may be read whole.
  private static let manyTracks: [UInt8] = mp4 { builder in
    builder.otherTracks = (0..<300).flatMap { _ in MP4Builder.box("trak", []) }
  }

  private static let differing: [UInt8] = {
    var film = ContainerFilm.small
    film.pictures[0].units.insert(otherSPS, at: 0)
    return mp4 { $0.film = film }
  }()

  private static let changedSequence: [UInt8] = {
    let builder = FLVBuilder()
    return builder.file
      + FLVBuilder.tag(9, 200, [0x17, 0, 0, 0, 0] + builder.film.record(sps: [otherSPS]))
  }()

  private static let disorder: [UInt8] = {
    var builder = FLVBuilder()
    builder.timestamps = [0, 40, 20, 120, 160]
    return builder.file
  }()

  private static let clockJump: [UInt8] = {
    var film = ContainerFilm.small
    film.pictures[3].decoding = 1000
    film.pictures[4].decoding = 1001
    return TransportBuilder(film: film).file
  }()

  private static let scrambled: [UInt8] = {
    var file = TransportBuilder().file
    // transport_scrambling_control of the first packet of video.
    file[2 * 188 + 3] |= 0x80
    return file
  }()

  private static let manyEdits: [UInt8] = {
    var file = mp4 { $0.mediaTime = 512 }
    let list = Array("elst".utf8)
    let start = (0..<file.count).first { Array(file[$0...].prefix(4)) == list } ?? 0
    // A second edit in the place of what follows would move everything: the first becomes two by
    // being read as version 0 entries of a longer list, which takes 12 bytes more in each box.
    let edit = bigEndian(100, 4) + bigEndian(1024, 4) + bigEndian(0x10000, 4)
    file.replaceSubrange(start + 8..<start + 12, with: bigEndian(2, 4))
    file.insert(contentsOf: edit, at: start + 24)
    for name in ["elst", "edts", "trak", "moov"] {
      let type = Array(name.utf8)
      let place = (0..<file.count).first { Array(file[$0...].prefix(4)) == type } ?? 4
      let size = file[place - 4..<place].reduce(0) { $0 << 8 | Int($1) }
      file.replaceSubrange(place - 4..<place, with: bigEndian(size + 12, 4))
    }
    return file
  }()

  static let damages: [Damage] = [
    Damage("container-damaged", replacing("stss", at: -8, with: [9], in: MP4Builder().file)),
    Damage("container-damaged", FLVBuilder(sizeError: 1).file),
    Damage("container-truncated", Array(MP4Builder().file.dropLast(10))),
    Damage("container-truncated", Array(FLVBuilder().file.dropLast(10))),
    Damage("container-truncated", Array(MatroskaBuilder().file.dropLast(10))),
    Damage("container-limit", manyTracks),
    Damage("sample-outside-file", Array(MP4Builder().file.dropLast(500))),
    Damage(
      "sample-outside-file", replacing("stco", at: 8, with: [0, 0, 0, 9], in: MP4Builder().file)),
    Damage("nal-length-exceeds-sample", mp4 { $0.sampleSizes = [20, 20, 20, 20, 20] }),
    Damage("configuration-damaged", replacing("avcC", at: 5, with: [0xE2], in: MP4Builder().file)),
    Damage("configuration-changed", changedSequence),
    Damage("configuration-differs", replacing("avcC", at: 3, with: [51], in: MP4Builder().file)),
    Damage("edit-list-not-applied", manyEdits),
    Damage("continuity-error", TransportBuilder(lost: 2).file),
    Damage("pcr-discontinuity", clockJump),
    Damage("encrypted-samples", scrambled),
    Damage("parameter-set-differs", differing),
    Damage("track-size-differs", mp4 { $0.width = 100 }),
    Damage("track-size-differs", FLVBuilder(metadataWidth: 100).file),
    Damage("track-size-differs", MatroskaBuilder(pixelWidth: 100).file),
    Damage("sync-sample-no-keyframe", mp4 { $0.syncSamples = [1, 2, 5] }),
    Damage("keyframe-not-sync", mp4 { $0.syncSamples = [1] }),
    Damage("timestamp-order", disorder),
  ]

  @Test(arguments: damages)
  func aDamageIsFound(damage: Damage) throws {
    let json = try report(damage.file)
    let codes = json["findings"]?.items.compactMap { $0["code"]?.text } ?? []
    #expect(codes.contains(damage.code), "\(codes)")
    #expect(json["summary"]?["frame_count"]?.int ?? 0 >= 0)
  }

  @Test(
    arguments: [[0, 0, 1], [0, 0, 0], [0, 0, 2], [0, 0, 3, 4]] as [[UInt8]], [1, 2, 3, 5, 4096])
  func whatEmulationPreventionRulesOutIsFoundBehindLengths(bytes: [UInt8], blockSize: Int) throws {
    var builder = MP4Builder()
    builder.film.pictures[1].units[0] += bytes + [0x55]
    let last = builder.film.pictures[1].units[0].count - 2
    let settings = InspectSettings()
    let json = try document(inspect(builder.file, settings, blockSize: blockSize))
    let found = try #require(json["findings"]?.items.first)
    #expect(found["code"]?.text == "emulation-prevention-violation")
    #expect(found["bit"]?.int == 8 * last)
    builder.film.pictures[1].units[0] += [0, 0, 3, 1, 0, 0, 3]
    #expect(try report(builder.file)["findings"]?.items.count == 1)
  }

  @Test(arguments: [1, 2, 3, 5, 4096])
  func zeroBytesBehindAUnitAreFound(blockSize: Int) throws {
    var builder = MP4Builder()
    builder.film.pictures[1].units[0] += [0, 0, 0, 0, 0]
    let json = try document(inspect(builder.file, InspectSettings(), blockSize: blockSize))
    #expect(json["findings"]?.items.map { $0["code"]?.text } == ["trailing-data"])
    #expect(json["findings"]?.items.first?["message"]?.text?.contains(" 5 zero bytes") == true)
  }

  @Test func samplesThatOverlapAreReadNoMoreThanOnce() throws {
    // Every chunk has the same offset, so the samples lie over each other.
    var builder = MP4Builder()
    builder.chunkSize = 1
    let file = builder.file
    let first = file.count - builder.samples.reduce(0) { $0 + $1.count }
    let overlapping = Self.replacing(
      "stco", at: 8, with: (0..<5).flatMap { _ in bigEndian(first, 4) }, in: file)
    let units = try #require(try report(overlapping)["nal_units"]).items
    #expect(units.compactMap { $0["size"]?.int }.reduce(0, +) <= file.count)
  }

  @Test(
    arguments: [
      MP4Builder.box("ftyp", Array("isom".utf8) + bigEndian(0, 4)),
      MP4Builder.box("moof", MP4Builder.full("mfhd", bigEndian(1, 4))),
      Array(FLVBuilder().file[..<13]),
      MatroskaBuilder.element(0x1A45_DFA3, MatroskaBuilder.text(0x4282, "webm")),
    ])
  func aContainerWithoutH264IsAProblem(file: [UInt8]) {
    let problem = #expect(throws: Problem.self) { try report(file) }
    #expect(problem?.code == .unrecognisedInput)
    #expect(problem?.detail.contains("without") == true)
  }

  private static let absurdities: [Damage] = {
    let all: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF]
    let tables = ["stsz", "stts", "ctts", "stsc", "stco", "stss"].map { type in
      Damage(
        "container-damaged",
        replacing(type, at: type == "stsz" ? 8 : 4, with: all, in: MP4Builder().file))
    }
    // Four thousand million samples of a byte; samples of no bytes without an end.
    let bytes = replacing("stsz", at: 4, with: [0, 0, 0, 1] + all, in: MP4Builder().file)
    let endless = MP4Builder.full("trun", bigEndian(0x7FFF_FFFF, 4))
    let header = MP4Builder.full("tfhd", flags: 0x20000, bigEndian(1, 4))
    let fragment = MP4Builder.box("moof", MP4Builder.box("traf", header + endless))
    // A header of which only a part is in the box, or element, around it.
    let box = MP4Builder.box("moof", [0, 0, 0, 1] + Array("free".utf8) + [0, 0])
    let element = MatroskaBuilder.element(0x1F43_B675, MatroskaBuilder.number(0xE7, 0) + [0xA3, 1])
    var live = MatroskaBuilder()
    live.isLive = true
    return tables + [
      Damage("container-damaged", MP4Builder().fragmented + box + MP4Builder.box("free", [])),
      Damage("container-damaged", live.file + element + element),
      Damage("nal-length-exceeds-sample", bytes),
      Damage("container-damaged", MP4Builder().fragmented + fragment),
    ]
  }()

  @Test(arguments: absurdities)
  func absurdCountsAreFoundAndCostNothing(damage: Damage) throws {
    let codes = try report(damage.file)["findings"]?.items.compactMap { $0["code"]?.text } ?? []
    #expect(codes.contains(damage.code), "\(codes)")
  }

  /// Whatever of an element's header is broken, the next cluster is found.
  @Test(arguments: [0, 4])
  func goesOnBehindABrokenCluster(byte: Int) throws {
    var file = MatroskaBuilder().file
    let id: [UInt8] = [0x1F, 0x43, 0xB6, 0x75]
    let clusters = (0..<file.count - 4).filter { Array(file[$0..<$0 + 4]) == id }
    file[clusters[1] + byte] = 0
    let json = try report(file)
    // Two pictures a cluster, of five.
    #expect(json["summary"]?["access_unit_count"]?.int == 3)
  }
}
