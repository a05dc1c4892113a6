/// What `seq_parameter_set_svc_extension()` (H.264 §F.7.3.2.1.4) says about slice headers.
package struct ScalableExtension: Equatable, Sendable {
  package var interLayerDeblockingFilterControlPresent = false
  package var extendedSpatialScalabilityIDC = 0
  package var adaptiveTcoeffLevelPrediction = false
  package var sliceHeaderRestriction = false
}

extension ScalableExtension {
  init(parsing reader: inout BitReader, chromaArrayType: Int) throws(SyntaxError) {
    reader.record?.beginObject("seq_parameter_set_svc_extension")
    interLayerDeblockingFilterControlPresent = try reader.flag(
      "inter_layer_deblocking_filter_control_present_flag")
    extendedSpatialScalabilityIDC = try reader.u(
      2, "extended_spatial_scalability_idc", in: 0...2)
    if chromaArrayType == 1 || chromaArrayType == 2 {
      _ = try reader.flag("chroma_phase_x_plus1_flag")
    }
    if chromaArrayType == 1 {
      _ = try reader.u(2, "chroma_phase_y_plus1", in: 0...2)
    }
    if extendedSpatialScalabilityIDC == 1 {
      if chromaArrayType > 0 {
        _ = try reader.flag("seq_ref_layer_chroma_phase_x_plus1_flag")
        _ = try reader.u(2, "seq_ref_layer_chroma_phase_y_plus1", in: 0...2)
      }
      _ = try reader.se("seq_scaled_ref_layer_left_offset", in: -32768...32767)
      _ = try reader.se("seq_scaled_ref_layer_top_offset", in: -32768...32767)
      _ = try reader.se("seq_scaled_ref_layer_right_offset", in: -32768...32767)
      _ = try reader.se("seq_scaled_ref_layer_bottom_offset", in: -32768...32767)
    }
    if try reader.flag("seq_tcoeff_level_prediction_flag") {
      adaptiveTcoeffLevelPrediction = try reader.flag("adaptive_tcoeff_level_prediction_flag")
    }
    sliceHeaderRestriction = try reader.flag("slice_header_restriction_flag")
    reader.record?.end()
  }

  /// Reads `svc_vui_parameters_extension()` (H.264 §F.14.1).
  static func skipVUI(_ reader: inout BitReader) throws(SyntaxError) {
    reader.record?.beginObject("svc_vui_parameters_extension")
    let count = try reader.ue("vui_ext_num_entries_minus1", within: 0...1023) + 1
    reader.record?.beginLoop()
    for _ in 0..<count {
      _ = try reader.u(3, "vui_ext_dependency_id")
      _ = try reader.u(4, "vui_ext_quality_id")
      _ = try reader.u(3, "vui_ext_temporal_id")
      try OperationPointTiming.skip(&reader, names: .scalable)
      reader.record?.nextTurn()
    }
    reader.record?.end()
    reader.record?.end()
  }
}

/// The timing and HRD part that the VUI extensions of Annexes F and G give for each operation point.
enum OperationPointTiming {
  struct Names {
    let timingFlag, numUnitsInTick, timeScale, fixedFrameRate: String
    let nalHRDFlag, vclHRDFlag, lowDelay, picStruct: String

    static let scalable = Names(
      timingFlag: "vui_ext_timing_info_present_flag",
      numUnitsInTick: "vui_ext_num_units_in_tick", timeScale: "vui_ext_time_scale",
      fixedFrameRate: "vui_ext_fixed_frame_rate_flag",
      nalHRDFlag: "vui_ext_nal_hrd_parameters_present_flag",
      vclHRDFlag: "vui_ext_vcl_hrd_parameters_present_flag",
      lowDelay: "vui_ext_low_delay_hrd_flag", picStruct: "vui_ext_pic_struct_present_flag")
    static let multiview = Names(
      timingFlag: "vui_mvc_timing_info_present_flag",
      numUnitsInTick: "vui_mvc_num_units_in_tick", timeScale: "vui_mvc_time_scale",
      fixedFrameRate: "vui_mvc_fixed_frame_rate_flag",
      nalHRDFlag: "vui_mvc_nal_hrd_parameters_present_flag",
      vclHRDFlag: "vui_mvc_vcl_hrd_parameters_present_flag",
      lowDelay: "vui_mvc_low_delay_hrd_flag", picStruct: "vui_mvc_pic_struct_present_flag")
    static let depth = Names(
      timingFlag: "vui_mvcd_timing_info_present_flag",
      numUnitsInTick: "vui_mvcd_num_units_in_tick", timeScale: "vui_mvcd_time_scale",
      fixedFrameRate: "vui_mvcd_fixed_frame_rate_flag",
      nalHRDFlag: "vui_mvcd_nal_hrd_parameters_present_flag",
      vclHRDFlag: "vui_mvcd_vcl_hrd_parameters_present_flag",
      lowDelay: "vui_mvcd_low_delay_hrd_flag", picStruct: "vui_mvcd_pic_struct_present_flag")
  }

  static func skip(_ reader: inout BitReader, names: Names) throws(SyntaxError) {
    if try reader.flag(names.timingFlag) {
      _ = try reader.u(32, names.numUnitsInTick, in: 1...0xFFFF_FFFF)
      _ = try reader.u(32, names.timeScale, in: 1...0xFFFF_FFFF)
      _ = try reader.flag(names.fixedFrameRate)
    }
    let hasNAL = try reader.flag(names.nalHRDFlag)
    if hasNAL {
      _ = try HypotheticalReferenceDecoder(parsing: &reader, as: "nal_hrd_parameters")
    }
    let hasVCL = try reader.flag(names.vclHRDFlag)
    if hasVCL {
      _ = try HypotheticalReferenceDecoder(parsing: &reader, as: "vcl_hrd_parameters")
    }
    if hasNAL || hasVCL { _ = try reader.flag(names.lowDelay) }
    _ = try reader.flag(names.picStruct)
  }
}
