import Codec
import Testing

@testable import NaluService

/// Frames that are shown for times of their own, decoded in another order.
@Suite struct VariableRateTests {
  /// When each frame is shown, in milliseconds, and when the last one ends.
  private static let times = (0..<20).map { 40 * $0 } + (0..<10).map { 910 + 150 * $0 }
  private static let end = 910 + 10 * 150

  /// Of 25 a second to the times above.
  private static func stretched(_ time: Int) -> Int {
    time <= 760 ? time : 760 + (time - 760) / 40 * 150
  }

  /// An FLV file of such frames, with B-frames up to its end.
  private static func file() throws -> [UInt8] {
    var settings = ContainerFile.settings(.flv)
    settings.bframes = 3
    settings.gop = 100
    var file = FLVTags(try encoded(frames: 30, settings))
    let frames = file.tags.indices.filter { file.tags[$0].isFrame }
    let first = file.tags[frames[0]]
    // What is shown must not be decoded after that.
    let lead = 4 * 150
    for index in frames {
      let tag = file.tags[index]
      let shown = tag.time + compositionTime(tag) - first.time - compositionTime(first)
      let decoding = stretched(tag.time - first.time)
      let offset = stretched(shown) + lead - decoding
      file.tags[index].time = first.time + decoding
      for byte in 0..<3 {
        file.tags[index].data[2 + byte] = UInt8(truncatingIfNeeded: offset >> (16 - 8 * byte))
      }
    }
    return file.bytes
  }

  private static func compositionTime(_ tag: FLVTags.Tag) -> Int {
    tag.data[2..<5].reduce(0) { $0 << 8 | Int($1) }
  }

  private func check(_ mp4: [UInt8], end: Int) throws {
    let table = SampleTable(try #require(BoxTree(mp4)["moov/trak"]))
    let shown = table.presentations.sorted().map { $0 * 1000 / table.timescale }
    #expect(shown.map { $0 - shown[0] } == Self.times)
    #expect(table.presentations != table.presentations.sorted())
    // The media, the edit and the movie end when the last frame does.
    #expect(table.mediaDuration * 1000 == end * table.timescale)
    #expect((table.edits.last?.duration ?? 0) * 1000 == end * table.timescale)
  }

  @Test func theLastFrameLastsAsLongAsItShould() throws {
    let file = try Self.file()
    let first = try remux("format=mp4", file).bytes
    // FLV does not say how long its last frame is shown: as long as the one before.
    try check(first, end: Self.end)
    try check(try remux("format=mp4", first).bytes, end: Self.end)
    try check(
      try remux("format=mp4", remux("format=fmp4", first).bytes).bytes, end: Self.end)
    try check(
      try remux("format=mp4", remux("format=mkv", first).bytes).bytes, end: Self.end)
  }

  @Test func encodedAnewItIsTheSame() throws {
    let result = try transcode("preset=fast&bframes=3&format=mp4", Self.file()).bytes
    let table = SampleTable(try #require(BoxTree(result)["moov/trak"]))
    let shown = table.presentations.sorted().map { $0 * 1000 / table.timescale }
    #expect(shown.map { $0 - shown[0] } == Self.times)
    #expect(table.mediaDuration * 1000 == Self.end * table.timescale)
    #expect((table.edits.last?.duration ?? 0) * 1000 == Self.end * table.timescale)
  }
}
