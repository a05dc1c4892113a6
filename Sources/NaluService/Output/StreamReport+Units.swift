internal import H264
internal import Platform

/// What single NAL units say.
extension StreamReport {
  /// Notes what the scanner and the header found wrong.
  mutating func noteDefects(of extent: NALUnitExtent, _ header: NALUnitHeader, _ place: UnitPlace) {
    if header.forbiddenZeroBit {
      note(
        .warning, .forbiddenZeroBit, "forbidden_zero_bit is 1: the unit was damaged on its way.",
        place, bit: 0, element: "forbidden_zero_bit")
    }
    if let wanted = header.type.wantsReference, wanted != (header.refIDC > 0) {
      let rule = wanted ? "must not be 0" : "must be 0, not \(header.refIDC),"
      note(
        .warning, .valueOutOfRange,
        "nal_ref_idc \(rule) for nal_unit_type \(header.type.rawValue).",
        place, bit: 1, element: "nal_ref_idc")
    }
    if header.type.isReserved {
      note(
        .info, .reservedNALUnitType,
        "nal_unit_type \(header.type.rawValue) is reserved: decoders ignore the unit.",
        place, bit: 3, element: "nal_unit_type")
    }
    if header.isTruncated {
      note(
        .error, .nalUnitTruncated, "The unit ends inside the extension of its header.", place,
        bit: 8)
    }
    if let violation = extent.violation {
      note(
        .error, .emulationPreventionViolation,
        "The unit has a sequence of bytes that emulation prevention rules out.", place,
        bit: 8 * (violation - extent.offset))
    }
    if let data = extent.dataAfterEnd {
      note(
        .warning, .dataOutsideNALUnits,
        "Three zero bytes ended the unit, and bytes follow at \(place.offset + data - extent.offset)"
          + " that no start code precedes.",
        place)
    }
  }

  /// Reads a slice header: fills the slice's part of `unit`, and tells what picture it belongs to.
  mutating func readSlice(
    _ unit: inout UnitRecord, _ header: NALUnitHeader, _ bytes: Span<UInt8>, _ place: UnitPlace,
    isListed: Bool
  ) -> (AccessUnitTracker.Slice?, InputRecognition.Evidence) {
    let recorded = isListed && wants.sliceHeaders
    let error = parseSlice(header, bytes, place, recorded: recorded)
    unit.slice = slice.sliceType
    unit.sliceQP = slice.sliceQP
    if header.type == .partitionA { partitionPPS = slice.picParameterSetID }
    if recorded, !record.events.isEmpty {
      details.beginDocument()
      details.key("slice_header")
      details.beginObject()
      details.members(record)
      details.endObject()
      unit.details = Array(copying: details.bytes.span)
    }
    let evidence = InputRecognition.evidence(of: slice, error)
    guard let error else { return (placement(header, hasSets: true), evidence) }
    noteSliceError(error, place)
    // Up to the ids all is known.
    if error.lacksParameterSet { return (placement(header, hasSets: false), evidence) }
    return (error.hidesPicture ? nil : placement(header, hasSets: true), evidence)
  }

  /// Most headers are short; the kept bytes are read whole only for one that is not.
  private static let usualHeaderBytes = 40

  private mutating func parseSlice(
    _ header: NALUnitHeader, _ bytes: Span<UInt8>, _ place: UnitPlace, recorded: Bool
  ) -> SyntaxError? {
    var count = min(bytes.count, Self.usualHeaderBytes)
    while true {
      var payload = takePayload()
      payload.load(bytes.extracting(0..<count), headerSize: header.size)
      var reader = BitReader(payload.bytes.span, record: recorded ? takeEmptyRecord() : nil)
      var failure: SyntaxError?
      do throws(SyntaxError) {
        try slice.parse(&reader, unit: header, parameterSets: sets)
      } catch {
        failure = error
      }
      if let taken = reader.takeRecord() { record = taken }
      let issues = reader.issues
      rbsp = payload
      if failure?.reason == .truncated, count < bytes.count {
        count = bytes.count
        continue
      }
      for issue in issues {
        note(issue, whenTruncated: .sliceHeaderTruncated, place, isFatal: false)
      }
      return failure
    }
  }

  /// ``rbsp``, taken out so that it can be read while the report changes; put it back afterwards.
  mutating func takePayload() -> RBSP {
    var taken = RBSP()
    swap(&taken, &rbsp)
    return taken
  }

  /// An empty record with the memory of the last one.
  mutating func takeEmptyRecord() -> SyntaxRecord {
    var taken = SyntaxRecord()
    swap(&taken, &record)
    taken.removeAll()
    return taken
  }

  private func placement(_ header: NALUnitHeader, hasSets: Bool) -> AccessUnitTracker.Slice? {
    guard header.type.isPrimarySlice else { return nil }
    var picture = PictureIdentity()
    picture.frameNum = slice.frameNum
    picture.ppsID = slice.picParameterSetID
    picture.spsID = hasSets ? slice.seqParameterSetID : -1
    picture.isField = slice.fieldPic
    picture.isBottomField = slice.bottomField
    picture.isReference = header.refIDC != 0
    picture.isIDR = slice.isIDR
    picture.idrPicID = slice.idrPicID
    picture.picOrderCntLsb = slice.picOrderCntLsb
    picture.deltaPicOrderCntBottom = slice.deltaPicOrderCntBottom
    picture.deltaPicOrderCnt0 = slice.deltaPicOrderCnt0
    picture.deltaPicOrderCnt1 = slice.deltaPicOrderCnt1
    var placement = AccessUnitTracker.Slice(picture: picture, firstMb: slice.firstMbInSlice)
    placement.colourPlane = slice.colourPlaneID
    placement.isRedundant = slice.redundantPicCnt > 0
    return placement
  }

  /// Puts the extension of the header in front of the other details.
  mutating func describe(_ unit: inout UnitRecord, _ header: NALUnitHeader) {
    guard let `extension` = header.extension else { return }
    var writer = JSONWriter()
    writer.key(`extension`.name)
    writer.beginObject()
    for (name, value) in `extension`.elements { writer.member(name, value) }
    writer.endObject()
    writer.raw(unit.details)
    unit.details = writer.bytes
  }
}

// MARK: Findings

extension StreamReport {
  mutating func note(
    _ severity: Finding.Severity, _ code: Finding.Code, _ message: String, _ place: UnitPlace?,
    bit: Int? = nil, element: String? = nil
  ) {
    var finding = Finding(severity, code, message)
    finding.nalUnit = place?.index
    finding.offset = place?.offset
    finding.bit = bit
    finding.element = element
    let isListed = findings.add(finding, keep: settings.format == .json)
    if isListed, settings.include.contains(.findings) {
      form.line("finding") { $0.members(finding) }
    }
  }

  /// Says what was left out of the findings.
  mutating func closeFindings() {
    guard let finding = findings.close(keep: settings.format == .json) else { return }
    if settings.include.contains(.findings) { form.line("finding") { $0.members(finding) } }
  }

  /// Notes an error of the payload that ``rbsp`` holds.
  mutating func note(
    _ error: SyntaxError, whenTruncated: Finding.Code, _ place: UnitPlace, isFatal: Bool = true
  ) {
    let code: Finding.Code =
      switch error.reason {
      case .truncated: whenTruncated
      case .codeTooLong, .outOfRange, .tooMuch: .valueOutOfRange
      case .trailingData: .trailingData
      case .missingPictureParameterSet: .missingPPS
      case .missingSequenceParameterSet: .missingSPS
      }
    note(
      isFatal || code == whenTruncated ? .error : .warning, code, "\(error.message).", place,
      bit: rbsp.bitInUnit(error.bitOffset), element: error.element)
  }

  private mutating func noteSliceError(_ error: SyntaxError, _ place: UnitPlace) {
    switch error.reason {
    case .missingPictureParameterSet(let id):
      // Once, not for each of its slices.
      if missingSets.insert(id).inserted { note(error, whenTruncated: .missingPPS, place) }
    case .missingSequenceParameterSet(let id):
      if missingSets.insert(-1 - id).inserted { note(error, whenTruncated: .missingSPS, place) }
    default:
      note(error, whenTruncated: .sliceHeaderTruncated, place)
    }
  }
}
