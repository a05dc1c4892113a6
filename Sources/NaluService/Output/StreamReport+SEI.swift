internal import H264

extension StreamReport {
  /// Reads an SEI NAL unit; `isJoining`: of the access unit that is open, with its sequence
  /// parameter set.
  mutating func readSEI(
    _ bytes: [UInt8], _ unit: inout UnitRecord, isListed: Bool, isJoining: Bool = true
  ) {
    var payload = takePayload()
    payload.load(bytes.span, headerSize: 1)
    let recorded = isListed && wants.sei
    let known = sets
    var reader = BitReader(payload.bytes.span, record: recorded ? takeEmptyRecord() : nil)
    let messages = SEIMessage.parseAll(
      &reader, active: isJoining ? active?.set : nil, parameterSets: known)
    if let taken = reader.takeRecord() { record = taken }
    let issues = reader.issues
    rbsp = payload
    for issue in issues {
      note(issue, whenTruncated: .seiTruncated, UnitPlace(unit), isFatal: false)
    }
    if recorded {
      details.beginDocument()
      details.members(record)
      unit.details = Array(copying: details.bytes.span)
    }
    guard isJoining else { return }
    for message in messages {
      guard let point = message.recoveryPoint, accessUnit?.randomAccess == nil else { continue }
      accessUnit?.randomAccess =
        point.recoveryFrameCnt == 0 ? .recoveryPoint : .gradual(frames: point.recoveryFrameCnt)
    }
  }
}
