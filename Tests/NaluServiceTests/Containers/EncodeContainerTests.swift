import H264
import Testing

@testable import NaluService

extension SpoolDirectory {
  static var test: SpoolDirectory { SpoolDirectory(path: "/tmp", capacity: 1 << 30) }
}

@Suite struct EncodeContainerTests {
  private static let base = "width=64&height=48&preset=ultrafast&bframes=2&gop=10"
  private static let media = movingPictures(64, 48, count: 25)

  private func file(_ query: String, frames: Int = 25) throws -> EncodeResult {
    let size = 64 * 48 * 3 / 2
    return try encode("\(Self.base)&\(query)", Array(Self.media[..<(frames * size)]))
  }

  @Test(arguments: [("25", 25, 1), ("30000/1001", 30000, 1001), ("12.5", 25, 2)])
  func mp4KeepsEveryFrameAndTimesItExactly(fps: String, numerator: Int, denominator: Int) throws {
    let result = try file("format=mp4&fps=\(fps)")
    let root = BoxTree(result.bytes)
    let track = try #require(root["moov/trak"])
    let table = SampleTable(track)
    #expect(table.sizes.count == 25)
    #expect(table.timescale % numerator == 0)
    let tick = table.timescale / numerator * denominator
    #expect(table.durations == Array(repeating: tick, count: 25))
    #expect(table.presentations.sorted() == (0..<25).map { $0 * tick })
    #expect(table.presentations[0] == 0)
    #expect(table.edits.count == 1)
    #expect((table.edits.first?.time ?? 0) >= tick)
    #expect(table.keyframes == [0, 10, 20])
    // The durations of the edit, the movie and the media are the same, in one scale.
    let movie = try #require(root["moov/mvhd"])
    #expect(movie.number(12) == table.timescale)
    #expect(movie.number(16) == 25 * tick)
    #expect(table.edits.first?.duration == 25 * tick)
    #expect(result.header("Nalu-Frames-In") == "25")
    #expect(result.header("Nalu-Frames-Out") == "25")
    #expect(result.answer.contentType == "video/mp4")
    #expect(result.answer.length == result.bytes.count)
  }

  @Test func mp4HasItsIndexInFrontAndOffsetsThatPointAtTheSamples() throws {
    let result = try file("format=mp4")
    let root = BoxTree(result.bytes)
    #expect(root.children.map(\.type).filter { $0 != "free" } == ["ftyp", "moov", "mdat"])
    let table = SampleTable(try #require(root["moov/trak"]))
    let data = try #require(root["mdat"])
    #expect(table.chunkOffsets.first == data.content.lowerBound)
    // Every sample begins with the length of its first NAL unit.
    let first = data.content.lowerBound
    let layout = AccessUnitLayout.lengthPrefixed(
      Array(result.bytes[first..<first + table.sizes[0]]).span, lengthSize: 4)
    #expect((layout?.units.count ?? 0) > 0)
  }

  @Test func mp4HasParameterSetsApartFromItsSamples() throws {
    let result = try file("format=mp4")
    let entry = try #require(BoxTree(result.bytes)["moov/trak/mdia/minf/stbl/stsd"])
    #expect(entry.contains("avc1"))
    let record = try #require(entry.range(of: "avcC"))
    #expect(entry.number(record, 1) == 1)
    #expect(entry.number(record + 5, 1) & 31 == 1)
    #expect(try samples(of: result).allSatisfy { $0.allSatisfy { ![7, 8].contains($0) } })
  }

  @Test func repeatedHeadersStayInTheSamples() throws {
    let result = try file("format=mp4&repeat_headers=1")
    let entry = try #require(BoxTree(result.bytes)["moov/trak/mdia/minf/stbl/stsd"])
    #expect(entry.contains("avc3"))
    let types = try samples(of: result)
    for keyframe in [0, 10, 20] { #expect(types[keyframe].prefix(2) == [7, 8]) }
  }

  /// The nal_unit_type of each NAL unit of each sample; samples lie one behind the other.
  private func samples(of result: EncodeResult) throws -> [[UInt8]] {
    let root = BoxTree(result.bytes)
    let table = SampleTable(try #require(root["moov/trak"]))
    var position = try #require(root["mdat"]).content.lowerBound
    return try table.sizes.map { size in
      let sample = Array(result.bytes[position..<position + size])
      position += size
      let layout = AccessUnitLayout.lengthPrefixed(sample.span, lengthSize: 4)
      return try #require(layout).units.map { sample[$0.lowerBound] & 31 }
    }
  }

  @Test func colourAndSampleShapeAreInTheSampleEntry() throws {
    let result = try file(
      "format=mp4&sar=4:3&colorspace=bt709&color_primaries=bt709&color_trc=bt709")
    let entry = try #require(BoxTree(result.bytes)["moov/trak/mdia/minf/stbl/stsd"])
    let shape = try #require(entry.range(of: "pasp"))
    #expect((entry.number(shape), entry.number(shape + 4)) == (4, 3))
    let colour = try #require(entry.range(of: "colr"))
    #expect(entry.number(colour + 4, 2) == 1)
    #expect(entry.number(colour + 6, 2) == 1)
    #expect(entry.number(colour + 8, 2) == 1)
  }

  @Test func fragmentsBeginWithKeyframes() throws {
    let result = try file("format=fmp4")
    let root = BoxTree(result.bytes)
    let types = root.children.map(\.type)
    #expect(types.prefix(2) == ["ftyp", "moov"])
    #expect(types.count { $0 == "moof" } == 3)
    let edit = SampleTable(try #require(root["moov/trak"])).edits
    #expect((edit.first?.time ?? 0) >= 512)
    #expect(result.answer.length == nil)
  }

  @Test func oneFrameIsAFile() throws {
    for format in OutputFormat.allCases {
      let result = try file("format=\(format.rawValue)", frames: 1)
      #expect(!result.bytes.isEmpty, "\(format)")
      #expect(result.header("Nalu-Frames-Out") == "1")
      #expect(result.answer.contentType == format.contentType)
    }
  }

  @Test func flvBeginsWithMetadataAndTheConfigurationRecord() throws {
    let result = try file("format=flv")
    let bytes = result.bytes
    #expect(bytes.prefix(5) == [0x46, 0x4C, 0x56, 1, 1])
    var tags: [(type: UInt8, start: Int, size: Int, time: Int)] = []
    var position = 13
    while position + 11 <= bytes.count {
      let number = { (at: Int) in bytes[at..<at + 3].reduce(0) { $0 << 8 | Int($1) } }
      let size = number(position + 1)
      tags.append((bytes[position], position + 11, size, number(position + 4)))
      position += 11 + size + 4
    }
    // Nothing behind the last tag.
    #expect(position == bytes.count)
    #expect(tags[0].type == 18)
    #expect(tags[1].type == 9)
    #expect(bytes[tags[1].start + 1] == 0)
    #expect(tags.count == 2 + 25)
    let names = String(decoding: bytes[tags[0].start..<tags[0].start + tags[0].size], as: UTF8.self)
    for name in ["duration", "width", "height", "framerate", "videocodecid", "filesize"] {
      #expect(names.contains(name))
    }
    #expect(metadata("duration", in: bytes) == 1)
    #expect(metadata("filesize", in: bytes) == Double(bytes.count))
    #expect(metadata("framerate", in: bytes) == 25)
    #expect(metadata("videocodecid", in: bytes) == 7)
    #expect(metadata("width", in: bytes) == 64)
  }

  /// A number of onMetaData: the name, the marker 0 and eight bytes.
  private func metadata(_ name: String, in bytes: [UInt8]) -> Double? {
    let wanted = Array(name.utf8)
    guard
      let at = (0..<bytes.count - 32).first(where: {
        bytes[$0..<$0 + wanted.count].elementsEqual(wanted)
      })
    else { return nil }
    let start = at + wanted.count + 1
    return Double(bitPattern: bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) })
  }

  @Test func transportStreamsHaveDelimitersAndParameterSets() throws {
    let result = try file("format=mpegts")
    #expect(result.bytes.count % 188 == 0)
    #expect(
      stride(from: 0, to: result.bytes.count, by: 188).allSatisfy { result.bytes[$0] == 0x47 })
    #expect(throws: Problem.self) { try file("format=mpegts&repeat_headers=0") }
  }

  @Test func matroskaHasADurationAndCues() throws {
    let result = try file("format=mkv")
    #expect(result.bytes.prefix(4) == [0x1A, 0x45, 0xDF, 0xA3])
    // Duration: an element of eight bytes, in milliseconds.
    let at = try #require(
      (0..<1000).first { result.bytes[$0..<$0 + 3].elementsEqual([0x44, 0x89, 0x88]) })
    let bits = result.bytes[at + 3..<at + 11].reduce(0) { $0 << 8 | UInt64($1) }
    #expect(Double(bitPattern: bits) == 1000)
    let cues: [UInt8] = [0x1C, 0x53, 0xBB, 0x6B]
    #expect((0..<result.bytes.count - 4).contains { result.bytes[$0..<$0 + 4].elementsEqual(cues) })
  }
}
