/// When the frames begin that wait in a row of packets.
///
/// A packet's time is that of the first frame that begins in it (ISO/IEC 13818-1 §2.4.3.7), in front
/// of which there may be the rest of a frame from the packet before.
struct PacketTimes: Sendable {
  private struct Mark {
    /// Bytes that wait in front of the packet.
    var place: Int
    var time: Int
  }

  private var marks: [Mark] = []

  /// A packet of that time is put behind `place` bytes.
  mutating func add(_ time: Int?, at place: Int) {
    guard let time else { return }
    if marks.last?.place == place { marks.removeLast() }
    marks.append(Mark(place: place, time: time))
  }

  /// The time of the frame that begins there, which no later one has; nil where no packet says it.
  mutating func take(at place: Int) -> Int? {
    let count = marks.prefix { $0.place <= place }.count
    defer { marks.removeFirst(count) }
    return count > 0 ? marks[count - 1].time : nil
  }

  /// So many bytes do not wait any more.
  mutating func remove(_ count: Int) {
    for index in marks.indices { marks[index].place -= count }
    // Of packets in which no frame was found, only the last counts.
    marks.removeFirst(max(0, marks.prefix { $0.place <= 0 }.count - 1))
  }
}
