internal import Codec

/// What of the first track of an MP4 file is shown, where that is not simply all from some time on: an
/// edit list of several entries (ISO/IEC 14496-12 §8.6.6), which libavformat does not write.
struct MovieEdits: Equatable, Sendable {
  struct Entry: Equatable, Sendable {
    /// When what is shown begins, as samples have it; nil: nothing is shown.
    var start: Int?
    var duration: Int
  }

  var entries: [Entry]
  /// Seconds per unit.
  var timeBase: Rational
  /// When the first sample is decoded: media time counts from there.
  var mediaStart: Int

  /// The `moov` box with this edit list, and the durations that come of it.
  func applied(to movie: [UInt8]) -> [UInt8] {
    let boxes = MovieIndex.boxes(movie, 8..<movie.count)
    guard let header = boxes.first(where: { $0.type == "mvhd" }),
      let track = boxes.first(where: { $0.type == "trak" })
    else { return movie }
    let scale = Self.timescale(movie, header.content)
    let list = list(scale, mediaScale: Self.mediaScale(movie, track.content))
    let others = boxes.filter { $0.type == "trak" && $0.whole != track.whole }
      .map { Self.trackDuration(movie, $0.content) }
    var result: [UInt8] = []
    for box in boxes {
      if box.whole == header.whole {
        var changed = Array(movie[box.whole])
        Self.put(max(list.duration, others.max() ?? 0), in: &changed, at: (8 + 16, 8 + 24))
        result += changed
      } else if box.whole == track.whole {
        result += Self.track(movie, track.content, list)
      } else {
        result += movie[box.whole]
      }
    }
    return Self.box("moov", result)
  }

  private struct List {
    var bytes: [UInt8]
    /// Of what is shown, in ticks of the movie.
    var duration: Int
  }

  private func list(_ scale: Int, mediaScale: Int) -> List {
    var bytes: [UInt8] = [1, 0, 0, 0]
    MovieIndex.append(entries.count, 4, to: &bytes)
    var position = 0
    for entry in entries {
      // Rounding must not add up.
      let start = ticks(position, scale)
      position += entry.duration
      MovieIndex.append(ticks(position, scale) - start, 8, to: &bytes)
      MovieIndex.append(entry.start.map { ticks($0 - mediaStart, mediaScale) } ?? -1, 8, to: &bytes)
      MovieIndex.append(1 << 16, 4, to: &bytes)
    }
    return List(bytes: Self.box("edts", Self.box("elst", bytes)), duration: ticks(position, scale))
  }

  private func ticks(_ time: Int, _ scale: Int) -> Int {
    let ticks = Int128(time) * Int128(timeBase.numerator) * Int128(scale)
    let divisor = Int128(timeBase.denominator)
    return Int(clamping: (2 * ticks + divisor) / (2 * divisor))
  }

  private static func track(_ movie: [UInt8], _ content: Range<Int>, _ list: List) -> [UInt8] {
    var result: [UInt8] = []
    for box in MovieIndex.boxes(movie, content) where box.type != "edts" {
      var bytes = Array(movie[box.whole])
      if box.type == "tkhd" {
        put(list.duration, in: &bytes, at: (8 + 20, 8 + 28))
        bytes += list.bytes
      }
      result += bytes
    }
    return box("trak", result)
  }

  private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
    var box: [UInt8] = []
    MovieIndex.append(8 + content.count, 4, to: &box)
    return box + type.utf8 + content
  }

  /// Changes a duration that is at the first place in version 0 of a box, at the second in version 1.
  private static func put(_ duration: Int, in box: inout [UInt8], at places: (Int, Int)) {
    let isLong = box[8] == 1
    let size = isLong ? 8 : 4
    var bytes: [UInt8] = []
    MovieIndex.append(isLong ? duration : min(duration, Int(UInt32.max)), size, to: &bytes)
    let place = isLong ? places.1 : places.0
    box.replaceSubrange(place..<place + size, with: bytes)
  }

  private static func timescale(_ movie: [UInt8], _ header: Range<Int>) -> Int {
    let isLong = movie[header.lowerBound] == 1
    return MovieIndex.integer(movie, header.lowerBound + (isLong ? 20 : 12), 4)
  }

  private static func mediaScale(_ movie: [UInt8], _ track: Range<Int>) -> Int {
    let media = MovieIndex.boxes(movie, track).first { $0.type == "mdia" }
    let header = media.flatMap {
      MovieIndex.boxes(movie, $0.content).first { $0.type == "mdhd" }
    }
    return header.map { timescale(movie, $0.content) } ?? 0
  }

  private static func trackDuration(_ movie: [UInt8], _ track: Range<Int>) -> Int {
    guard let header = MovieIndex.boxes(movie, track).first(where: { $0.type == "tkhd" }) else {
      return 0
    }
    let isLong = movie[header.content.lowerBound] == 1
    return MovieIndex.integer(
      movie, header.content.lowerBound + (isLong ? 28 : 20), isLong ? 8 : 4)
  }
}
