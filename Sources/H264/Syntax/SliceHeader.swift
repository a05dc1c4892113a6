/// The five kinds of slice: slice_type modulo 5 (table 7-6).
package enum SliceType: Int, Equatable, Sendable {
  case p, b, i, sp, si

  /// `P`, `B`, `I`, `SP` or `SI`.
  package var name: String {
    switch self {
    case .p: "P"
    case .b: "B"
    case .i: "I"
    case .sp: "SP"
    case .si: "SI"
    }
  }

  package var isIntra: Bool { self == .i || self == .si }
}

/// One command of `dec_ref_pic_marking()` (table 7-9).
package enum MemoryManagementControl: Equatable, Sendable {
  case unmarkShortTerm(differenceOfPicNumsMinus1: Int)
  case unmarkLongTerm(longTermPicNum: Int)
  case assignLongTerm(differenceOfPicNumsMinus1: Int, longTermFrameIdx: Int)
  case limitLongTerm(maxLongTermFrameIdxPlus1: Int)
  case unmarkAll
  case markCurrentLongTerm(longTermFrameIdx: Int)
}

/// What the head of a slice says (H.264 §7.3.3), so far as the structure of the stream depends on
/// it; the rest is read and recorded, but not kept.
///
/// Values are those sent or, where the syntax skips the element, those that the semantics infer.
/// A header may be parsed into again and again: it keeps its memory.
package struct SliceHeader: Equatable, Sendable {
  package var firstMbInSlice = 0
  /// slice_type as sent, 0 to 9; nil until it was read.
  package var rawSliceType: Int?
  package var picParameterSetID = 0
  package var seqParameterSetID = 0
  package var colourPlaneID = 0
  package var frameNum = 0
  package var fieldPic = false
  package var bottomField = false
  /// IdrPicFlag (equation 7-1, §F.7.4.1.1, §G.7.4.1.1).
  package var isIDR = false
  package var idrPicID = 0
  package var picOrderCntLsb = 0
  package var deltaPicOrderCntBottom = 0
  package var deltaPicOrderCnt0 = 0
  package var deltaPicOrderCnt1 = 0
  package var redundantPicCnt = 0
  package var directSpatialMvPred = false
  package var numRefIdxL0Active = 0
  package var numRefIdxL1Active = 0
  package var noOutputOfPriorPics = false
  package var longTermReference = false
  package var adaptiveRefPicMarkingMode = false
  /// The commands in order, without the closing 0.
  package var memoryManagement: [MemoryManagementControl] = []
  package var cabacInitIDC = 0
  /// 26 + pic_init_qp_minus26 + slice_qp_delta; nil until it was read.
  package var sliceQP: Int?
  package var disableDeblockingFilterIDC = 0
  package var sliceAlphaC0OffsetDiv2 = 0
  package var sliceBetaOffsetDiv2 = 0
  package var sliceGroupChangeCycle = 0
  /// slice_id of data partition A.
  package var sliceID: Int?

  package init() {}

  package var sliceType: SliceType? { rawSliceType.flatMap { SliceType(rawValue: $0 % 5) } }

  /// A memory_management_control_operation 5 is among the commands.
  package var unmarksAll: Bool { memoryManagement.contains(.unmarkAll) }

  package enum PictureStructure: Equatable, Sendable {
    case frame, topField, bottomField
  }

  package var pictureStructure: PictureStructure {
    fieldPic ? (bottomField ? .bottomField : .topField) : .frame
  }

  /// Back to the inferred values, keeping the memory.
  private mutating func reset() {
    var commands = memoryManagement
    commands.removeAll(keepingCapacity: true)
    self = SliceHeader()
    memoryManagement = commands
  }
}

extension SliceHeader {
  /// Parses `slice_header()`, `slice_header_in_scalable_extension()` or
  /// `slice_header_in_3davc_extension()` as the header of the NAL unit says, and the `slice_id` of
  /// data partition A.
  ///
  /// The reader stands at the first RBSP bit of a NAL unit of type 1, 2, 5, 19, 20 or 21. When it
  /// throws, what was read before stays in the header.
  package mutating func parse(
    _ reader: inout BitReader, unit: NALUnitHeader, parameterSets: ParameterSets
  ) throws(SyntaxError) {
    reset()
    isIDR = unit.extension?.isIDR ?? (unit.type == .idrSlice)
    firstMbInSlice = try reader.ue("first_mb_in_slice")
    rawSliceType = try reader.ue("slice_type", within: 0...9)
    let idStart = reader.position
    picParameterSetID = try reader.ue("pic_parameter_set_id", within: 0...255)
    guard let pps = parameterSets.steering(ofPictureParameterSet: picParameterSetID) else {
      throw SyntaxError(
        "pic_parameter_set_id", at: idStart, .missingPictureParameterSet(picParameterSetID))
    }
    seqParameterSetID = pps.sequenceParameterSetID
    let isExtension = unit.type == .sliceExtension || unit.type == .depthSliceExtension
    guard
      let sps = parameterSets.steering(
        ofSequenceParameterSet: seqParameterSetID, beyondBase: isExtension)
    else {
      throw SyntaxError(
        "pic_parameter_set_id", at: idStart, .missingSequenceParameterSet(seqParameterSetID))
    }
    switch unit.extension?.kind {
    case .avc3D:
      try parseDepthBody(&reader, unit: unit, sps: sps, pps: pps)
    case .svc:
      try parseIdentity(&reader, sps: sps, pps: pps)
      try parseScalableBody(&reader, unit: unit, sps: sps, pps: pps)
    default:
      try parseIdentity(&reader, sps: sps, pps: pps)
      try parseBody(&reader, isMultiview: isExtension, unit: unit, sps: sps, pps: pps)
      if unit.type == .partitionA { sliceID = try reader.ue("slice_id") }
    }
  }

  /// From `colour_plane_id` to `redundant_pic_cnt`: what tells pictures apart.
  mutating func parseIdentity(
    _ reader: inout BitReader, sps: SequenceSteering, pps: PictureSteering
  ) throws(SyntaxError) {
    if sps.separateColourPlane {
      colourPlaneID = try reader.u(2, "colour_plane_id", in: 0...2)
    }
    frameNum = try reader.u(sps.log2MaxFrameNum, "frame_num")
    if !sps.frameMbsOnly {
      fieldPic = try reader.flag("field_pic_flag")
      if fieldPic { bottomField = try reader.flag("bottom_field_flag") }
    }
    if isIDR { idrPicID = try reader.ue("idr_pic_id", in: 0...65535) }
    let isFrameWithTwoCounts = pps.bottomFieldPicOrderInFramePresent && !fieldPic
    if sps.picOrderCntType == 0 {
      picOrderCntLsb = try reader.u(sps.log2MaxPicOrderCntLsb, "pic_order_cnt_lsb")
      if isFrameWithTwoCounts {
        deltaPicOrderCntBottom = try reader.se("delta_pic_order_cnt_bottom")
      }
    } else if sps.picOrderCntType == 1, !sps.deltaPicOrderAlwaysZero {
      reader.record?.beginArray("delta_pic_order_cnt")
      deltaPicOrderCnt0 = try reader.se("delta_pic_order_cnt")
      if isFrameWithTwoCounts { deltaPicOrderCnt1 = try reader.se("delta_pic_order_cnt") }
      reader.record?.end()
    }
    if pps.redundantPicCntPresent {
      redundantPicCnt = try reader.ue("redundant_pic_cnt", in: 0...127)
    }
  }

  mutating func parseBody(
    _ reader: inout BitReader, isMultiview: Bool, unit: NALUnitHeader,
    sps: SequenceSteering, pps: PictureSteering
  ) throws(SyntaxError) {
    try parseReferenceCounts(&reader, pps: pps)
    try skipRefPicListModification(&reader, isMultiview: isMultiview)
    if usesWeights(pps) { try skipPredWeightTable(&reader, sps: sps) }
    if unit.refIDC != 0 { try parseDecRefPicMarking(&reader) }
    if pps.entropyCodingMode, sliceType?.isIntra == false {
      cabacInitIDC = try reader.ue("cabac_init_idc", in: 0...2)
    }
    try parseQP(&reader, sps: sps, pps: pps)
    if sliceType == .sp || sliceType == .si {
      if sliceType == .sp { _ = try reader.flag("sp_for_switch_flag") }
      _ = try reader.se("slice_qs_delta", in: -51...51)
    }
    try parseDeblocking(&reader, pps: pps)
    try parseSliceGroupChangeCycle(&reader, sps: sps, pps: pps)
  }
}

// MARK: Parts that the scalable slice header shares

extension SliceHeader {
  mutating func parseReferenceCounts(
    _ reader: inout BitReader, pps: PictureSteering
  ) throws(SyntaxError) {
    if sliceType == .b { directSpatialMvPred = try reader.flag("direct_spatial_mv_pred_flag") }
    if sliceType?.isIntra == false { try parseReferenceCountOverride(&reader, pps: pps) }
  }

  mutating func parseReferenceCountOverride(
    _ reader: inout BitReader, pps: PictureSteering
  ) throws(SyntaxError) {
    let isB = sliceType == .b
    numRefIdxL0Active = pps.numRefIdxL0DefaultActive
    if isB { numRefIdxL1Active = pps.numRefIdxL1DefaultActive }
    if try reader.flag("num_ref_idx_active_override_flag") {
      numRefIdxL0Active =
        try reader.ue("num_ref_idx_l0_active_minus1", within: 0...31) + 1
      if isB {
        numRefIdxL1Active =
          try reader.ue("num_ref_idx_l1_active_minus1", within: 0...31) + 1
      }
    }
  }

  func usesWeights(_ pps: PictureSteering) -> Bool {
    switch sliceType {
    case .p, .sp: pps.weightedPred
    case .b: pps.weightedBipredIDC == 1
    default: false
    }
  }

  mutating func parseQP(
    _ reader: inout BitReader, sps: SequenceSteering, pps: PictureSteering
  ) throws(SyntaxError) {
    let start = reader.position
    let delta = try reader.se("slice_qp_delta")
    let qp = pps.picInitQP + delta
    sliceQP = qp
    if qp > 51 || qp < sps.lowestQP {
      reader.note(SyntaxError("slice_qp_delta", at: start, .outOfRange(delta)))
    }
  }

  mutating func parseDeblocking(
    _ reader: inout BitReader, pps: PictureSteering
  ) throws(SyntaxError) {
    guard pps.deblockingFilterControlPresent else { return }
    disableDeblockingFilterIDC = try reader.ue("disable_deblocking_filter_idc", in: 0...2)
    if disableDeblockingFilterIDC != 1 {
      sliceAlphaC0OffsetDiv2 = try reader.se("slice_alpha_c0_offset_div2", in: -6...6)
      sliceBetaOffsetDiv2 = try reader.se("slice_beta_offset_div2", in: -6...6)
    }
  }

  mutating func parseSliceGroupChangeCycle(
    _ reader: inout BitReader, sps: SequenceSteering, pps: PictureSteering
  ) throws(SyntaxError) {
    guard let rate = pps.sliceGroupChangeRate else { return }
    // Ceil(Log2(PicSizeInMapUnits / SliceGroupChangeRate + 1)), the division exact (§7.4.3).
    let cycles = (sps.picSizeInMapUnits + rate - 1) / rate
    sliceGroupChangeCycle = try reader.u(cycles.bitLength, "slice_group_change_cycle")
  }
}
