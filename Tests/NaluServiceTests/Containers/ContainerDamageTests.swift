import Testing

@testable import NaluService

/// What a file lacks is told by every operation, whatever the format.
@Suite struct ContainerDamageTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let name: String
    let file: [UInt8]
    var testDescription: String { name }
  }

  private static func cut(_ format: OutputFormat) throws -> Case {
    let file = try ContainerFile.make(format, frames: 12)
    return Case(name: "\(format) cut", file: Array(file[..<(file.count * 3 / 4 / 188 * 188 + 50)]))
  }

  /// The size of the last sample takes in the rest of the file and more.
  private static func swallowing(isMovieLast: Bool) throws -> Case {
    var file = try ContainerFile.make(.mp4, frames: 12)
    let table = try ContainerFile.content(of: "stsz", in: file)
    ContainerFile.put(0x7000_0000, at: table + 12 + 4 * 11, in: &file)
    if isMovieLast { file = moved(file) }
    return Case(name: "sample without end, index \(isMovieLast ? "last" : "first")", file: file)
  }

  /// The file with its index behind the samples.
  private static func moved(_ file: [UInt8]) -> [UInt8] {
    let root = BoxTree(file)
    guard let movie = root["moov"], let table = root["moov/trak/mdia/minf/stbl/stco"] else {
      return []
    }
    var result = file
    let size = movie.content.count + 8
    for entry in 0..<table.number(4) {
      ContainerFile.put(
        table.number(8 + 4 * entry) - size, at: table.content.lowerBound + 8 + 4 * entry,
        in: &result)
    }
    let start = movie.content.lowerBound - 8
    let box = Array(result[start..<start + size])
    result.removeSubrange(start..<start + size)
    return result + box
  }

  /// The second PES packet says that it has 1000 bytes more than it has.
  private static func shortPacket() throws -> Case {
    var file = TransportBuilder().file
    let starts = stride(from: 0, to: file.count, by: 188).filter {
      file[$0 + 1] & 0x40 != 0 && file[$0 + 2] == 0 && file[$0 + 1] & 0x1F == 1
    }
    let place = starts[1] + 4 + 1 + Int(file[starts[1] + 4])
    file.replaceSubrange(place + 4..<place + 6, with: bigEndian(5000, 2))
    return Case(name: "short PES packet", file: file)
  }

  /// A unit of no bytes between others.
  private static func emptyUnit() throws -> Case {
    let units = ContainerFilm.units(of: try ContainerFile.make(.h264, frames: 12))
    let first = ContainerFilm.sample(Array(units[..<5]))
    return Case(
      name: "empty unit", file: first + [0, 0, 0, 0] + ContainerFilm.sample(Array(units[5...])))
  }

  static let damaged = Result {
    try ContainerFile.formats.map(cut)
      + [swallowing(isMovieLast: false), swallowing(isMovieLast: true), shortPacket(), emptyUnit()]
  }

  @Test(arguments: 0..<10)
  func everyOperationTellsIt(index: Int) throws {
    let all = try Self.damaged.get()
    #expect(all.count == 10)
    let damaged = all[index]
    var settings = DecodeSettings()
    settings.format = .framemd5
    // Pictures of the builder cannot be decoded.
    if damaged.name != "short PES packet" {
      let decoded = try decode(damaged.file, settings)
      #expect(decoded.trailer("Nalu-Decode-Errors") != "0")
      let transcoded = try transcode("preset=ultrafast", damaged.file)
      #expect(transcoded.trailer("Nalu-Decode-Errors") != "0")
    }
    settings.onError = .fail
    let problem = #expect(throws: Problem.self) { try decode(damaged.file, settings) }
    #expect(problem?.code == .undecodable)
    #expect(problem?.detail.contains("container") == true)
    #expect(problem?.members.contains { $0.name == "offset" } == true)
    let note = try remux("format=h264", damaged.file).header("Nalu-Note")
    #expect(note?.contains("damaged") == true)
    let findings = try report(damaged.file)["findings"]?.items ?? []
    #expect(!findings.isEmpty)
  }

  @Test(arguments: ContainerFile.formats)
  func aWholeFileHasNone(format: OutputFormat) throws {
    let file = try ContainerFile.make(format, frames: 12)
    var settings = DecodeSettings()
    settings.format = .framemd5
    settings.onError = .fail
    #expect(try decode(file, settings).trailer("Nalu-Decode-Errors") == "0")
    #expect(try remux("format=h264", file).header("Nalu-Note") == nil)
    #expect(try report(file)["findings"]?.items.isEmpty == true)
  }

  /// Ends with sound, of which one byte is missing.
  private static func shortSound(_ format: OutputFormat) throws -> [UInt8] {
    let stream = try ContainerFile.make(.h264, frames: 12)
    let frame: [UInt8] = [0x21, 0x10, 0x04, 0x60, 0x8C, 0x1C]
    let sound = adts(Array(repeating: frame, count: 60))
    let file = try remux("format=\(format.rawValue)", stream, sound: sound).bytes
    let end = BoxTree(file)["mfra"].map { $0.content.lowerBound - 8 } ?? file.count
    return Array(file[..<(end - 1)])
  }

  @Test(arguments: ContainerFile.containers)
  func damageToTheSoundIsNoneToThePictures(format: OutputFormat) throws {
    let file = try Self.shortSound(format)
    let findings = try report(file)["findings"]?.items ?? []
    #expect(findings.contains { $0["severity"]?.text == "error" })
    var settings = DecodeSettings()
    settings.format = .framemd5
    settings.onError = .fail
    let decoded = try decode(file, settings)
    #expect(decoded.trailer("Nalu-Decode-Errors") == "0")
    #expect(decoded.trailer("Nalu-Frames-Out") == "12")
    #expect(decoded.header("Nalu-Note") == ContainerDamage.elsewhereNote)
    let silent = try remux("format=h264", file)
    #expect(silent.header("Nalu-Note")?.contains(ContainerDamage.elsewhereNote) == true)
    let transcoded = try transcode("preset=ultrafast&audio=none", file)
    #expect(transcoded.trailer("Nalu-Decode-Errors") == "0")
    #expect(transcoded.header("Nalu-Note") == ContainerDamage.elsewhereNote)
  }

  /// The cut is in the last sound, behind all pictures; the index that should follow is missing too.
  @Test(arguments: [false, true])
  func aCutInTheLastSoundOfMatroskaIsNoDamageToThePictures(knowsWhatFollows: Bool) throws {
    let stream = try ContainerFile.make(.h264, frames: 12)
    let sound = adts(Array(repeating: [0x21, 0x10, 0x04, 0x60, 0x8C, 0x1C], count: 60))
    var file = try remux("format=mkv", stream, sound: sound).bytes
    let cues: [UInt8] = [0x1C, 0x53, 0xBB, 0x6B]
    let places = file.indices.dropLast(4).filter { file[$0..<$0 + 4].elementsEqual(cues) }
    // The first is where the list of places names it.
    try #require(places.count == 2)
    // The first byte of the place itself.
    if !knowsWhatFollows { file[places[0] + 7] ^= 0x40 }
    let cut = Array(file[..<(places[1] - 1)])
    var settings = DecodeSettings()
    settings.format = .framemd5
    let decoded = try decode(cut, settings)
    #expect(decoded.trailer("Nalu-Frames-Out") == "12")
    #expect((decoded.trailer("Nalu-Decode-Errors") == "0") == knowsWhatFollows)
    #expect((decoded.header("Nalu-Note") == ContainerDamage.elsewhereNote) == knowsWhatFollows)
  }

  /// Missing packets of sound are none of the pictures' business.
  @Test func anotherTrackMayBeDamaged() throws {
    let file = try ContainerFile.make(.mpegts, frames: 12)
    var lost = Array(file[..<(188 * 5)])
    lost += TransportBuilder().packet(0x300, 1, [], startsUnit: false)
    lost += TransportBuilder().packet(0x300, 5, [1], startsUnit: false)
    lost += file[(188 * 5)...]
    let codes = try report(lost)["findings"]?.items.map { $0["code"]?.text }
    #expect(codes == ["continuity-error"])
    var settings = DecodeSettings()
    settings.format = .framemd5
    settings.onError = .fail
    _ = try decode(lost, settings)
  }
}
