import Codec
import Testing

@testable import NaluService

/// Real files of every format, made by the encode operation.
enum ContainerFile {
  static let formats: [OutputFormat] = [.avcc, .mp4, .fmp4, .flv, .mpegts, .mkv]
  static let containers: [OutputFormat] = [.mp4, .fmp4, .flv, .mpegts, .mkv]

  /// 45 frames of 64x48, ten to a group of pictures, two B-frames in a row.
  static func settings(_ format: OutputFormat) -> EncodeSettings {
    var settings = EncodeSettings()
    settings.width = 64
    settings.height = 48
    settings.gop = 10
    settings.bframes = 2
    settings.format = format
    return settings
  }

  static func make(_ format: OutputFormat, frames: Int = 45) throws -> [UInt8] {
    try encoded(frames: frames, settings(format))
  }

  /// Where the content of the first box of that name begins, wherever it is nested.
  static func content(of box: String, in file: [UInt8]) throws -> Int {
    let name = Array(box.utf8)
    let place = file.indices.dropLast(4).first { file[$0..<$0 + 4].elementsEqual(name) }
    return try #require(place) + 4
  }

  static func put(_ value: Int, at position: Int, in file: inout [UInt8]) {
    for byte in 0..<4 {
      file[position + byte] = UInt8(truncatingIfNeeded: value >> (24 - 8 * byte))
    }
  }
}

@Suite struct DecodeContainerTests {
  private func lines(_ file: [UInt8], _ frames: String = "all") throws -> [Substring] {
    let decoded = try decode(file, decodeSettings(["format": "framemd5", "frames": .init(frames)]))
    return String(decoding: decoded.bytes, as: UTF8.self).split(separator: "\n")
      .filter { !$0.hasPrefix("#") }
  }

  @Test(arguments: ContainerFile.formats)
  func framesAreThoseOfTheByteStream(format: OutputFormat) throws {
    let expected = try lines(ContainerFile.make(.h264))
    let file = try ContainerFile.make(format)
    #expect(expected.count == 45)
    #expect(try lines(file) == expected)
    for number in [0, 1, 9, 10, 13, 30, 44] {
      #expect(try lines(file, "\(number)") == [expected[number]])
    }
    #expect(try lines(file, "last") == [expected[44]])
    #expect(try lines(file, "3,8-12,31") == [3, 8, 9, 10, 11, 12, 31].map { expected[$0] })
    #expect(try lines(file, "keyframes") == [0, 10, 20, 30, 40].map { expected[$0] })
  }

  /// The rate is 25 a second.
  @Test(arguments: ContainerFile.containers)
  func aTimeIsThatOfTheContainer(format: OutputFormat) throws {
    let file = try ContainerFile.make(format)
    let all = try lines(file)
    for (time, number) in [("0", 0), ("0.039", 0), ("0.04", 1), ("0.5", 12), ("1.76", 44)] {
      #expect(try lines(file, "t:\(time)") == [all[number]])
    }
    let problem = #expect(throws: Problem.self) { try lines(file, "t:2.5") }
    #expect(problem?.code == .frameNotFound)
  }

  @Test(arguments: ContainerFile.formats, [1000, 70_000])
  func theUploadMayComeInAnyPieces(format: OutputFormat, piece: Int) throws {
    let file = try ContainerFile.make(format, frames: 12)
    var settings = DecodeSettings()
    settings.format = .yuv
    let whole = try decode(file, settings)
    #expect(whole.bytes.count == 12 * 64 * 48 * 3 / 2)
    #expect(try decode(file, settings, piece: piece).bytes == whole.bytes)
  }

  /// A matrix that turns by a quarter clockwise.
  private func turned() throws -> [UInt8] {
    var file = try ContainerFile.make(.mp4, frames: 2)
    let matrix = try ContainerFile.content(of: "tkhd", in: file) + 40
    for (index, value) in [0, 1 << 16, 0, -1 << 16, 0, 0, 48 << 16, 0].enumerated() {
      ContainerFile.put(value, at: matrix + 4 * index, in: &file)
    }
    return file
  }

  @Test func picturesAreTurnedAsTheContainerSays() throws {
    let file = try turned()
    let image = try decode(file, decodeSettings(["format": "png"]))
    #expect(image.number(16, 4) == 48)
    #expect(image.number(20, 4) == 64)
    let upright = try decode(file, decodeSettings(["format": "png", "rotate": "none"]))
    #expect(upright.number(16, 4) == 64)
  }

  @Test func rawFramesAreTurnedAsTheContainerSays() throws {
    let file = try turned()
    let settings = try decodeSettings(["format": "yuv", "frames": "0"])
    let turned = try decode(file, settings)
    #expect(turned.header("Nalu-Width") == "48")
    #expect(turned.header("Nalu-Height") == "64")
    let coded = try decode(
      file, decodeSettings(["format": "yuv", "frames": "0", "rotate": "none"]))
    #expect(coded.header("Nalu-Width") == "64")
    // The left column becomes the first row, from the bottom up.
    let column = (0..<48).map { coded.bytes[(47 - $0) * 64] }
    #expect(Array(turned.bytes[..<48]) == column)
    let chroma = (0..<24).map { coded.bytes[64 * 48 + (23 - $0) * 32] }
    #expect(Array(turned.bytes[(64 * 48)..<(64 * 48 + 24)]) == chroma)
  }

  /// The edit list begins five frames later.
  @Test func framesBeforeAnEditListHaveNoNumber() throws {
    var file = try ContainerFile.make(.mp4)
    let all = try lines(file)
    let track = try #require(BoxTree(file)["moov/trak"])
    let table = SampleTable(track)
    let edit = try ContainerFile.content(of: "elst", in: file)
    let tick = table.durations[0]
    // Version and flags, entry_count, segment_duration, media_time.
    let time = table.edits[0].time
    ContainerFile.put(40 * tick, at: edit + 8, in: &file)
    ContainerFile.put(time + 5 * tick, at: edit + 12, in: &file)
    let shown = try lines(file)
    #expect(shown.map { $0.suffix(32) } == all[5...].map { $0.suffix(32) })
    #expect(shown[0].hasPrefix("0,          0,          0,"))
    #expect(try lines(file, "3").map { $0.suffix(32) } == [all[8].suffix(32)])
    #expect(try lines(file, "t:0.4").map { $0.suffix(32) } == [all[15].suffix(32)])
    #expect(
      try lines(file, "keyframes").map { $0.suffix(32) }
        == [10, 20, 30, 40].map { all[$0].suffix(32) })
    let problem = #expect(throws: Problem.self) { try lines(file, "40") }
    #expect(problem?.code == .frameNotFound)
  }

  /// One tag of H.263 and one of MP3.
  @Test func aContainerWithoutH264IsNamedWithWhatItHas() {
    let header: [UInt8] = Array("FLV".utf8) + [1, 5, 0, 0, 0, 9, 0, 0, 0, 0]
    let video: [UInt8] = [9, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0x12, 0, 0, 0x84, 0, 0, 0, 0, 16]
    let audio: [UInt8] = [8, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0x2F, 1, 2, 0, 0, 0, 14]
    let problem = #expect(throws: Problem.self) { try decode(header + video + audio) }
    #expect(problem?.code == .unsupportedFeature)
    #expect(problem?.detail.contains("FLV") == true)
    #expect(problem?.detail.contains("flv1") == true)
    #expect(problem?.detail.contains("mp3") == true)
  }

  /// The frame is damaged in the middle; its place is that in the file.
  @Test func aDamagedPictureHasItsPlaceInTheContainer() throws {
    var file = try ContainerFile.make(.mp4)
    let table = SampleTable(try #require(BoxTree(file)["moov/trak"]))
    let start = table.chunkOffsets[0] + table.sizes[..<20].reduce(0, +)
    for index in start + 60..<start + table.sizes[20] - 4 { file[index] = 0xFF }
    let problem = #expect(throws: Problem.self) {
      try decode(file, decodeSettings(["format": "yuv", "on_error": "fail"]))
    }
    #expect(problem?.code == .undecodable)
    #expect(problem?.members.contains(.init("offset", start)) == true)
    let concealed = try decode(file, decodeSettings(["format": "framemd5"]))
    #expect(concealed.trailer("Nalu-Decode-Errors") != "0")
  }
}
