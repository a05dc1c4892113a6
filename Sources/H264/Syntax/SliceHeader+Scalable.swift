/// The second half of `slice_header_in_scalable_extension()` (H.264 §F.7.3.3.4).
extension SliceHeader {
  mutating func parseScalableBody(
    _ reader: inout BitReader, unit: NALUnitHeader, sps: SequenceSteering,
    pps: PictureSteering
  ) throws(SyntaxError) {
    let isFirstQuality = unit.element("quality_id") == 0
    let predictsLayers = unit.element("no_inter_layer_pred_flag") == 0
    if isFirstQuality {
      try parseScalableReferences(&reader, unit: unit, sps: sps, pps: pps)
    }
    if pps.entropyCodingMode, sliceType?.isIntra == false {
      cabacInitIDC = try reader.ue("cabac_init_idc", in: 0...2)
    }
    try parseQP(&reader, sps: sps, pps: pps)
    try parseDeblocking(&reader, pps: pps)
    try parseSliceGroupChangeCycle(&reader, sps: sps, pps: pps)
    if predictsLayers, isFirstQuality {
      try skipReferenceLayer(&reader, sps: sps)
    }
    let isSkipped =
      predictsLayers ? try skipInterLayerPrediction(&reader, layer: sps.layer) : false
    if !sps.layer.sliceHeaderRestriction, !isSkipped {
      _ = try reader.u(4, "scan_idx_start")
      _ = try reader.u(4, "scan_idx_end")
    }
  }

  private mutating func parseScalableReferences(
    _ reader: inout BitReader, unit: NALUnitHeader, sps: SequenceSteering,
    pps: PictureSteering
  ) throws(SyntaxError) {
    try parseReferenceCounts(&reader, pps: pps)
    try skipRefPicListModification(&reader, isMultiview: false)
    if usesWeights(pps) {
      let fromBase =
        unit.element("no_inter_layer_pred_flag") == 0
        ? try reader.flag("base_pred_weight_table_flag") : false
      if !fromBase { try skipPredWeightTable(&reader, sps: sps) }
    }
    guard unit.refIDC != 0 else { return }
    try parseDecRefPicMarking(&reader)
    if !sps.layer.sliceHeaderRestriction {
      let store = try reader.flag("store_ref_base_pic_flag")
      if unit.element("use_ref_base_pic_flag") == 1 || store, !isIDR {
        try Self.skipDecRefBasePicMarking(&reader)
      }
    }
  }

  private func skipReferenceLayer(
    _ reader: inout BitReader, sps: SequenceSteering
  ) throws(SyntaxError) {
    _ = try reader.ue("ref_layer_dq_id", in: 0...127)
    if sps.layer.interLayerDeblockingFilterControlPresent {
      let idc = try reader.ue("disable_inter_layer_deblocking_filter_idc", in: 0...6)
      if idc != 1 {
        _ = try reader.se("inter_layer_slice_alpha_c0_offset_div2", in: -6...6)
        _ = try reader.se("inter_layer_slice_beta_offset_div2", in: -6...6)
      }
    }
    _ = try reader.flag("constrained_intra_resampling_flag")
    if sps.layer.extendedSpatialScalabilityIDC == 2 {
      if sps.chromaArrayType > 0 {
        _ = try reader.flag("ref_layer_chroma_phase_x_plus1_flag")
        _ = try reader.u(2, "ref_layer_chroma_phase_y_plus1", in: 0...2)
      }
      _ = try reader.se("scaled_ref_layer_left_offset", in: -32768...32767)
      _ = try reader.se("scaled_ref_layer_top_offset", in: -32768...32767)
      _ = try reader.se("scaled_ref_layer_right_offset", in: -32768...32767)
      _ = try reader.se("scaled_ref_layer_bottom_offset", in: -32768...32767)
    }
  }

  /// True when slice_skip_flag says that the slice has no data.
  private func skipInterLayerPrediction(
    _ reader: inout BitReader, layer: ScalableExtension
  ) throws(SyntaxError) -> Bool {
    let isSkipped = try reader.flag("slice_skip_flag")
    if isSkipped {
      _ = try reader.ue("num_mbs_in_slice_minus1")
    } else {
      var baseMode = false
      let adaptiveBaseMode = try reader.flag("adaptive_base_mode_flag")
      if !adaptiveBaseMode { baseMode = try reader.flag("default_base_mode_flag") }
      if !baseMode {
        if try !reader.flag("adaptive_motion_prediction_flag") {
          _ = try reader.flag("default_motion_prediction_flag")
        }
      }
      if try !reader.flag("adaptive_residual_prediction_flag") {
        _ = try reader.flag("default_residual_prediction_flag")
      }
    }
    if layer.adaptiveTcoeffLevelPrediction {
      _ = try reader.flag("tcoeff_level_prediction_flag")
    }
    return isSkipped
  }
}

extension NALUnitHeader {
  /// The value of an element of the header's extension, or nil if it has none of that name.
  func element(_ name: String) -> Int? {
    self.extension?.elements.first { $0.name == name }?.value
  }
}
