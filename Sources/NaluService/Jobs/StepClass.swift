/// What the next step of a job is like, lightest first.
package enum StepClass: Int, CaseIterable, Comparable, Sendable {
  /// Needs no codec, and is short.
  case light
  /// A picture that is done soon.
  case quick
  /// A picture that may take seconds.
  case slow

  package static func < (left: StepClass, right: StepClass) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// How long the last steps of a job took.
struct StepPace {
  /// In nanoseconds, of the slowest; forgotten by half a step.
  private var slowest: UInt64 = 0

  mutating func took(_ nanoseconds: UInt64) {
    slowest = max(nanoseconds, slowest / 2)
  }

  /// The next is likely to be slow too.
  var isSlow: Bool { slowest > Limits.slowStep }
}
