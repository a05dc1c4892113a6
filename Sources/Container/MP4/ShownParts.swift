/// What an edit list (ISO/IEC 14496-12 §8.6.6) shows of a track: several parts of its media, in any
/// order, which may have some of it in common.
package struct ShownParts: Sendable {
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
  /// The samples of the track.
  let table: SampleTable

  /// What is longer is no recording.
  private static let longest = 1 << 50

  /// Nil for a list that is something else: one part, or other rates.
  init?(
    _ edits: [ContainerTrack.Edit], of track: Int, at offset: Int, timeScale: Int,
    movieTimeScale: Int, _ table: SampleTable
  ) {
    guard movieTimeScale > 0, table.hasOneDescription else { return nil }
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
      guard edit.rate == 0x1_0000, edit.mediaTime >= 0, edit.mediaTime < Self.longest,
        end - start > rounding
      else { return nil }
      let media = edit.mediaTime..<edit.mediaTime + end - start - rounding
      parts.append(Part(media: media, start: start, end: end))
    }
    guard parts.count > 1 else { return nil }
    self.parts = parts
    self.track = track
    self.offset = offset
    self.table = table
  }

  /// When the first of them is shown, in ticks of the track.
  package var start: Int { parts[0].start }

  /// What it takes to find out which samples are needed.
  package var passesTimesSamples: Int {
    let (product, overflows) = passes.count.multipliedReportingOverflow(by: table.sampleCount)
    return overflows ? .max : product
  }

  /// Bytes of memory that the tables take.
  package var heldBytes: Int { table.bytes }

  /// Parts that can be shown in one pass through the media: each behind the one before it there.
  var passes: [ArraySlice<Part>] {
    var passes: [ArraySlice<Part>] = []
    var first = 0
    for index in parts.indices.dropFirst()
    where parts[index].media.lowerBound < parts[index - 1].media.upperBound {
      passes.append(parts[first..<index])
      first = index
    }
    return passes + [parts[first...]]
  }
}

extension ArraySlice<ShownParts.Part> {
  /// The one that shows what begins at `time` of the media; they must be in the order of the media.
  func part(of time: Int) -> ShownParts.Part? {
    var low = startIndex
    var high = endIndex
    while low < high {
      let middle = (low + high) / 2
      if self[middle].media.lowerBound <= time { low = middle + 1 } else { high = middle }
    }
    guard low > startIndex, self[low - 1].media.contains(time) else { return nil }
    return self[low - 1]
  }
}
