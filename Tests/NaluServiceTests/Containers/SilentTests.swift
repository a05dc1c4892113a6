import Codec
import Testing

@testable import NaluService

/// When pictures are shown, with the sound that began before them and without it.
@Suite struct SilentTests {
  /// Pictures begin 100 milliseconds after the sound.
  private func file() throws -> [UInt8] {
    var settings = ContainerFile.settings(.flv)
    settings.bframes = 0
    var tags = FLVTags(try encoded(frames: 20, settings))
    for index in tags.tags.indices where tags.tags[index].isFrame { tags.tags[index].time += 100 }
    tags.addSound(count: 40)
    return tags.bytes
  }

  private static let outputs: [(OutputFormat, Demuxer.Format)] = [
    (.mp4, .mov), (.fmp4, .mov), (.mkv, .matroska), (.flv, .flv),
  ]

  private func firsts(_ file: [UInt8], _ format: Demuxer.Format) throws -> [Int] {
    let all = try packets(of: file, format)
    return Set(all.map(\.track)).sorted().map { track in
      all.filter { $0.track == track }.map(\.time).min() ?? -1
    }
  }

  @Test(arguments: outputs)
  func thePicturesBeginAtZeroWhenNothingElseIsThere(
    format: OutputFormat, demuxer: Demuxer.Format
  ) throws {
    let file = try file()
    let kept = try remux("format=\(format.rawValue)", file).bytes
    #expect(try firsts(kept, demuxer) == [100, 0])
    let silent = try remux("format=\(format.rawValue)&audio=none", file).bytes
    #expect(try firsts(silent, demuxer) == [0])
    let encoded = try transcode(
      "preset=ultrafast&bframes=0&format=\(format.rawValue)&audio=none", file)
    #expect(try firsts(encoded.bytes, demuxer) == [0])
    #expect(try digests(encoded.bytes).count == 20)
  }
}
