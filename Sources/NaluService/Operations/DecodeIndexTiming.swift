internal import Codec

/// When frames are shown.
struct FrameTiming: Sendable {
  /// Seconds per unit.
  var timeBase: Rational
  /// By the number of the frame, from the beginning of the presentation on; ascending.
  var starts: [Int]
  /// How long the last frame is shown.
  var lastDuration: Int

  /// When the last frame ends.
  var end: Int { (starts.last ?? 0) + lastDuration }

  /// `seconds` in units, rounded down, whatever a decimal fraction is short of.
  func units(_ seconds: Double) -> Int {
    let units = seconds / timeBase.doubleValue + 1e-6
    return units.magnitude < 1e15 ? Int(units.rounded(.down)) : .max >> 1
  }

  /// The number of the frame that is shown then; of the first one before that, and beyond the last
  /// a number that no frame has.
  func number(at time: Int) -> Int {
    guard time < end else { return starts.count + (time - end) / max(1, lastDuration) }
    var low = 0
    var high = starts.count
    while low < high {
      let middle = (low + high) / 2
      if starts[middle] <= time { low = middle + 1 } else { high = middle }
    }
    return max(0, low - 1)
  }
}

extension DecodeIndex {
  /// What is said of damage that does not concern the video.
  var elsewhereNote: String? {
    damage == nil && damageElsewhere != nil ? ContainerDamage.elsewhereNote : nil
  }

  /// Adds what the container says, once the frames are in order.
  mutating func describe(by description: TrackExtraction.Description) {
    orientation = description.orientation
    displayMatrix = description.displayMatrix
    sampleAspectRatio = description.sampleAspectRatio
    if let rate = description.frameRate { frameRate = (rate.numerator, rate.denominator) }
    let timeline = description.timeline
    self.timeline = timeline
    let packets = packets(of: timeline)
    for (entry, packet) in packets.enumerated() where packet.isHidden {
      entries[entry].flags.insert(.hidden)
    }
    var byOrder = [Int](repeating: 0, count: entries.count)
    for (entry, frame) in entries.enumerated() { byOrder[frame.order] = entry }
    hideFrames(byOrder)
    let shown = byOrder.filter { !entries[$0].flags.contains(.hidden) }
    timing = timing(of: shown.map { packets[$0] }, timeline)
    if let end = end(byOrder.map { packets[$0] }, timeline), let last = timing?.starts.last,
      end > last, end - last <= Self.longestStep
    {
      timing?.lastDuration = end - last
    }
  }

  /// When the last frame that is shown ends, of a container whose durations are not those of what is
  /// shown, but of decoding: frames are shown as long as they are decoded, all in all.
  private func end(_ packets: [FramePacket], _ timeline: StreamTimeline) -> Int? {
    guard let span = timeline.span, span < 1 << 52 else { return nil }
    let origin = Self.bounded(timeline.origin)
    let next = firstShown + frameCount
    // What an edit list leaves out at the end begins where the last frame ends.
    if next < packets.count { return packets[next].presentation.map { Self.bounded($0) - origin } }
    return packets[firstShown...].lazy.compactMap(\.presentation).min().map {
      Self.bounded($0) + span - origin
    }
  }

  /// The presentation begins with the first frame: what began before it is not wanted.
  mutating func beginWithFirstFrame() {
    guard let starts = timing?.starts, let first = starts.first, first > 0 else { return }
    timing?.starts = starts.map { $0 - first }
  }

  private struct FramePacket {
    var presentation: Int?
    var duration = 0
    var isHidden = false
  }

  /// What the container says of each frame.
  private func packets(of timeline: StreamTimeline) -> [FramePacket] {
    var packets = [FramePacket](repeating: FramePacket(), count: entries.count)
    let marks = timeline.marks
    var next = 0
    for entry in entries.indices {
      let isFirst = next < marks.count && marks[next].streamOffset <= entries[entry].offset
      while next < marks.count, marks[next].streamOffset <= entries[entry].offset { next += 1 }
      guard next > 0 else { continue }
      // A packet's time is that of the first frame that begins in it (ISO/IEC 13818-1 §2.4.3.7).
      let mark = marks[next - 1]
      packets[entry].isHidden = mark.isHidden
      guard isFirst else { continue }
      packets[entry].presentation = mark.presentation
      packets[entry].duration = Int(mark.duration)
      // Fields may have packets of their own.
      let end = entry + 1 < entries.count ? entries[entry + 1].offset : Int.max
      var field = next
      while field < marks.count, marks[field].streamOffset < end {
        packets[entry].duration += Int(marks[field].duration)
        field += 1
      }
    }
    return packets
  }

  /// Frames that are not shown have no number.
  mutating func hideFrames(_ byOrder: [Int]) {
    let isHidden = byOrder.map { entries[$0].flags.contains(.hidden) }
    firstShown = 0
    shownCount = nil
    numbers = nil
    guard isHidden.contains(true) else { return }
    let first = isHidden.firstIndex(of: false) ?? isHidden.count
    let last = isHidden.lastIndex(of: false) ?? first
    firstShown = first
    shownCount = isHidden.count { !$0 }
    guard first < last, isHidden[first...last].contains(true) else { return }
    isReliable = false
    var number = -first
    numbers = isHidden.enumerated().map { order, isHidden in
      defer { if order < first || !isHidden { number += 1 } }
      return number
    }
  }

  /// Times of all frames, those that the container leaves out in between.
  private func timing(
    of packets: [FramePacket], _ timeline: StreamTimeline
  ) -> FrameTiming? {
    guard packets.contains(where: { $0.presentation != nil }) else { return nil }
    let base = timeline.timeBase
    let usual = frameRate.map { Double($0.denominator) / Double($0.numerator) / base.doubleValue }
    var step = max(1, usual.map { $0 < 1e9 ? Int($0.rounded()) : 1 } ?? 1)
    var starts: [Int] = []
    starts.reserveCapacity(packets.count)
    for packet in packets {
      let previous = starts.last
      var start = previous.map { $0 + step } ?? 0
      if let time = packet.presentation {
        start = Self.bounded(time) - Self.bounded(timeline.origin)
      }
      // What the pictures say of their order counts.
      if let previous, start <= previous { start = previous + 1 }
      if let previous { step = min(Self.longestStep, start - previous) }
      starts.append(start)
    }
    let last = packets.last?.duration ?? 0
    return FrameTiming(timeBase: base, starts: starts, lastDuration: last > 0 ? last : step)
  }

  /// Units for which a frame is taken to be shown at most, where nothing says so.
  static let longestStep = 1 << 32

  /// Hostile times must not overflow.
  private static func bounded(_ time: Int) -> Int { max(-(1 << 52), min(1 << 52, time)) }
}
