extension DecodeIndex {
  /// The index without frames that an edit list leaves out and that nothing shown refers to.
  func withoutUnneeded() -> DecodeIndex {
    guard shownCount != nil else { return self }
    let isKept = needs
    guard isKept.contains(false) else { return self }
    var index = self
    index.entries = zip(entries, isKept).compactMap { $1 ? $0 : nil }
    let byOrder = index.entries.indices.sorted { index.entries[$0].order < index.entries[$1].order }
    for (order, entry) in byOrder.enumerated() { index.entries[entry].order = order }
    index.hideFrames(byOrder)
    return index
  }

  /// For each frame, whether it stays.
  private var needs: [Bool] {
    var kept = [Bool](repeating: true, count: entries.count)
    var sets = parameterSets[...]
    /// A later frame may refer to this one.
    var isNeeded = false
    /// A later frame stays.
    var isFollowed = false
    for place in entries.indices.reversed() {
      let frame = entries[place]
      let end = frame.offset + Int(frame.size)
      while let last = sets.last, last.offset >= end { sets.removeLast() }
      let hasSets = sets.last.map { $0.offset >= frame.offset } ?? false
      kept[place] =
        !frame.flags.contains(.hidden) || isFollowed && hasSets
        || isNeeded && !frame.flags.contains(.disposable)
      isFollowed = isFollowed || kept[place]
      isNeeded = (isNeeded || kept[place]) && !frame.flags.contains(.idr)
    }
    keepBetweenIDR(&kept)
    return kept
  }

  /// Two IDR pictures in a row must differ in idr_pic_id (H.264 §7.4.3), so what was between two is
  /// not taken away.
  private func keepBetweenIDR(_ kept: inout [Bool]) {
    var previous: Int?
    for place in entries.indices where kept[place] {
      if let previous, place - previous > 1, entries[previous].flags.contains(.idr),
        entries[place].flags.contains(.idr)
      {
        for between in previous..<place { kept[between] = true }
      }
      previous = place
    }
  }
}
