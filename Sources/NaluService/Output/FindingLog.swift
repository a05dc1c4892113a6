/// The findings of a report: the first ones of each code listed, all counted, and a last word on
/// those that are not listed.
struct FindingLog: Sendable {
  static let limit = 1000
  /// One code shall not hide the others.
  static let limitOfCode = 250

  private(set) var count = 0
  private(set) var countBySeverity: [Finding.Severity: Int] = [:]
  private var countByCode: [Finding.Code: Int] = [:]
  private var listed = 0
  /// Kept until the report ends, where the form wants that.
  private(set) var kept: [Finding] = []

  /// Counts a finding; false when it is one too many to list.
  mutating func add(_ finding: Finding, keep: Bool) -> Bool {
    count += 1
    countBySeverity[finding.severity, default: 0] += 1
    countByCode[finding.code, default: 0] += 1
    guard listed < Self.limit, countByCode[finding.code, default: 0] <= Self.limitOfCode else {
      return false
    }
    listed += 1
    if keep { kept.append(finding) }
    return true
  }

  /// Says at the end how many findings are not listed; nil when all are.
  mutating func close(keep: Bool) -> Finding? {
    guard count > listed else { return nil }
    let finding = Finding(
      .info, .findingsOmitted,
      "\(count - listed) more findings are not listed: \(Self.limitOfCode) of a code are, and "
        + "\(Self.limit) in all.")
    if keep { kept.append(finding) }
    return finding
  }
}
