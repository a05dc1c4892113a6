internal import H264

/// NAL units of a few elements, on which nothing else depends.
extension StreamReport {
  mutating func readSupplement(
    _ unit: inout UnitRecord, _ header: NALUnitHeader, _ bytes: Span<UInt8>, _ place: UnitPlace,
    isListed: Bool
  ) {
    guard header.size < bytes.count else { return }
    let known = sets
    var payload = takePayload()
    payload.load(bytes.extracting(0..<min(bytes.count, 64)), headerSize: header.size)
    var reader = BitReader(payload.bytes.span, record: takeEmptyRecord())
    var failure: SyntaxError?
    do throws(SyntaxError) {
      switch header.type {
      case .accessUnitDelimiter:
        _ = try SupplementalUnits.parseAccessUnitDelimiter(&reader)
      case .prefix:
        try SupplementalUnits.parsePrefix(&reader, unit: header)
      default:
        _ = try PartitionHead(
          parsing: &reader, picParameterSetID: partitionPPS, parameterSets: known)
      }
    } catch {
      failure = error
    }
    if let taken = reader.takeRecord() { record = taken }
    let issues = reader.issues
    rbsp = payload
    for issue in issues { note(issue, whenTruncated: .nalUnitTruncated, place, isFatal: false) }
    if let failure, failure.reason == .truncated || failure.isOutOfRange {
      note(failure, whenTruncated: .nalUnitTruncated, place)
    }
    if isListed { addSupplement(to: &unit) }
  }

  /// Adds the members of ``record``.
  private func addSupplement(to unit: inout UnitRecord) {
    guard !record.events.isEmpty else { return }
    guard unit.type == .accessUnitDelimiter || wants.sliceHeaders else { return }
    var writer = JSONWriter()
    writer.members(record)
    unit.details = writer.bytes
  }
}

extension SyntaxError {
  fileprivate var isOutOfRange: Bool {
    if case .outOfRange = reason { true } else { false }
  }
}
