import Codec
import Container
import Testing

@testable import NaluService

@Suite struct TranscodeAudioTests {
  /// 45 frames at 25 a second, and 78 of sound.
  private func file(_ format: String = "flv") throws -> [UInt8] {
    var tags = FLVTags(try ContainerFile.make(.flv))
    tags.addSound(count: 78)
    let flv = tags.bytes
    return format == "flv" ? flv : try transcode("preset=ultrafast&format=\(format)", flv).bytes
  }

  private struct Sound {
    var times: [Int]
    var numbers: [Int]
  }

  private func sound(_ file: [UInt8], _ format: Demuxer.Format) throws -> Sound {
    let frames = try packets(of: file, format).filter { $0.track == 1 }
    // In a transport stream each has a header of seven bytes.
    let header = format == .mpegts ? 7 : 0
    return Sound(times: frames.map(\.time), numbers: frames.map { Int($0.bytes[header + 1]) })
  }

  /// When the first picture is shown.
  private func firstPicture(_ file: [UInt8], _ format: Demuxer.Format) throws -> Int {
    try #require(packets(of: file, format).filter { $0.track == 0 }.map(\.time).min())
  }

  private static let outputs: [(OutputFormat, Demuxer.Format)] = [
    (.mp4, .mov), (.fmp4, .mov), (.mkv, .matroska), (.flv, .flv), (.mpegts, .mpegts),
  ]

  private func time(_ frame: Int) -> Int { Int((Double(frame) * 1024_000 / 44_100).rounded()) }

  @Test(arguments: outputs)
  func soundGoesAlongInTime(format: OutputFormat, demuxer: Demuxer.Format) throws {
    let file = try file()
    let result = try transcode("preset=ultrafast&format=\(format.rawValue)", file)
    let copied = try sound(result.bytes, demuxer)
    #expect(copied.numbers == Array(0..<78))
    let before = try firstPicture(file, .flv)
    let after = try firstPicture(result.bytes, demuxer)
    for (frame, time) in copied.times.enumerated() {
      #expect(abs(time - after - (self.time(frame) - before)) <= 1)
    }
  }

  @Test(arguments: ["mp4", "mkv", "mpegts"])
  func soundComesOutOfEveryContainer(format: String) throws {
    let result = try transcode("preset=ultrafast&format=mp4", file(format))
    let copied = try sound(result.bytes, .mov)
    #expect(copied.numbers == Array(0..<78))
    for (frame, time) in copied.times.enumerated() { #expect(abs(time - self.time(frame)) <= 1) }
  }

  /// From 0.4 s on, frame 17.2 of the sound; for half a second.
  @Test func soundIsCutLikeThePictures() throws {
    let result = try transcode("preset=ultrafast&format=mp4&start=0.4&duration=0.5", file())
    let copied = try sound(result.bytes, .mov)
    #expect(copied.numbers == Array(18..<39))
    for (frame, time) in zip(18..., copied.times) {
      #expect(abs(time - (self.time(frame) - 400)) <= 1)
    }
  }

  @Test func soundIsLeftOutWhenItIsNotWanted() throws {
    let result = try transcode("preset=ultrafast&format=mp4&audio=none", file())
    #expect(try packets(of: result.bytes, .mov).allSatisfy { $0.track == 0 })
    let bare = try transcode("preset=ultrafast", file())
    #expect(try digests(bare.bytes).count == 45)
  }

  @Test func soundWithoutAPlaceIsNamed() throws {
    var tags = FLVTags(try ContainerFile.make(.flv, frames: 5))
    tags.addSound(count: 3)
    for index in tags.tags.indices where tags.tags[index].type == 8 {
      tags.tags[index].data = [0x3F] + Array(repeating: 0x5A, count: 40)
    }
    let result = try transcode("preset=ultrafast&format=mp4", tags.bytes)
    #expect(result.header("Nalu-Note")?.contains("pcm_s16le") == true)
    #expect(try packets(of: result.bytes, .mov).count == 5)
  }

  @Test(
    arguments: [
      ([0x12, 0x10], 44_100), ([0x11, 0x88], 48_000), ([0x2B, 0x92, 0x08, 0x00], 22_050),
      ([0x17, 0x80, 0x5D, 0xC0, 0x10], 48_000),
    ] as [([UInt8], Int)])
  func theRateOfTheCoreIsRead(bytes: [UInt8], rate: Int) {
    #expect(AudioSpecificConfig(bytes)?.sampleRate == rate)
    #expect(AudioSpecificConfig(bytes)?.outputRate == (bytes.count == 4 ? 44_100 : rate))
    for count in 0..<2 { #expect(AudioSpecificConfig(Array(bytes[..<count])) == nil) }
  }

  /// FLV has no way to say 48000 Hz of AAC but in its configuration.
  @Test func soundOf48000HertzKeepsItsTimes() throws {
    var tags = FLVTags(try ContainerFile.make(.flv))
    tags.addSound(count: 78)
    var number = 0
    for index in tags.tags.indices where tags.tags[index].type == 8 {
      if tags.tags[index].data[1] == 0 {
        tags.tags[index].data = [0xAF, 0, 0x11, 0x90]
      } else {
        tags.tags[index].time = Int((Double(number) * 1024 / 48).rounded())
        number += 1
      }
    }
    let result = try transcode("preset=ultrafast&format=mp4", tags.bytes)
    let times = try sound(result.bytes, .mov).times
    #expect(times.count == 78)
    for (frame, time) in times.enumerated() {
      #expect(abs(time - Int((Double(frame) * 1024 / 48).rounded())) <= 1)
    }
  }
}
