/// So many lines a second and no more, with a count of those that were left out.
package struct LineRate: Sendable {
  private let limit: Int
  private var second: UInt64 = 0
  private var count = 0

  package init(limit: Int) {
    self.limit = limit
  }

  /// Whether a line may pass now, and how many were left out in the last second in which there were
  /// lines, said once.
  package mutating func take(at now: UInt64) -> (isPassed: Bool, omitted: Int) {
    var omitted = 0
    if now / 1_000_000_000 != second {
      omitted = max(0, count - limit)
      second = now / 1_000_000_000
      count = 0
    }
    count += 1
    return (count <= limit, omitted)
  }
}
