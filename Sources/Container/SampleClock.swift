/// When the samples of a track are, of which the container does not say how long they last.
struct SampleClock: Equatable, Sendable {
  private(set) var count = 0
  private var first: Int?
  private var last: Int?
  /// Those that begin at `last`.
  private var lastCount = 0

  /// So many samples follow each other from `time` on, if that is known.
  mutating func add(_ time: Int?, samples: Int = 1) {
    count += samples
    guard let time else { return }
    first = min(first ?? time, time)
    if time >= last ?? .min {
      last = time
      lastCount = samples
    }
  }

  /// From the first sample to the end of the last, where each lasts as long as the others on average;
  /// nil where that cannot be told.
  var duration: Int? {
    guard let first, let last, last > first, count > lastCount else { return nil }
    return last.subtractingClamped(first).scaled(count, by: count - lastCount)
  }
}
