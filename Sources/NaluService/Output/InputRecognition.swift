internal import H264

/// Tells H.264 from other data that happens to contain start codes.
///
/// NAL units that make sense weigh against those that H.264 does not have: forbidden_zero_bit 1, a
/// type without a meaning, a parameter set or IDR slice of nal_ref_idc 0 (§7.4.1), a unit without a
/// byte or with other data between it and the next start code (B.1.1). In a stream that begins as
/// one should, the first parameter set or readable slice decides; what is in between other data,
/// such as the slices of MPEG-2, never outweighs it.
struct InputRecognition: Sendable {
  enum Evidence: Equatable, Sendable {
    /// Read in full, with values that random data hardly has.
    case strong
    /// Read as far as its ids.
    case weak
    /// Nothing that an H.264 stream should have.
    case contrary
    case none
  }

  private(set) var isRecognised = false
  /// NAL units had two-byte headers as those of H.265.
  private(set) var looksLikeH265 = false
  /// NAL units have lengths, not start codes.
  var hasLengths = false
  private var points = 0
  private var contraries = 0
  private var needsMore = false

  init() {}

  /// A container says that it is H.264.
  mutating func accept() {
    isRecognised = true
  }

  /// Something else precedes the first start code.
  mutating func noteLeadingData() {
    needsMore = true
  }

  /// Judges the next NAL unit, of which the parser thinks `evidence`. An empty one says that start
  /// codes are there by chance.
  mutating func add(_ extent: NALUnitExtent, _ unit: Span<UInt8>, _ evidence: Evidence) {
    guard !isRecognised else { return }
    guard extent.size > 0 else {
      contraries += 1
      return
    }
    let header = NALUnitHeader(unit)
    // So does one that other data follows.
    let evidence = extent.dataAfterEnd == nil ? evidence : .none
    let isH265 = unit.count > 1 && unit[0] & 0x81 == 0 && (1...7).contains(unit[1])
    if isH265, [0x40, 0x42, 0x44].contains(unit[0]) { looksLikeH265 = true }
    switch judge(header, evidence, isH265: isH265) {
    case .strong: points += 2
    case .weak: points += 1
    case .contrary: contraries += 1
    case .none: return
    }
    isRecognised = points > 2 * contraries + (needsMore ? 1 : 0)
  }

  private func judge(
    _ header: NALUnitHeader, _ evidence: Evidence, isH265: Bool
  ) -> Evidence {
    if header.forbiddenZeroBit { return .contrary }
    switch header.type {
    case .idrSlice, .sps, .pps:
      if evidence == .none { return .contrary }
      // Some muxer forgets nal_ref_idc; in other data it is 0 by chance.
      if header.refIDC == 0, evidence == .weak || contraries > 0 { return .contrary }
    case .nonIDRSlice:
      if evidence == .none { return .contrary }
    default:
      let type = header.type.rawValue
      // The type of an SEI message may look like the second byte of a header of H.265.
      let isSEI = header.type == .sei && header.refIDC == 0
      return type == 0 || type > 21 || isH265 && !isSEI ? .contrary : .none
    }
    return isH265 && evidence == .weak ? .contrary : evidence
  }
}

extension InputRecognition {
  /// Why a stream of so many NAL units is none of H.264.
  func problem(units: Int) -> Problem {
    if looksLikeH265 {
      return Problem(.unrecognisedInput, "The NAL units are those of H.265, not of H.264.")
    }
    let detail =
      units == 0 && !hasLengths
      ? "There is no start code in the body." : "No NAL unit of type 1, 5, 7 or 8 makes sense."
    let hint = " Length-prefixed NAL units without parameter sets want nal_length_size or avcc."
    return Problem(.unrecognisedInput, hasLengths ? detail : detail + hint)
  }
}

// MARK: Evidence

extension InputRecognition {
  /// What a sequence parameter set says that was read with `issues`.
  static func evidence(
    of set: SequenceParameterSet, _ issues: [SyntaxError]
  ) -> Evidence {
    set.profileName != nil && issues.isEmpty ? .strong : .weak
  }

  /// What a picture parameter set says that was read with `issues` out of so many bytes, `known`
  /// being in force.
  static func evidence(
    of set: PictureParameterSet, _ issues: [SyntaxError], payloadBytes: Int, in known: ParameterSets
  ) -> Evidence {
    if known.chromaFormatIDC(ofSequenceParameterSet: set.sequenceParameterSetID) != nil {
      return issues.isEmpty ? .strong : .weak
    }
    // Alone it is read out of anything easily; but some muxers leave a few bytes behind it.
    let isPlausible = issues.allSatisfy { issue in
      issue.reason == .trailingData && payloadBytes - issue.bitOffset / 8 <= 8
    }
    return isPlausible ? .weak : .none
  }

  /// What a slice header says that was read in full, or as far as `failure`.
  static func evidence(of header: SliceHeader, _ failure: SyntaxError?) -> Evidence {
    guard let failure else { return .strong }
    // No level has pictures of more macroblocks (table A-1).
    if failure.lacksParameterSet { return header.firstMbInSlice < 139_264 ? .weak : .none }
    return failure.hidesPicture ? .none : .weak
  }
}

extension SyntaxError {
  /// A slice refers to a parameter set that is not there; it was read up to its ids.
  var lacksParameterSet: Bool {
    switch reason {
    case .missingPictureParameterSet, .missingSequenceParameterSet: true
    default: false
    }
  }

  /// A slice header ends or fails before it is known what picture the slice belongs to.
  var hidesPicture: Bool { Self.identityElements.contains(element) }

  private static let identityElements: Set<String> = [
    "first_mb_in_slice", "slice_type", "pic_parameter_set_id", "colour_plane_id", "frame_num",
    "field_pic_flag", "bottom_field_flag", "idr_pic_id", "pic_order_cnt_lsb",
    "delta_pic_order_cnt_bottom", "delta_pic_order_cnt", "redundant_pic_cnt",
  ]
}
