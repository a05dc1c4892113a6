/// The findings of a report: the first ones listed, all counted.
struct FindingLog: Sendable {
  static let limit = 1000

  private(set) var count = 0
  private(set) var countBySeverity: [Finding.Severity: Int] = [:]
  /// Kept until the report ends, where the form wants that.
  private(set) var kept: [Finding] = []

  /// Counts a finding; false when it is one too many to list.
  mutating func add(_ finding: Finding, keep: Bool) -> Bool {
    count += 1
    countBySeverity[finding.severity, default: 0] += 1
    guard count <= Self.limit else { return false }
    if keep { kept.append(finding) }
    return true
  }
}
