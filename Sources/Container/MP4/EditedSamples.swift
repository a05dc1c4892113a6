/// The samples of a track as an edit list shows them: in the order in which they are to be decoded,
/// once more where a part is shown again.
///
/// One pass through the media takes all of it. Of several each takes what it needs, from a picture on
/// that can be decoded without others.
package struct EditedSamples: Sendable {
  package struct Item: Equatable, Sendable {
    /// The first byte of it in the file.
    package let offset: Int
    package let size: Int
    /// In ticks of the media.
    package let decoding: Int
    package let duration: Int
    package let isSync: Bool
    /// When it is shown, in ticks from the beginning of the presentation, and how long at most; nil
    /// when it is not.
    package let start: Int?
    package let longest: Int
    /// What came before it was another pass.
    package let beginsPass: Bool
  }

  private struct Pass: Sendable {
    let parts: ArraySlice<ShownParts.Part>
    /// Before the first sample that it needs, and the last one.
    var start: SampleTableCursor
    var isFound = false
    var last = -1
    var samples = 0
    var bytes = 0
  }

  private var passes: [Pass]
  private var pass = 0
  private var cursor: SampleTableCursor?

  /// - Parameters:
  ///   - shown: What the list says.
  ///   - isIndependent: The sample of that size at that byte is decoded without others: an IDR picture.
  package init(_ shown: ShownParts, isIndependent: (_ offset: Int, _ size: Int) -> Bool) {
    let begin = SampleTableCursor(shown.table)
    passes = shown.passes.map { Pass(parts: $0, start: begin) }
    if passes.count == 1 {
      passes[0].last = shown.table.sampleCount - 1
    } else {
      findPasses(from: begin, isIndependent)
    }
    measure()
  }

  private mutating func findPasses(
    from begin: SampleTableCursor, _ isIndependent: (_ offset: Int, _ size: Int) -> Bool
  ) {
    var cursor = begin
    // The last sample so far from which decoding may begin.
    var entry = begin
    while true {
      let before = cursor
      guard let sample = cursor.next() else { return }
      let time = sample.compositionTime
      let isEntry = sample.isSync && isIndependent(sample.offset, sample.size)
      if isEntry { entry = before }
      for index in passes.indices {
        guard let first = passes[index].parts.first, let last = passes[index].parts.last else {
          continue
        }
        if isEntry, !passes[index].isFound, time <= first.media.lowerBound {
          passes[index].start = before
        }
        guard first.media.lowerBound <= time, time < last.media.upperBound else { continue }
        if !passes[index].isFound {
          passes[index].isFound = true
          passes[index].start = entry
        }
        passes[index].last = sample.index
      }
    }
  }

  /// Adds up what the passes take.
  private mutating func measure() {
    passes.removeAll { $0.last < 0 }
    for index in passes.indices {
      var cursor = passes[index].start
      while let sample = cursor.next(), sample.index <= passes[index].last {
        passes[index].samples += 1
        passes[index].bytes = passes[index].bytes.addingClamped(sample.size)
      }
    }
  }

  /// Samples in all, those that are taken again counted again.
  package var count: Int { passes.reduce(0) { $0 + $1.samples } }

  /// Their bytes.
  package var bytes: Int { passes.reduce(0) { $0.addingClamped($1.bytes) } }

  package var isInOnePass: Bool { passes.count <= 1 }

  /// The next one to be decoded.
  package mutating func next() -> Item? {
    while pass < passes.count {
      let beginsPass = cursor == nil
      var current = cursor ?? passes[pass].start
      guard let sample = current.next(), sample.index <= passes[pass].last else {
        cursor = nil
        pass += 1
        continue
      }
      cursor = current
      let time = sample.compositionTime
      let part = passes[pass].parts.part(of: time)
      return Item(
        offset: sample.offset, size: sample.size, decoding: sample.dts ?? 0,
        duration: sample.duration ?? 0, isSync: sample.isSync,
        start: part.map { $0.start + time - $0.media.lowerBound },
        longest: part.map { $0.end - $0.start } ?? .max, beginsPass: beginsPass && pass > 0)
    }
    return nil
  }
}

extension MediaSample {
  /// When it is shown, in ticks of the media.
  fileprivate var compositionTime: Int { (dts ?? 0).addingClamped(compositionOffset ?? 0) }
}
