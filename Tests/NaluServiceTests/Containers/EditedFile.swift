import Testing

@testable import NaluService

/// Files that show other parts of their media than all of it.
enum EditedFile {
  /// What an edit list of an MP4 file of our own shows.
  struct Edit {
    /// Number of a frame, in output order; nil: nothing is shown.
    var first: Int?
    /// Frames that it lasts.
    var count: Int
  }

  /// The file with these edits of its first track, and of its sound too if that is wanted. Its index
  /// stands at the end then.
  static func make(_ file: [UInt8], _ edits: [Edit], isOfSound: Bool = false) throws -> [UInt8] {
    let root = BoxTree(file)
    let movie = try #require(root["moov"])
    let scale = try #require(movie["mvhd"]).number(12)
    var boxes: [UInt8] = []
    var isFirst = true
    for box in movie.children {
      if box.type == "trak", isFirst || isOfSound {
        boxes += edited(box, edits, scale)
        isFirst = false
      } else {
        boxes += box.bytes[box.content.lowerBound - 8..<box.content.upperBound]
      }
    }
    let newMovie = MP4Builder.box("moov", boxes)
    // The samples stay where they are.
    var result = file
    result.replaceSubrange(
      movie.content.lowerBound - 4..<movie.content.lowerBound, with: Array("free".utf8))
    return result + newMovie
  }

  /// A track with these edits.
  private static func edited(_ track: BoxTree, _ edits: [Edit], _ movieScale: Int) -> [UInt8] {
    let table = SampleTable(track)
    let start = table.edits.first?.time ?? 0
    let entries = edits.flatMap { edit in
      bigEndian(edit.count * movieScale / 25, 4)
        + bigEndian(edit.first.map { start + $0 * table.timescale / 25 } ?? -1, 4)
        + bigEndian(0x10000, 4)
    }
    let list = MP4Builder.box(
      "edts", MP4Builder.full("elst", bigEndian(edits.count, 4) + entries))
    let rest = track.children.filter { $0.type != "edts" }.flatMap {
      $0.bytes[$0.content.lowerBound - 8..<$0.content.upperBound]
    }
    return MP4Builder.box("trak", list + rest)
  }

  /// The file of our own with the times of its pictures counted from the first on: some are shown
  /// before they are decoded (version 1 of `ctts`).
  static func withNegativeOffsets(_ file: [UInt8]) throws -> [UInt8] {
    let root = BoxTree(file)
    let delay = SampleTable(try #require(root["moov/trak"])).edits[0].time
    let offsets = try #require(root["moov/trak/mdia/minf/stbl/ctts"])
    let list = try #require(root["moov/trak/edts/elst"])
    var result = file
    result[offsets.content.lowerBound] = 1
    for entry in 0..<offsets.number(4) {
      let place = offsets.content.lowerBound + 12 + 8 * entry
      ContainerFile.put(offsets.signed(12 + 8 * entry) - delay, at: place, in: &result)
    }
    let isLong = list.number(0, 1) == 1
    ContainerFile.put(0, at: list.content.lowerBound + (isLong ? 20 : 12), in: &result)
    return result
  }

  /// A hundred frames, of which some are shown.
  static func make(_ edits: [Edit], bframes: Int = 2) throws -> [UInt8] {
    let media = try encode(
      "width=64&height=48&fps=25&gop=10&preset=fast&bframes=\(bframes)&format=mp4",
      movingPictures(64, 48, count: 100))
    return try make(media.bytes, edits)
  }
}
