/// A picture parameter set (H.264 §7.3.2.2): what was sent.
package struct PictureParameterSet: Equatable, Sendable {
  /// The fields behind `more_rbsp_data()`.
  package struct Extension: Equatable, Sendable {
    package var transform8x8Mode: Bool
    package var scalingMatrix: ScalingMatrix?
    package var secondChromaQPIndexOffset: Int
  }

  /// 0 to 255.
  package var id = 0
  /// 0 to 31.
  package var sequenceParameterSetID = 0
  package var entropyCodingMode = false
  package var bottomFieldPicOrderInFramePresent = false
  /// Nil when there is one slice group.
  package var sliceGroups: SliceGroups?
  /// 1 to 32.
  package var numRefIdxL0DefaultActive = 1
  /// 1 to 32.
  package var numRefIdxL1DefaultActive = 1
  package var weightedPred = false
  package var weightedBipredIDC = 0
  package var picInitQPMinus26 = 0
  package var picInitQSMinus26 = 0
  package var chromaQPIndexOffset = 0
  package var deblockingFilterControlPresent = false
  package var constrainedIntraPred = false
  package var redundantPicCntPresent = false
  package var tail: Extension?
  /// The tail was read on the guess that the sequence parameter set, not known then, is 4:2:0.
  package var isGuess = false

  package init() {}
}

extension PictureParameterSet {
  /// Parses the payload of a NAL unit of type 8.
  ///
  /// `chromaFormatIDC` is that of the sequence parameter set this one refers to; it decides how
  /// many scaling lists follow. Everything that a slice header depends on comes before, so a
  /// broken tail is an issue, not an error, and a slice header may use a set that ``isGuess``.
  package init(
    parsing reader: inout BitReader, chromaFormatIDC: (_ sequenceParameterSetID: Int) -> Int?
  ) throws(SyntaxError) {
    self.init()
    try parseHead(&reader)
    guard reader.moreRBSPData() else {
      reader.rbspTrailingBits()
      return
    }
    let known = chromaFormatIDC(sequenceParameterSetID)
    do throws(SyntaxError) {
      try parseTail(&reader, chromaFormatIDC: known)
      if !isGuess { reader.rbspTrailingBits() }
    } catch {
      if !isGuess { reader.note(error) }
    }
  }

  private mutating func parseHead(_ reader: inout BitReader) throws(SyntaxError) {
    id = try reader.ue("pic_parameter_set_id", within: 0...255)
    sequenceParameterSetID = try reader.ue("seq_parameter_set_id", within: 0...31)
    entropyCodingMode = try reader.flag("entropy_coding_mode_flag")
    bottomFieldPicOrderInFramePresent = try reader.flag(
      "bottom_field_pic_order_in_frame_present_flag")
    let sliceGroupCount = try reader.ue("num_slice_groups_minus1", within: 0...7) + 1
    if sliceGroupCount > 1 {
      sliceGroups = try SliceGroups(parsing: &reader, count: sliceGroupCount)
    }
    numRefIdxL0DefaultActive =
      try reader.ue("num_ref_idx_l0_default_active_minus1", within: 0...31) + 1
    numRefIdxL1DefaultActive =
      try reader.ue("num_ref_idx_l1_default_active_minus1", within: 0...31) + 1
    weightedPred = try reader.flag("weighted_pred_flag")
    weightedBipredIDC = try reader.u(2, "weighted_bipred_idc", in: 0...2)
    picInitQPMinus26 = try reader.se("pic_init_qp_minus26", in: -62...25)
    picInitQSMinus26 = try reader.se("pic_init_qs_minus26", in: -26...25)
    chromaQPIndexOffset = try reader.se("chroma_qp_index_offset", in: -12...12)
    deblockingFilterControlPresent = try reader.flag("deblocking_filter_control_present_flag")
    constrainedIntraPred = try reader.flag("constrained_intra_pred_flag")
    redundantPicCntPresent = try reader.flag("redundant_pic_cnt_present_flag")
  }

  private mutating func parseTail(
    _ reader: inout BitReader, chromaFormatIDC: Int?
  ) throws(SyntaxError) {
    let transform8x8Mode = try reader.flag("transform_8x8_mode_flag")
    var scalingMatrix: ScalingMatrix?
    if try reader.flag("pic_scaling_matrix_present_flag") {
      isGuess = transform8x8Mode && chromaFormatIDC == nil
      scalingMatrix = try ScalingMatrix(
        parsing: &reader, count: 6 + (transform8x8Mode ? chromaFormatIDC == 3 ? 6 : 2 : 0),
        presentFlag: "pic_scaling_list_present_flag", fallBack: .sequence)
    }
    tail = Extension(
      transform8x8Mode: transform8x8Mode, scalingMatrix: scalingMatrix,
      secondChromaQPIndexOffset: try reader.se("second_chroma_qp_index_offset", in: -12...12))
  }
}
