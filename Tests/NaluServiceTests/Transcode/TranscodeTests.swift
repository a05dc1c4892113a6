import Codec
import Testing

@testable import NaluService

@Suite struct TranscodeTests {
  private static let everyPair = OutputFormat.allCases.flatMap { input in
    OutputFormat.allCases.map { (input, $0) }
  }

  @Test(arguments: everyPair)
  func losslessKeepsEveryFrame(input: OutputFormat, output: OutputFormat) throws {
    let file = try ContainerFile.make(input, frames: 12)
    let result = try transcode("qp=0&preset=ultrafast&format=\(output.rawValue)", file)
    #expect(try digests(result.bytes) == digests(file))
    #expect(result.trailer("Nalu-Frames-In") == "12")
    #expect(result.trailer("Nalu-Frames-Out") == "12")
    #expect(result.trailer("Nalu-Decode-Errors") == "0")
    #expect(result.answer.contentType == output.contentType)
  }

  @Test func theRateGoesAlong() throws {
    var settings = ContainerFile.settings(.mkv)
    settings.frameRate = Rational(30_000, 1001)
    let file = try encoded(frames: 20, settings)
    let result = try transcode("preset=ultrafast&format=mp4", file)
    let table = SampleTable(try #require(BoxTree(result.bytes)["moov/trak"]))
    #expect(table.timescale % 30_000 == 0)
    #expect(table.durations == Array(repeating: table.timescale / 30_000 * 1001, count: 20))
    #expect(table.presentations.min() == 0)
  }

  /// The fifth frame is shown for a whole second, of a rate of 25.
  private func pausing() throws -> [UInt8] {
    var settings = ContainerFile.settings(.flv)
    settings.bframes = 0
    var file = FLVTags(try encoded(frames: 10, settings))
    var number = 0
    for index in file.tags.indices where file.tags[index].isFrame {
      if number > 4 { file.tags[index].time += 960 }
      number += 1
    }
    return file.bytes
  }

  @Test(arguments: [(OutputFormat.mp4, Demuxer.Format.mov), (.mkv, .matroska), (.flv, .flv)])
  func framesOfVaryingDurationKeepTheirTimes(
    format: OutputFormat, demuxer: Demuxer.Format
  ) throws {
    let file = try pausing()
    let result = try transcode("qp=0&preset=ultrafast&format=\(format.rawValue)", file)
    #expect(try digests(result.bytes) == digests(file))
    let times = try packets(of: result.bytes, demuxer).map(\.time).sorted()
    #expect(times == [0, 40, 80, 120, 160, 1160, 1200, 1240, 1280, 1320])
  }

  @Test func aRateRepeatsFramesWhereTimePasses() throws {
    let file = try pausing()
    let all = try digests(file)
    let result = try transcode("qp=0&preset=ultrafast&fps=25", file)
    let expected = (0..<34).map { all[$0 < 4 ? $0 : $0 < 29 ? 4 : $0 - 24] }
    #expect(try digests(result.bytes) == expected)
    #expect(result.trailer("Nalu-Frames-In") == "10")
    #expect(result.trailer("Nalu-Frames-Out") == "34")
  }

  /// Of 45 frames at 25 a second.
  @Test(
    arguments: [
      ("50", (0..<90).map { $0 / 2 }),
      ("5", [2, 7, 12, 17, 22, 27, 32, 37, 42]),
    ] as [(String, [Int])])
  func aRateDropsAndRepeatsFramesByTheirTimes(rate: String, frames: [Int]) throws {
    let file = try ContainerFile.make(.mp4)
    let all = try digests(file)
    let result = try transcode("qp=0&preset=ultrafast&fps=\(rate)", file)
    let numbers = try digests(result.bytes).map { digest in all.firstIndex(of: digest) ?? -1 }
    #expect(numbers.count == frames.count)
    #expect(numbers == frames)
  }

  @Test(
    arguments: [
      ("start=0.4", 10..<45), ("start=0.41", 11..<45), ("duration=0.4", 0..<10),
      ("start=0.2&duration=0.5", 5..<18), ("start=1.76", 44..<45), ("duration=0.01", 0..<1),
    ])
  func aPartIsCutByItsTimes(query: String, frames: Range<Int>) throws {
    for input in [OutputFormat.h264, .mp4, .mpegts] {
      let file = try ContainerFile.make(input)
      let all = try digests(file)
      let result = try transcode("qp=0&preset=ultrafast&format=mp4&\(query)", file)
      #expect(try digests(result.bytes) == Array(all[frames]))
      let table = SampleTable(try #require(BoxTree(result.bytes)["moov/trak"]))
      #expect(table.presentations.min() == 0)
    }
  }

  @Test func aStartBehindTheEndIsRefused() throws {
    let problem = #expect(throws: Problem.self) {
      try transcode("start=2", ContainerFile.make(.mp4))
    }
    #expect(problem?.code == .frameNotFound)
    #expect(problem?.parameter == "start")
  }

  @Test func picturesAreScaled() throws {
    let file = try ContainerFile.make(.mkv, frames: 3)
    let result = try transcode("width=32&preset=ultrafast", file)
    let decoded = try decode(result.bytes, decodeSettings(["format": "yuv"]))
    #expect(decoded.header("Nalu-Width") == "32")
    #expect(decoded.header("Nalu-Height") == "24")
    #expect(decoded.trailer("Nalu-Frames-Out") == "3")
  }

  @Test func colourAndShapeGoAlong() throws {
    var settings = ContainerFile.settings(.h264)
    settings.colour.range = .pc
    settings.colour.matrix = .bt470bg
    settings.colour.primaries = .bt470bg
    settings.colour.transfer = .smpte170m
    settings.sampleAspectRatio = Rational(12, 11)
    let file = try encoded(frames: 2, settings)
    let result = try transcode("qp=0&preset=ultrafast", file)
    #expect(try digests(result.bytes) == digests(file))
    let report = String(decoding: try inspect(result.bytes), as: UTF8.self)
    for element in [
      "\"video_full_range_flag\":1", "\"colour_primaries\":5", "\"transfer_characteristics\":6",
      "\"matrix_coefficients\":5", "\"sample_aspect_ratio\":\"12:11\"",
    ] {
      #expect(report.contains(element))
    }
    let other = try transcode("preset=ultrafast&sar=1:1&color_range=tv", file)
    let changed = String(decoding: try inspect(other.bytes), as: UTF8.self)
    #expect(changed.contains("\"video_full_range_flag\":0"))
    #expect(changed.contains("\"sample_aspect_ratio\":\"1:1\""))
  }

  @Test func tenBitsStayTen() throws {
    var samples: [UInt8] = []
    for sample in 0..<(2 * 64 * 48 * 2) {
      samples.append(UInt8(truncatingIfNeeded: sample))
      samples.append(UInt8(sample / 256 % 4))
    }
    let file = try encode(
      "width=64&height=48&pix_fmt=yuv422p10le&preset=ultrafast", samples
    ).bytes
    let result = try transcode("qp=0&preset=ultrafast&format=mp4", file)
    #expect(try digests(result.bytes) == digests(file))
  }

  @Test(arguments: [OutputFormat.mp4, .h264, .mkv])
  func rotationIsKept(format: OutputFormat) throws {
    var file = try ContainerFile.make(.mp4, frames: 2)
    let matrix = try ContainerFile.content(of: "tkhd", in: file) + 40
    for (index, value) in [0, 1 << 16, 0, -1 << 16, 0, 0, 48 << 16, 0].enumerated() {
      ContainerFile.put(value, at: matrix + 4 * index, in: &file)
    }
    let result = try transcode("qp=0&preset=ultrafast&format=\(format.rawValue)", file)
    // Turned as the file says, or already turned.
    #expect(try digests(result.bytes) == digests(file))
    if format == .mp4 {
      let place = try ContainerFile.content(of: "tkhd", in: result.bytes) + 40
      #expect(result.bytes[place..<place + 20].elementsEqual(file[matrix..<matrix + 20]))
    } else {
      let coded = try decode(result.bytes, decodeSettings(["format": "yuv", "rotate": "none"]))
      #expect(coded.header("Nalu-Width") == "48")
    }
  }

  @Test func forcedKeyframesCountWhatComesOut() throws {
    let file = try ContainerFile.make(.mp4)
    let result = try transcode(
      "preset=ultrafast&format=mp4&fps=50&gop=1000&force_keyframes=7", file)
    let table = SampleTable(try #require(BoxTree(result.bytes)["moov/trak"]))
    #expect(table.keyframes == [0, 7])
  }

  @Test(
    arguments: [
      ("audio=copy", "audio"), ("duration=0", "duration"), ("qp=0&profile=main", "profile"),
      ("pix_fmt=nv12", "pix_fmt"), ("bitrate=1M&crf=20", "crf"),
    ])
  func whatDoesNotGoTogetherIsRefused(query: String, parameter: String) throws {
    let file = try ContainerFile.make(.mp4, frames: 2)
    let problem = #expect(throws: Problem.self) { try transcode(query, file) }
    #expect(problem?.status == 400)
    #expect(problem?.parameter == parameter)
  }

  @Test func repeatingForEverIsRefused() throws {
    var file = FLVTags(try ContainerFile.make(.flv, frames: 3))
    let last = try #require(file.tags.lastIndex { $0.isFrame })
    file.tags[last].time = 1 << 30
    var limits = Limits()
    limits.maxFrames = 500
    let problem = #expect(throws: Problem.self) {
      try transcode("preset=ultrafast&fps=25", file.bytes, limits: limits)
    }
    #expect(problem?.code == .tooManyFrames)
  }
}
