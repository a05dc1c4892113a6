/// Messages about how pictures are to be shown.
extension SEIParser {
  /// `pan_scan_rect()` (H.264 §D.1.4).
  func parsePanScanRect(_ reader: inout BitReader) throws(SyntaxError) {
    _ = try reader.ue("pan_scan_rect_id")
    guard try !reader.flag("pan_scan_rect_cancel_flag") else { return }
    let count = try reader.ue("pan_scan_cnt_minus1", within: 0...2) + 1
    reader.record?.beginLoop()
    for _ in 0..<count {
      _ = try reader.se("pan_scan_rect_left_offset")
      _ = try reader.se("pan_scan_rect_right_offset")
      _ = try reader.se("pan_scan_rect_top_offset")
      _ = try reader.se("pan_scan_rect_bottom_offset")
      reader.record?.nextTurn()
    }
    reader.record?.end()
    _ = try reader.ue("pan_scan_rect_repetition_period", in: 0...16384)
  }

  /// `deblocking_filter_display_preference()` (H.264 §D.1.22).
  func parseDeblockingFilterDisplayPreference(
    _ reader: inout BitReader
  ) throws(SyntaxError) {
    guard try !reader.flag("deblocking_display_preference_cancel_flag") else { return }
    _ = try reader.flag("display_prior_to_deblocking_preferred_flag")
    _ = try reader.flag("dec_frame_buffering_constraint_flag")
    _ = try reader.ue("deblocking_display_preference_repetition_period", in: 0...16384)
  }

  /// `stereo_video_info()` (H.264 §D.1.23).
  func parseStereoVideoInfo(_ reader: inout BitReader) throws(SyntaxError) {
    if try reader.flag("field_views_flag") {
      _ = try reader.flag("top_field_is_left_view_flag")
    } else {
      _ = try reader.flag("current_frame_is_left_view_flag")
      _ = try reader.flag("next_frame_is_second_view_flag")
    }
    _ = try reader.flag("left_view_self_contained_flag")
    _ = try reader.flag("right_view_self_contained_flag")
  }

  /// `frame_packing_arrangement()` (H.264 §D.1.26).
  func parseFramePackingArrangement(_ reader: inout BitReader) throws(SyntaxError) {
    _ = try reader.ue("frame_packing_arrangement_id")
    if try !reader.flag("frame_packing_arrangement_cancel_flag") {
      let type = try reader.u(7, "frame_packing_arrangement_type", in: 0...7)
      let isQuincunx = try reader.flag("quincunx_sampling_flag")
      _ = try reader.u(6, "content_interpretation_type", in: 0...2)
      _ = try reader.flag("spatial_flipping_flag")
      _ = try reader.flag("frame0_flipped_flag")
      _ = try reader.flag("field_views_flag")
      _ = try reader.flag("current_frame_is_frame0_flag")
      _ = try reader.flag("frame0_self_contained_flag")
      _ = try reader.flag("frame1_self_contained_flag")
      if !isQuincunx, type != 5 {
        _ = try reader.u(4, "frame0_grid_position_x")
        _ = try reader.u(4, "frame0_grid_position_y")
        _ = try reader.u(4, "frame1_grid_position_x")
        _ = try reader.u(4, "frame1_grid_position_y")
      }
      _ = try reader.u(8, "frame_packing_arrangement_reserved_byte")
      _ = try reader.ue("frame_packing_arrangement_repetition_period", in: 0...16384)
    }
    _ = try reader.flag("frame_packing_arrangement_extension_flag")
  }

  /// `display_orientation()` (H.264 §D.1.27). The rotation is in units of 360/65536 degrees.
  func parseDisplayOrientation(_ reader: inout BitReader) throws(SyntaxError) {
    guard try !reader.flag("display_orientation_cancel_flag") else { return }
    _ = try reader.flag("hor_flip")
    _ = try reader.flag("ver_flip")
    _ = try reader.u(16, "anticlockwise_rotation")
    _ = try reader.ue("display_orientation_repetition_period", in: 0...16384)
    _ = try reader.flag("display_orientation_extension_flag")
  }
}

/// Messages about grain, light and colour.
extension SEIParser {
  /// `film_grain_characteristics()` (H.264 §D.1.21).
  func parseFilmGrainCharacteristics(_ reader: inout BitReader) throws(SyntaxError) {
    guard try !reader.flag("film_grain_characteristics_cancel_flag") else { return }
    _ = try reader.u(2, "film_grain_model_id", in: 0...1)
    if try reader.flag("separate_colour_description_present_flag") {
      _ = try reader.u(3, "film_grain_bit_depth_luma_minus8")
      _ = try reader.u(3, "film_grain_bit_depth_chroma_minus8")
      _ = try reader.flag("film_grain_full_range_flag")
      _ = try reader.u(8, "film_grain_colour_primaries")
      _ = try reader.u(8, "film_grain_transfer_characteristics")
      _ = try reader.u(8, "film_grain_matrix_coefficients")
    }
    _ = try reader.u(2, "blending_mode_id", in: 0...1)
    _ = try reader.u(4, "log2_scale_factor")
    var isPresent: [Bool] = []
    reader.record?.beginLoop()
    for _ in 0..<3 {
      isPresent.append(try reader.flag("comp_model_present_flag"))
      reader.record?.nextTurn()
    }
    reader.record?.end()
    reader.record?.beginLoop()
    for component in 0..<3 {
      if isPresent[component] { try parseGrainModel(&reader) }
      reader.record?.nextTurn()
    }
    reader.record?.end()
    _ = try reader.ue("film_grain_characteristics_repetition_period", in: 0...16384)
  }

  private func parseGrainModel(_ reader: inout BitReader) throws(SyntaxError) {
    let intervals = try reader.u(8, "num_intensity_intervals_minus1") + 1
    let values = try reader.u(3, "num_model_values_minus1", in: 0...5) + 1
    reader.record?.beginLoop()
    for _ in 0..<intervals {
      _ = try reader.u(8, "intensity_interval_lower_bound")
      _ = try reader.u(8, "intensity_interval_upper_bound")
      reader.record?.beginLoop()
      for _ in 0..<values {
        _ = try reader.se("comp_model_value")
        reader.record?.nextTurn()
      }
      reader.record?.end()
      reader.record?.nextTurn()
    }
    reader.record?.end()
  }

  /// `tone_mapping_info()` (H.264 §D.1.25).
  func parseToneMappingInfo(_ reader: inout BitReader) throws(SyntaxError) {
    _ = try reader.ue("tone_map_id")
    guard try !reader.flag("tone_map_cancel_flag") else { return }
    _ = try reader.ue("tone_map_repetition_period", in: 0...16384)
    let codedDepth = try reader.u(8, "coded_data_bit_depth", in: 8...14, within: 1...32)
    let targetDepth = try reader.u(8, "target_bit_depth", in: 1...16, within: 1...16)
    let codedLength = (codedDepth + 7) / 8 * 8
    let targetLength = (targetDepth + 7) / 8 * 8
    switch try reader.ue("tone_map_model_id", in: 0...4) {
    case 0:
      _ = try reader.u(32, "min_value")
      _ = try reader.u(32, "max_value")
    case 1:
      _ = try reader.u(32, "sigmoid_midpoint")
      _ = try reader.u(32, "sigmoid_width")
    case 2:
      reader.record?.beginArray("start_of_coded_interval")
      for _ in 0..<1 << targetDepth {
        _ = try reader.u(codedLength, "start_of_coded_interval")
      }
      reader.record?.end()
    case 3:
      let count = try reader.u(16, "num_pivots")
      reader.record?.beginLoop()
      for _ in 0..<count {
        _ = try reader.u(codedLength, "coded_pivot_value")
        _ = try reader.u(targetLength, "target_pivot_value")
        reader.record?.nextTurn()
      }
      reader.record?.end()
    case 4:
      try parseCamera(&reader)
    default:
      break
    }
  }

  private func parseCamera(_ reader: inout BitReader) throws(SyntaxError) {
    let extended = 255
    if try reader.u(8, "camera_iso_speed_idc") == extended {
      _ = try reader.u(32, "camera_iso_speed_value")
    }
    if try reader.u(8, "exposure_index_idc") == extended {
      _ = try reader.u(32, "exposure_index_value")
    }
    _ = try reader.flag("exposure_compensation_value_sign_flag")
    _ = try reader.u(16, "exposure_compensation_value_numerator")
    _ = try reader.u(16, "exposure_compensation_value_denom_idc")
    _ = try reader.u(32, "ref_screen_luminance_white")
    _ = try reader.u(32, "extended_range_white_level")
    _ = try reader.u(16, "nominal_black_level_luma_code_value")
    _ = try reader.u(16, "nominal_white_level_luma_code_value")
    _ = try reader.u(16, "extended_white_level_luma_code_value")
  }

  /// `mastering_display_colour_volume()` (H.264 §D.1.29).
  func parseMasteringDisplayColourVolume(_ reader: inout BitReader) throws(SyntaxError) {
    reader.record?.beginLoop()
    for _ in 0..<3 {
      _ = try reader.u(16, "display_primaries_x")
      _ = try reader.u(16, "display_primaries_y")
      reader.record?.nextTurn()
    }
    reader.record?.end()
    _ = try reader.u(16, "white_point_x")
    _ = try reader.u(16, "white_point_y")
    _ = try reader.u(32, "max_display_mastering_luminance")
    _ = try reader.u(32, "min_display_mastering_luminance")
  }

  /// `content_colour_volume()` (H.264 §D.1.33).
  func parseContentColourVolume(_ reader: inout BitReader) throws(SyntaxError) {
    guard try !reader.flag("ccv_cancel_flag") else { return }
    _ = try reader.flag("ccv_persistence_flag")
    let hasPrimaries = try reader.flag("ccv_primaries_present_flag")
    let hasLuminance = [
      try reader.flag("ccv_min_luminance_value_present_flag"),
      try reader.flag("ccv_max_luminance_value_present_flag"),
      try reader.flag("ccv_avg_luminance_value_present_flag"),
    ]
    _ = try reader.u(2, "ccv_reserved_zero_2bits")
    if hasPrimaries {
      reader.record?.beginLoop()
      for _ in 0..<3 {
        _ = try reader.i(32, "ccv_primaries_x")
        _ = try reader.i(32, "ccv_primaries_y")
        reader.record?.nextTurn()
      }
      reader.record?.end()
    }
    if hasLuminance[0] { _ = try reader.u(32, "ccv_min_luminance_value") }
    if hasLuminance[1] { _ = try reader.u(32, "ccv_max_luminance_value") }
    if hasLuminance[2] { _ = try reader.u(32, "ccv_avg_luminance_value") }
  }
}
