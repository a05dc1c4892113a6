/// What an edit list (ISO/IEC 14496-12 §8.6.6) shows of a track: several parts of its media, each
/// behind the one before it.
package struct ShownParts: Equatable, Sendable {
  /// In ticks of the track.
  struct Part: Equatable, Sendable {
    /// Of the media: what begins there is shown.
    let media: Range<Int>
    /// From the beginning of the presentation on.
    let start: Int
    let end: Int
  }

  let parts: [Part]
  /// track_ID.
  package let track: Int
  /// The first byte of the list's box in the file.
  package let offset: Int

  /// What is longer is no recording.
  private static let longest = 1 << 50

  /// Nil for a list that is something else: one part, parts that repeat or are out of order, other
  /// rates.
  init?(
    _ edits: [ContainerTrack.Edit], of track: Int, at offset: Int, timeScale: Int,
    movieTimeScale: Int
  ) {
    guard movieTimeScale > 0 else { return nil }
    // By half a tick of the movie durations may be too long.
    let rounding = timeScale / (2 * movieTimeScale)
    var parts: [Part] = []
    var time = 0
    for edit in edits {
      let next = time.addingClamped(edit.duration)
      guard let start = time.scaled(timeScale, by: movieTimeScale), start < Self.longest,
        let end = next.scaled(timeScale, by: movieTimeScale), end < Self.longest
      else { return nil }
      time = next
      if edit.mediaTime == -1 { continue }
      guard edit.rate == 0x1_0000, edit.mediaTime >= parts.last?.media.upperBound ?? 0,
        edit.mediaTime < Self.longest, end - start > rounding
      else { return nil }
      let media = edit.mediaTime..<edit.mediaTime + end - start - rounding
      parts.append(Part(media: media, start: start, end: end))
    }
    guard parts.count > 1 else { return nil }
    self.parts = parts
    self.track = track
    self.offset = offset
  }

  /// When what begins at `time` of the media is shown, and when its part ends; nil when it is not.
  package func place(of time: Int) -> (start: Int, end: Int)? {
    var low = 0
    var high = parts.count
    while low < high {
      let middle = (low + high) / 2
      if parts[middle].media.lowerBound <= time { low = middle + 1 } else { high = middle }
    }
    guard low > 0, parts[low - 1].media.contains(time) else { return nil }
    let part = parts[low - 1]
    return (part.start + time - part.media.lowerBound, part.end)
  }
}
