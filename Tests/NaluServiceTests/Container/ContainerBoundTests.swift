import Container
import NaluService
import Testing

/// Tables that would have a reader work for long.
@Suite struct ContainerBoundTests {
  @Test func millionsOfSamplesWithoutBytesAreGivenUp() throws {
    // Sizes of four bits.
    let count = 400_000
    var builder = MP4Builder()
    builder.chunkSize = count
    builder.sampleSizes = [Int](repeating: 0, count: count / 8 + 16)
    let content = bigEndian(4, 4) + bigEndian(count, 4) + [UInt8](repeating: 0, count: count / 2)
    var file = builder.file
    let table = try #require(BoxTree(file)["moov/trak/mdia/minf/stbl/stsz"])
    let box = MP4Builder.full("stz2", content)
    let room = table.content.count + 8 - box.count
    file.replaceSubrange(
      table.content.lowerBound - 8..<table.content.upperBound,
      with: box + MP4Builder.box("free", [UInt8](repeating: 0, count: room - 8)))
    let json = try report(file)
    let found = json["findings"]?.items.first { $0["code"]?.text == "container-limit" }
    #expect(found?["message"]?.text?.contains("have no bytes") == true)
  }

  /// Counts.
  private struct Sink: ContainerSink {
    var samples = 0
    var findings: [ContainerFinding] = []

    mutating func take(_ configuration: AVCConfigurationRecord, at offset: Int) {}
    mutating func take(_ sample: Sample) { samples += 1 }
    mutating func amendSample(duration: Int?, isSync: Bool?) {}
    mutating func take(_ unit: ContainedUnit, _ bytes: Span<UInt8>) {}
    mutating func take(_ entry: ContainerEntry) {}
    mutating func note(_ finding: ContainerFinding) { findings.append(finding) }
  }

  private func read(_ file: [UInt8], piece: Int, _ limits: ContainerLimits = ContainerLimits())
    -> (ContainerReader, Sink)
  {
    var reader = ContainerReader(.mp4, limits)
    var sink = Sink()
    for start in stride(from: 0, to: file.count, by: piece) {
      let end = min(file.count, start + piece)
      reader.read(file.span.extracting(start..<end), into: &sink)
    }
    return (reader, sink)
  }

  /// Each of a hundred runs is of the same bytes.
  @Test(arguments: [1 << 20, 1000, 7])
  func runsThatLieOverEachOtherAreReadOnce(piece: Int) {
    let builder = MP4Builder()
    let entries = (0..<2).flatMap { bigEndian(builder.samples[$0].count, 4) }
    func fragment(_ dataOffset: Int) -> [UInt8] {
      let run = MP4Builder.full(
        "trun", flags: 0x201, bigEndian(2, 4) + bigEndian(dataOffset, 4) + entries)
      let header = MP4Builder.full("tfhd", flags: 0x20000, bigEndian(1, 4))
      return MP4Builder.box(
        "moof",
        MP4Builder.full("mfhd", bigEndian(1, 4))
          + MP4Builder.box("traf", header + Array(repeatElement(run, count: 100).joined())))
    }
    let start = MP4Builder.box("ftyp", Array("iso5".utf8) + bigEndian(0, 4))
    let media = MP4Builder.box("mdat", builder.samples[0] + builder.samples[1])
    let file =
      start + builder.movie(mediaStart: 0, isFragmented: true) + fragment(fragment(0).count + 8)
      + media
    let (_, sink) = read(file, piece: piece)
    #expect(sink.samples == 2)
    #expect(sink.findings.count == 99)
    #expect(sink.findings.allSatisfy { $0.code == .sampleOutsideFile })
  }

  /// Each of 20,000 samples is the same 2000 bytes, and the index is behind them.
  @Test func samplesThatLieOverEachOtherAreNotReadForMoreThanTheFileHas() throws {
    let file = try MP4Builder.layered(count: 20_000)
    var (reader, sink) = read(file, piece: 1 << 18)
    #expect(sink.samples == 0)
    while let range = reader.wanted(of: file.count) {
      let before = sink.samples
      reader.reread(file.span.extracting(range), at: range.lowerBound, into: &sink)
      // No piece is read for much more than it has.
      #expect((sink.samples - before) * 2000 <= 2 * range.count + 2000)
    }
    #expect(sink.samples > 0)
    #expect(sink.samples * 2000 <= file.count + 2000)
    reader.finish(into: &sink)
    #expect(sink.findings.contains { $0.message.contains("overlaps with others") })
  }

  @Test func aTableCountsAsMemoryWhileItComes() throws {
    var builder = MP4Builder()
    builder.sampleSizes = [Int](repeating: 500, count: 200_000)
    let file = builder.file
    let table = try #require(BoxTree(file)["moov/trak/mdia/minf/stbl/stsz"])
    let (reader, _) = read(Array(file[..<(table.content.upperBound - 100)]), piece: 1 << 16)
    #expect(reader.heldBytes > 790_000)
    let (complete, _) = read(MP4Builder().file, piece: 1 << 16)
    #expect(complete.heldBytes == 0)
  }

  /// 40 programs of 20 streams each.
  @Test func streamsOfAllProgramsTogetherAreBounded() {
    let builder = TransportBuilder()
    func packet(_ pid: Int, _ counter: Int, _ section: [UInt8]) -> [UInt8] {
      let payload = [0] + section
      return builder.packet(
        pid, counter, payload + [UInt8](repeating: 0xFF, count: 184 - payload.count),
        startsUnit: true)
    }
    let association: [UInt8] = (1...40).flatMap { number -> [UInt8] in
      bigEndian(number, 2) + bigEndian(0xE000 | 0x20 + number, 2)
    }
    var file = packet(0, 0, TransportBuilder.section(0, 1, association))
    for number in 1...40 {
      let streams: [UInt8] = (0..<20).flatMap { stream -> [UInt8] in
        [0x0F] + bigEndian(0xE000 | 0x100 + 20 * number + stream, 2) + bigEndian(0xF000, 2)
      }
      file += packet(
        0x20 + number, 0,
        TransportBuilder.section(2, number, bigEndian(0xFFFF, 2) + bigEndian(0xF000, 2) + streams))
    }
    var limits = ContainerLimits()
    limits.maxTracks = 50
    var reader = ContainerReader(.mpegTS, limits)
    var sink = Sink()
    reader.read(file.span, into: &sink)
    reader.finish(into: &sink)
    #expect(reader.tracks.count == 50)
  }

  /// Each sample has one byte, somewhere else than the one before.
  @Test func samplesFarApartHaveAFileReadFewTimes() throws {
    let count = 20_000
    var builder = MP4Builder()
    builder.chunkSize = 1
    builder.sampleSizes = [Int](repeating: 0, count: count + 16)
    var file = builder.file
    let offsets = (0..<count).map { file.count + ($0 * 7919 % 1000) * 4096 + $0 / 1000 }
    let sizes = MP4Builder.full("stsz", bigEndian(1, 4) + bigEndian(count, 4))
    let chunks = MP4Builder.full(
      "stco", bigEndian(count, 4) + offsets.flatMap { bigEndian($0, 4) })
    let tables = try #require(BoxTree(file)["moov/trak/mdia/minf/stbl"])
    let sizeTable = try #require(tables["stsz"])
    let chunkTable = try #require(tables["stco"])
    let name = chunkTable.content.lowerBound - 4
    file.replaceSubrange(name..<name + 4, with: Array("free".utf8))
    let room = sizeTable.content.count - sizes.count - chunks.count
    file.replaceSubrange(
      sizeTable.content.lowerBound - 8..<sizeTable.content.upperBound,
      with: sizes + chunks + MP4Builder.box("free", [UInt8](repeating: 0, count: room)))
    file += MP4Builder.box("mdat", [UInt8](repeating: 0, count: 4 << 20))
    var reader = ContainerReader(.mp4, ContainerLimits())
    var sink = Sink()
    reader.read(file.span, into: &sink)
    var wanted = 0
    while let range = reader.wanted(of: file.count) {
      wanted += range.count
      reader.reread(file.span.extracting(range), at: range.lowerBound, into: &sink)
    }
    #expect(wanted > file.count)
    #expect(wanted < 10 * file.count)
  }

  @Test func anEntryThatIsCutOffHasItsOwnPlace() throws {
    let file = MP4Builder().file
    let table = try #require(BoxTree(file)["moov/trak/mdia/minf/stbl/stsd"])
    var changed = file
    // The entry ends inside its fixed fields.
    changed.replaceSubrange(
      table.content.lowerBound + 8..<table.content.lowerBound + 12, with: bigEndian(40, 4))
    // What follows is padding, as far as entries are concerned.
    let findings = try report(changed)["findings"]?.items ?? []
    let found = findings.first { $0["message"]?.text?.contains("cut off") == true }
    #expect(found?["offset"]?.int == table.content.lowerBound + 8)
  }

  @Test func aMapThatMovesTheVideoIsFollowed() throws {
    let first = TransportBuilder()
    let second = first.file
    var moved: [UInt8] = []
    // The same stream with every PID one higher.
    for start in stride(from: 0, to: second.count, by: 188) {
      var packet = Array(second[start..<start + 188])
      let pid = Int(packet[1] & 0x1F) << 8 | Int(packet[2])
      if pid != 0 { packet[2] += 1 }
      moved += packet
    }
    func section(_ table: Int, _ id: Int, _ content: [UInt8], pid: Int) -> [UInt8] {
      let section = [0] + TransportBuilder.section(table, id, content)
      return first.packet(
        pid, 1, section + [UInt8](repeating: 0xFF, count: 184 - section.count), startsUnit: true)
    }
    let association = section(0, 1, bigEndian(1, 2) + bigEndian(0xE021, 2), pid: 0)
    let map = section(
      2, 1,
      bigEndian(0xE101, 2) + bigEndian(0xF000, 2) + [0x1B] + bigEndian(0xE101, 2)
        + bigEndian(0xF000, 2), pid: 0x21)
    let joined = second + association + map + moved.dropFirst(2 * 188)
    let json = try report(joined)
    let count = try report(second)["summary"]?["frame_count"]?.int ?? 0
    #expect(count == 5)
    #expect(json["summary"]?["frame_count"]?.int == 2 * count)
    let codes = json["findings"]?.items.compactMap { $0["code"]?.text } ?? []
    #expect(codes.contains("configuration-changed"), "\(codes)")
  }
}

extension MP4Builder {
  /// A file whose samples are the same 2000 bytes each, with the index behind them.
  static func layered(count: Int) throws -> [UInt8] {
    var builder = MP4Builder()
    builder.isMovieFirst = false
    builder.chunkSize = 1
    builder.sampleSizes = [Int](repeating: 0, count: count + 16)
    var file = builder.file
    let sizes = MP4Builder.full("stsz", bigEndian(2000, 4) + bigEndian(count, 4))
    let place = try #require(BoxTree(file)["mdat"]).content.lowerBound
    let chunks = MP4Builder.full(
      "stco", bigEndian(count, 4) + (0..<count).flatMap { _ in bigEndian(place, 4) })
    let tables = try #require(BoxTree(file)["moov/trak/mdia/minf/stbl"])
    let sizeTable = try #require(tables["stsz"])
    let name = try #require(tables["stco"]).content.lowerBound - 4
    file.replaceSubrange(name..<name + 4, with: Array("free".utf8))
    let room = sizeTable.content.count - sizes.count - chunks.count
    file.replaceSubrange(
      sizeTable.content.lowerBound - 8..<sizeTable.content.upperBound,
      with: sizes + chunks + MP4Builder.box("free", [UInt8](repeating: 0, count: room)))
    return file
  }
}
