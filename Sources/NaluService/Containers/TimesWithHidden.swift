internal import Codec

/// Times of all frames of a container, in output order: those that are not shown have some too.
///
/// With an edit list, frames that are not shown take time of their own, before the first that is
/// shown, between others or behind the last. Without one they come between their neighbours, so that
/// all others stay where they are.
struct TimesWithHidden: Sendable {
  private(set) var starts: [Int] = []
  /// When the last one ends.
  private(set) var end = 0
  /// What is shown, where some are not and an edit list will say so.
  private(set) var edits: [MovieEdits.Entry] = []
  private(set) var timeBase: Rational
  private let hasEdits: Bool
  /// Of a frame that has no time.
  private let step: Int
  /// Units in a second.
  private static let finestUnits = 1_000_000
  /// By how much frames are later that follow hidden ones.
  private var shift = 0

  init(_ index: DecodeIndex, _ timing: FrameTiming, hasEdits: Bool) {
    var isHidden = [Bool](repeating: false, count: index.entries.count)
    for entry in index.entries where entry.flags.contains(.hidden) { isHidden[entry.order] = true }
    let factor = hasEdits ? 1 : Self.factor(isHidden, timing)
    timeBase = Rational(timing.timeBase.numerator, timing.timeBase.denominator * factor)
    self.hasEdits = hasEdits
    let known = timing.starts.map { $0 * factor }
    let last = max(1, timing.lastDuration) * factor
    // A wrong time must not shift frames out of all bounds.
    let gap = known.count > 1 ? known[1] - known[0] : last
    step = max(1, min(DecodeIndex.longestStep, gap))
    starts.reserveCapacity(isHidden.count)
    let first = isHidden.firstIndex(of: false) ?? isHidden.count
    end = (known.first ?? 0) - first * step
    var number = 0
    var position = 0
    while position < isHidden.count {
      let run = isHidden[position...].prefix { $0 == isHidden[position] }.count
      if isHidden[position] {
        let next = number > 0 && number < known.count ? known[number] : nil
        addHidden(run, before: next)
      } else {
        let end = min(number + run, known.count)
        add(known[number..<end], count: run, last: last, in: known)
        number = end
      }
      position += run
    }
    if hasEdits, isHidden.contains(true) {
      if let first = known.first, first > 0 {
        edits.insert(MovieEdits.Entry(start: nil, duration: first), at: 0)
      }
    } else {
      edits = []
    }
  }

  private mutating func append(_ start: Int) {
    starts.append(starts.last.map { max(start, $0 + 1) } ?? start)
  }

  private mutating func addHidden(_ count: Int, before next: Int?) {
    guard hasEdits || next == nil else {
      // Between the frame before and the next one.
      let begin = starts.last ?? 0
      let gap = max(0, (next ?? 0) - begin)
      for place in 1...count { append(begin + gap / (count + 1) * place) }
      return
    }
    for _ in 0..<count {
      append(end)
      end += step
    }
    if next != nil { shift += count * step }
  }

  /// Frames that are shown one after the other.
  private mutating func add(
    _ times: ArraySlice<Int>, count: Int, last: Int, in known: [Int]
  ) {
    let begin = starts.count
    for time in times { append(time + shift) }
    while starts.count < begin + count { append((starts.last ?? 0) + step) }
    end =
      times.endIndex < known.count
      ? max(known[times.endIndex] + shift, starts[starts.count - 1] + 1)
      : starts[starts.count - 1] + last
    edits.append(MovieEdits.Entry(start: starts[begin], duration: end - starts[begin]))
  }

  /// By how much finer the units must be that hidden frames have room between others.
  private static func factor(_ isHidden: [Bool], _ timing: FrameTiming) -> Int {
    let known = timing.starts
    var factor = 1
    var number = 0
    var hidden = 0
    for isHidden in isHidden {
      if isHidden {
        hidden += 1
        continue
      }
      if hidden > 0, number > 0, number < known.count {
        let gap = max(1, known[number] - known[number - 1])
        factor = max(factor, (hidden + gap) / gap)
      }
      hidden = 0
      number += 1
    }
    let limit = finestUnits / max(1, timing.timeBase.denominator)
    let largest = known.reduce(1) { max($0, abs($1)) }
    return max(1, min(factor, limit, (1 << 55) / largest))
  }
}
