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

  /// The samples up to the last and the time that they take.
  var measure: ContainerTrack.Measure? {
    guard let first, let last, last > first, count > lastCount else { return nil }
    return ContainerTrack.Measure(
      samples: count - lastCount, ticks: last.subtractingClamped(first), isRounded: true)
  }

  /// From the first sample to the end of the last, where each lasts as long as the others on average;
  /// nil where that cannot be told.
  var duration: Int? {
    measure.flatMap { $0.ticks.scaled(count, by: $0.samples) }
  }
}
