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

  /// The file with these edits of its first track. Its index stands at the end then.
  static func make(_ file: [UInt8], _ edits: [Edit]) throws -> [UInt8] {
    let root = BoxTree(file)
    let movie = try #require(root["moov"])
    let track = try #require(root["moov/trak"])
    let list = try #require(root["moov/trak/edts"])
    let table = SampleTable(track)
    let tick = table.durations[0]
    let start = table.edits[0].time
    let entries = edits.flatMap { edit in
      bigEndian(edit.count * tick, 4) + bigEndian(edit.first.map { start + $0 * tick } ?? -1, 4)
        + bigEndian(0x10000, 4)
    }
    let newList = MP4Builder.box(
      "edts", MP4Builder.full("elst", bigEndian(edits.count, 4) + entries))
    let before = file[track.content.lowerBound..<list.content.lowerBound - 8]
    let after = file[list.content.upperBound..<track.content.upperBound]
    let newTrack = MP4Builder.box("trak", Array(before) + newList + Array(after))
    let newMovie = MP4Builder.box(
      "moov",
      Array(file[movie.content.lowerBound..<track.content.lowerBound - 8]) + newTrack
        + Array(file[track.content.upperBound..<movie.content.upperBound]))
    // The samples stay where they are.
    var result = file
    result.replaceSubrange(
      movie.content.lowerBound - 4..<movie.content.lowerBound, with: Array("free".utf8))
    return result + newMovie
  }

  /// A hundred frames, of which some are shown.
  static func make(_ edits: [Edit], bframes: Int = 2) throws -> [UInt8] {
    let media = try encode(
      "width=64&height=48&fps=25&gop=10&preset=fast&bframes=\(bframes)&format=mp4",
      movingPictures(64, 48, count: 100))
    return try make(media.bytes, edits)
  }
}
