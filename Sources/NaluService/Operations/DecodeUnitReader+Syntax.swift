internal import H264
internal import Platform

/// What single NAL units say.
extension DecodeUnitReader {
  mutating func readSPS(
    _ unit: NALUnitExtent, _ bytes: Span<UInt8>, _ place: DecodeJudge.Place
  ) -> InputRecognition.Evidence {
    rbsp.load(bytes, headerSize: 1)
    let payload = rbsp.bytes
    var bits = BitReader(payload.span)
    let set: SequenceParameterSet
    do throws(SyntaxError) {
      set = try SequenceParameterSet(parsing: &bits)
    } catch {
      return .none
    }
    let judge = judge
    object { () throws(Problem) in try judge.check(set, place) }
    note(unit, bytes, id: set.id)
    parameterSets.store(set)
    return InputRecognition.evidence(of: set, bits.issues)
  }

  mutating func readPPS(
    _ unit: NALUnitExtent, _ bytes: Span<UInt8>
  ) -> InputRecognition.Evidence {
    rbsp.load(bytes, headerSize: 1)
    let payload = rbsp.bytes
    var bits = BitReader(payload.span)
    do throws(SyntaxError) {
      let known = parameterSets
      let set = try PictureParameterSet(parsing: &bits) {
        known.chromaFormatIDC(ofSequenceParameterSet: $0)
      }
      let evidence = InputRecognition.evidence(
        of: set, bits.issues, payloadBytes: payload.count, in: known)
      note(unit, bytes, id: set.id)
      // Not before the last use of `known`, or all sets would be copied.
      parameterSets.store(set)
      return evidence
    } catch {
      return .none
    }
  }

  /// Remembers where a parameter set is, unless it repeats the one in force.
  private mutating func note(_ unit: NALUnitExtent, _ bytes: Span<UInt8>, id: Int) {
    let name = Int(bytes[0] & 31) << 8 | id
    var content: [UInt8] = []
    content.append(copying: bytes)
    guard known[name] != content else { return }
    known[name] = content
    guard index.parameterSets.count < DecodeIndex.parameterSetLimit else {
      index.isReliable = false
      return
    }
    index.parameterSets.append(
      DecodeIndex.ParameterSet(name: name, offset: unit.offset, size: unit.size))
  }

  /// Looks for a recovery point among the messages of an SEI NAL unit (H.264 §D.1.8).
  mutating func readSEI(_ bytes: Span<UInt8>) {
    rbsp.load(bytes, headerSize: 1)
    let payload = rbsp.bytes
    var bits = BitReader(payload.span)
    let messages = SEIMessage.parseAll(&bits, active: nil, parameterSets: parameterSets)
    if let point = messages.lazy.compactMap(\.recoveryPoint).first {
      recoveryFrameCount = point.recoveryFrameCnt
    }
  }

  /// Most slice headers are short; the kept bytes are read whole only for one that is not.
  private static let usualHeaderBytes = 64

  mutating func readSlice(
    _ unitHeader: NALUnitHeader, _ bytes: Span<UInt8>, _ place: DecodeJudge.Place
  ) -> (AccessUnitTracker.Slice?, InputRecognition.Evidence) {
    var failure = parseSlice(unitHeader, bytes.extracting(first: Self.usualHeaderBytes))
    if failure?.reason == .truncated { failure = parseSlice(unitHeader, bytes) }
    let evidence = InputRecognition.evidence(of: header, failure)
    if let failure {
      if failure.lacksParameterSet, !isOpen, header.firstMbInSlice == 0 {
        index.picturesWithoutParameterSets += 1
      }
      return (nil, evidence)
    }
    guard let sps = parameterSets.sequenceParameterSet(header.seqParameterSetID),
      let pps = parameterSets.pictureParameterSet(header.picParameterSetID)
    else { return (nil, .none) }
    readableSlices += 1
    let (judge, header) = (judge, header)
    object { () throws(Problem) in
      try judge.check(header, sps, pps, isPartition: unitHeader.type == .partitionA, place)
    }
    var slice = AccessUnitTracker.Slice(
      picture: PictureIdentity(header, unitHeader), firstMb: header.firstMbInSlice)
    slice.colourPlane = header.colourPlaneID
    slice.isRedundant = header.redundantPicCnt > 0
    return (slice, evidence)
  }

  private mutating func parseSlice(
    _ unitHeader: NALUnitHeader, _ bytes: Span<UInt8>
  ) -> SyntaxError? {
    rbsp.load(bytes, headerSize: 1)
    let payload = rbsp.bytes
    var bits = BitReader(payload.span)
    do throws(SyntaxError) {
      try header.parse(&bits, unit: unitHeader, parameterSets: parameterSets)
      return nil
    } catch {
      return error
    }
  }
}
