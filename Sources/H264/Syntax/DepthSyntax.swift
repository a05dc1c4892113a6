/// `seq_parameter_set_3davc_extension()` (H.264 §I.7.3.2.1.5): what slice headers of depth views and
/// of texture views that are coded with depth depend on.
package struct DepthCodingExtension: Equatable, Sendable {
  /// 3dv_acquisition_idc.
  package var acquisitionIDC = 0
  package var sliceHeaderPrediction = false
  package var seqViewSynthesis = false
}

extension DepthCodingExtension {
  /// `views`: those of the `seq_parameter_set_mvcd_extension()` before it.
  init(parsing reader: inout BitReader, views: MultiviewSyntax.DepthViews) throws(SyntaxError) {
    reader.record?.beginObject("seq_parameter_set_3davc_extension")
    let depthViews = views.hasDepth.count { $0 }
    if depthViews > 0 { try parseDepthViews(&reader, count: depthViews) }
    _ = try reader.flag("alc_sps_enable_flag")
    _ = try reader.flag("enable_rle_skip_flag")
    let areAllPaired = views.hasDepth.indices.dropFirst().allSatisfy {
      views.hasDepth[$0] && views.hasTexture[$0]
    }
    if !areAllPaired {
      try MultiviewSyntax.skipReferences(&reader, ofViews: views.hasTexture)
    }
    reader.record?.end()
  }

  private mutating func parseDepthViews(
    _ reader: inout BitReader, count: Int
  ) throws(SyntaxError) {
    acquisitionIDC = try reader.ue("3dv_acquisition_idc", in: 0...2)
    try reader.skipList("view_id_3dv", count: count)
    if acquisitionIDC != 0 {
      try DepthSyntax.skipRanges(&reader, views: count, isPredicted: false)
      try DepthSyntax.skipSynthesisParameters(&reader, views: count)
    }
    if try reader.flag("reduced_resolution_flag") {
      _ = try reader.ue("depth_pic_width_in_mbs_minus1")
      _ = try reader.ue("depth_pic_height_in_map_units_minus1")
      _ = try reader.ue("depth_hor_mult_minus1", in: 0...1023)
      _ = try reader.ue("depth_ver_mult_minus1", in: 0...1023)
      _ = try reader.ue("depth_hor_rsh", in: 0...31)
      _ = try reader.ue("depth_ver_rsh", in: 0...31)
    }
    if try reader.flag("depth_frame_cropping_flag") {
      _ = try reader.ue("depth_frame_crop_left_offset")
      _ = try reader.ue("depth_frame_crop_right_offset")
      _ = try reader.ue("depth_frame_crop_top_offset")
      _ = try reader.ue("depth_frame_crop_bottom_offset")
    }
    let gridPositions = try reader.ue("grid_pos_num_views", within: 0...1024)
    reader.record?.beginLoop()
    for _ in 0..<gridPositions {
      _ = try reader.ue("grid_pos_view_id")
      _ = try reader.se("grid_pos_x")
      _ = try reader.se("grid_pos_y")
      reader.record?.nextTurn()
    }
    reader.record?.end()
    sliceHeaderPrediction = try reader.flag("slice_header_prediction_flag")
    seqViewSynthesis = try reader.flag("seq_view_synthesis_flag")
  }
}

/// What depth is measured with (H.264 §I.7.3.2.13).
package enum DepthSyntax {
  /// `depth_parameter_set_rbsp()` of a NAL unit of type 16; returns depth_parameter_set_id.
  package static func parseParameterSet(_ reader: inout BitReader) throws(SyntaxError) -> Int {
    let id = try reader.ue("depth_parameter_set_id", in: 1...63, within: 0...63)
    let direction = try reader.ue("pred_direction", within: 0...2)
    if direction != 2 { _ = try reader.ue("ref_dps_id0", in: 0...63) }
    if direction == 0 {
      _ = try reader.ue("ref_dps_id1", in: 0...63)
      _ = try reader.u(6, "pred_weight0")
    }
    let views = try reader.ue("num_depth_views_minus1", within: 0...1023) + 1
    try skipRanges(&reader, views: views, isPredicted: direction != 2)
    if try reader.flag("vsp_param_flag") { try skipSynthesisParameters(&reader, views: views) }
    let isExtended = try reader.flag("depth_param_additional_extension_flag")
    let nodes = try reader.ue("nonlinear_depth_representation_num")
    // Its index begins with 1.
    reader.record?.beginLoop(from: 1)
    for _ in 0..<nodes {
      _ = try reader.ue("nonlinear_depth_representation_model")
      reader.record?.nextTurn()
    }
    reader.record?.end()
    if isExtended { reader.skipToTrailingBits() }
    reader.rbspTrailingBits()
    return id
  }

  /// Reads `depth_ranges()` (§I.7.3.2.13.1).
  static func skipRanges(
    _ reader: inout BitReader, views: Int, isPredicted: Bool
  ) throws(SyntaxError) {
    reader.record?.beginObject("depth_ranges")
    let hasNear = try reader.flag("z_near_flag")
    let hasFar = try reader.flag("z_far_flag")
    if hasNear { try skipElement(&reader, "z_near", views: views, isPredicted: isPredicted) }
    if hasFar { try skipElement(&reader, "z_far", views: views, isPredicted: isPredicted) }
    reader.record?.end()
  }

  /// Reads `3dv_acquisition_element()` (§I.7.3.2.13.2), which is recorded under the `name` of what it
  /// gives, because there can be two of them.
  private static func skipElement(
    _ reader: inout BitReader, _ name: String, views: Int, isPredicted: Bool
  ) throws(SyntaxError) {
    reader.record?.beginObject(name)
    let areEqual = views > 1 ? try reader.flag("element_equal_flag") : false
    var mantissaSize = 0
    reader.record?.beginLoop()
    for index in 0..<(areEqual ? 1 : views) {
      if isPredicted {
        try skipPrediction(&reader)
      } else {
        if index == 0 { mantissaSize = try reader.u(5, "mantissa_len_minus1") + 1 }
        _ = try reader.flag("sign0")
        _ = try reader.u(7, "exponent0", in: 0...126)
        _ = try reader.u(mantissaSize, "mantissa0")
      }
      reader.record?.nextTurn()
    }
    reader.record?.end()
    reader.record?.end()
  }

  private static func skipPrediction(_ reader: inout BitReader) throws(SyntaxError) {
    guard try !reader.flag("skip_flag") else { return }
    _ = try reader.flag("sign1")
    if try !reader.flag("exponent_skip_flag") { _ = try reader.u(7, "exponent1", in: 0...126) }
    _ = try reader.se("mantissa_diff")
  }

  /// Reads `vsp_param()` (§I.7.3.2.13.3): of each pair of views.
  static func skipSynthesisParameters(
    _ reader: inout BitReader, views: Int
  ) throws(SyntaxError) {
    reader.record?.beginObject("vsp_param")
    reader.record?.beginLoop()
    for view in 0..<views {
      reader.record?.beginLoop()
      for _ in 0..<view {
        _ = try reader.ue("disparity_diff_wji")
        _ = try reader.ue("disparity_diff_oji")
        _ = try reader.ue("disparity_diff_wij")
        _ = try reader.ue("disparity_diff_oij")
        reader.record?.nextTurn()
      }
      reader.record?.end()
      reader.record?.nextTurn()
    }
    reader.record?.end()
    reader.record?.end()
  }
}

// MARK: Slice headers

/// The second half of `slice_header_in_3davc_extension()` (H.264 §I.7.3.3.4).
extension SliceHeader {
  /// Nothing is known of the rest of the header without the sequence parameter set's extension.
  mutating func parseDepthBody(
    _ reader: inout BitReader, unit: NALUnitHeader, sps: SequenceSteering, pps: PictureSteering
  ) throws(SyntaxError) {
    guard let depth = sps.depth else { return }
    if depth.sliceHeaderPrediction {
      try parsePredictedBody(&reader, unit: unit, sps: sps, pps: pps)
      return
    }
    try parseIdentity(&reader, sps: sps, pps: pps)
    try parseBody(&reader, isMultiview: true, unit: unit, sps: sps, pps: pps)
    guard sliceType?.isIntra == false else { return }
    var needsDepthParameters = false
    if unit.element("depth_flag") == 1 {
      needsDepthParameters = try reader.flag("depth_weighted_pred_flag")
    } else {
      needsDepthParameters = try reader.flag("dmvp_flag")
      if depth.seqViewSynthesis { _ = try reader.flag("slice_vsp_flag") }
    }
    if depth.acquisitionIDC != 1, needsDepthParameters {
      _ = try reader.ue("dps_id", in: 0...63)
    }
  }

  /// What a header says that takes the rest from the header of another view.
  private mutating func parsePredictedBody(
    _ reader: inout BitReader, unit: NALUnitHeader, sps: SequenceSteering, pps: PictureSteering
  ) throws(SyntaxError) {
    _ = try reader.u(2, "pre_slice_header_src", in: 1...3)
    if sliceType?.isIntra == false, try reader.u(2, "pre_ref_lists_src") == 0 {
      try parseReferenceCountOverride(&reader, pps: pps)
      try skipRefPicListModification(&reader, isMultiview: true)
    }
    if usesWeights(pps), try reader.u(2, "pre_pred_weight_table_src") == 0 {
      try skipPredWeightTable(&reader, sps: sps)
    }
    if unit.refIDC != 0, try reader.u(2, "pre_dec_ref_pic_marking_src") == 0 {
      try parseDecRefPicMarking(&reader)
    }
    try parseQP(&reader, sps: sps, pps: pps)
  }
}
