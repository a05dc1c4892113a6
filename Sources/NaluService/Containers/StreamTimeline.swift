internal import Codec

/// What a container says of the pieces that a byte stream was put together from.
struct StreamTimeline: Sendable {
  /// A packet of the container.
  struct Mark: Sendable {
    /// Its first byte in the byte stream.
    var streamOffset: Int
    /// Its first byte in the container, less the bytes that were put in front; `nil` where that is
    /// not known.
    var mediaOffset: Int?
    /// When it is shown, in units of the time base.
    var presentation: Int?
    /// How long, in units of the time base; 0 where that is not said.
    var duration: Int32
    /// It is decoded and not shown.
    var isHidden: Bool
  }

  /// Seconds per unit.
  var timeBase = Rational(1, 90_000)
  /// The earliest time of any track: where the presentation begins.
  var origin = 0
  /// From when the first packet is shown to when the last one is over, in units of the time base, of
  /// a container that says how long a packet is until the next is decoded, and not how long it is
  /// shown; nil of others.
  var span: Int?
  /// In the order of the byte stream.
  var marks: [Mark] = []
  /// Bytes in front of a NAL unit are as many in the byte stream as in the container.
  var keepsDistances = false

  /// Parameter sets that are in the byte stream and not there in the container.
  private struct Insertion: Sendable {
    var range: Range<Int>
    /// NAL units of it and of those before it.
    var units: Int
  }

  private var insertions: [Insertion] = []

  mutating func noteInsertion(_ range: Range<Int>, units: Int) {
    guard !range.isEmpty else { return }
    insertions.append(Insertion(range: range, units: units + (insertions.last?.units ?? 0)))
  }

  /// `problem` with its `offset` in the container instead of in the byte stream, and its `nal_unit`
  /// counted there.
  func placed(_ problem: Problem) -> Problem {
    guard case .integer(let place)? = problem.members.first(where: { $0.name == "offset" })?.value
    else { return problem }
    var placed = problem
    let before = insertions.last { $0.range.lowerBound <= place }
    if before?.range.contains(place) == true {
      placed.members.removeAll { $0.name == "offset" || $0.name == "nal_unit" }
      return placed
    }
    for (index, member) in placed.members.enumerated() where member.name == "nal_unit" {
      guard case .integer(let unit) = member.value else { continue }
      placed.members[index] = .init("nal_unit", unit - (before?.units ?? 0))
    }
    for (index, member) in placed.members.enumerated() where member.name == "offset" {
      guard case .integer(let offset) = member.value else { continue }
      if let position = mediaOffset(of: offset) {
        placed.members[index] = .init("offset", position)
      } else {
        placed.members.remove(at: index)
      }
      break
    }
    return placed
  }

  /// Where byte `offset` of the byte stream comes from, exactly or the packet that it is in.
  private func mediaOffset(of offset: Int) -> Int? {
    guard let mark = mark(at: offset), let start = marks[mark].mediaOffset else { return nil }
    return max(0, keepsDistances ? start + offset - marks[mark].streamOffset : start)
  }

  /// The packet that byte `offset` of the byte stream is in.
  private func mark(at offset: Int) -> Int? {
    var low = 0
    var high = marks.count
    while low < high {
      let middle = (low + high) / 2
      if marks[middle].streamOffset <= offset { low = middle + 1 } else { high = middle }
    }
    return low > 0 ? low - 1 : nil
  }
}
