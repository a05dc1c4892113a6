import H264
import Testing

/// Annexes F to H: subset sequence parameter sets, prefix units, slices of other layers and views.
@Suite struct ExtensionTests {
  private func subset(
    _ fields: SequenceParameterSetFields, _ write: (inout BitWriter) -> Void
  ) throws -> (set: SubsetSequenceParameterSet, issues: [SyntaxError], record: String) {
    let rbsp = BitWriter { writer in
      fields.writeData(&writer)
      write(&writer)
      writer.u("0")
      writer.trailingBits()
    }.rbsp
    var reader = BitReader(rbsp.span, record: SyntaxRecord())
    let set = try SubsetSequenceParameterSet(parsing: &reader)
    return (set, reader.issues, reader.takeRecord()?.text ?? "")
  }

  private static let scalableExtension = BitWriter { writer in
    writer.u("1 10 1 01")
    writer.u("1 1 0")
  }

  private func scalable() throws -> (
    set: SubsetSequenceParameterSet, issues: [SyntaxError], record: String
  ) {
    try subset(.init(profile: 83, picOrderCntType: 2)) { writer in
      for bit in Self.scalableExtension.bits { writer.u(1, Int(bit)) }
      // VUI: one entry with timing and a VCL HRD.
      writer.u("1")
      writer.ue(0)
      writer.u("001 0010 011 1")
      writer.u(32, 1)
      writer.u(32, 50)
      writer.u("1 0 1")
      writer.ue(0)
      writer.u("0000 0000")
      writer.ue(9, 19)
      writer.u("1 00000 00001 00010 00011 0 1")
    }
  }

  @Test func readsTheScalableExtension() throws {
    let (set, issues, record) = try scalable()
    #expect(issues == [])
    #expect(set.scalable?.extendedSpatialScalabilityIDC == 2)
    #expect(set.scalable?.adaptiveTcoeffLevelPrediction == true)
    #expect(
      record.contains(
        """
        seq_parameter_set_svc_extension:{inter_layer_deblocking_filter_control_present_flag:1,\
        extended_spatial_scalability_idc:2,chroma_phase_x_plus1_flag:1,chroma_phase_y_plus1:1,\
        seq_tcoeff_level_prediction_flag:1,adaptive_tcoeff_level_prediction_flag:1,\
        slice_header_restriction_flag:0},svc_vui_parameters_present_flag:1,\
        svc_vui_parameters_extension:{vui_ext_num_entries_minus1:0,vui_ext_dependency_id:[1],\
        vui_ext_quality_id:[2],vui_ext_temporal_id:[3],vui_ext_timing_info_present_flag:[1],\
        vui_ext_num_units_in_tick:[1],vui_ext_time_scale:[50],vui_ext_fixed_frame_rate_flag:[1],\
        vui_ext_nal_hrd_parameters_present_flag:[0],vui_ext_vcl_hrd_parameters_present_flag:[1],\
        vcl_hrd_parameters:[{cpb_cnt_minus1:0,
        """))
    #expect(record.hasSuffix("vui_ext_pic_struct_present_flag:[1]},additional_extension2_flag:0"))
  }

  @Test func readsAScalableSliceHeader() throws {
    var sets = try ParameterSets(.init(picOrderCntType: 2), .init(weightedPred: true))
    sets.store(try scalable().set)
    let rbsp = BitWriter { writer in
      writer.ue(0, 0, 0)
      writer.u(4, 1)
      writer.u("0 0")
      writer.u("1")  // base_pred_weight_table_flag
      writer.u("0 1")  // dec_ref_pic_marking, store_ref_base_pic_flag
      writer.u("1")
      writer.ue(1, 4, 2, 5, 0)
      writer.se(-1)
      writer.ue(3, 0)
      writer.se(1, -1)
      writer.u("1 1 10")
      writer.se(-2, 2, -4, 4)
      writer.u("0 0 0 1 0 1 1")
      writer.u("0000 1111")
    }.rbsp
    // svc_extension_flag, idr_flag 0, priority 0; no_inter_layer_pred_flag 0, ids 0; then
    // use_ref_base_pic_flag 0, output_flag 1, reserved.
    let (header, issues, record) = try parseSliceHeader(
      rbsp, unit: [0x74, 0x80, 0x00, 0x07], sets)
    #expect(issues == [])
    #expect(header.sliceQP == 25)
    #expect(
      record
        == """
        first_mb_in_slice:0,slice_type:0,pic_parameter_set_id:0,frame_num:1,\
        num_ref_idx_active_override_flag:0,\
        ref_pic_list_modification:{ref_pic_list_modification_flag_l0:0},\
        base_pred_weight_table_flag:1,\
        dec_ref_pic_marking:{adaptive_ref_pic_marking_mode_flag:0},store_ref_base_pic_flag:1,\
        dec_ref_base_pic_marking:{adaptive_ref_base_pic_marking_mode_flag:1,\
        memory_management_base_control_operations:[\
        {memory_management_base_control_operation:1,difference_of_base_pic_nums_minus1:4},\
        {memory_management_base_control_operation:2,long_term_base_pic_num:5},\
        {memory_management_base_control_operation:0}]},slice_qp_delta:-1,\
        ref_layer_dq_id:3,disable_inter_layer_deblocking_filter_idc:0,\
        inter_layer_slice_alpha_c0_offset_div2:1,inter_layer_slice_beta_offset_div2:-1,\
        constrained_intra_resampling_flag:1,ref_layer_chroma_phase_x_plus1_flag:1,\
        ref_layer_chroma_phase_y_plus1:2,scaled_ref_layer_left_offset:-2,\
        scaled_ref_layer_top_offset:2,scaled_ref_layer_right_offset:-4,\
        scaled_ref_layer_bottom_offset:4,slice_skip_flag:0,adaptive_base_mode_flag:0,\
        default_base_mode_flag:0,adaptive_motion_prediction_flag:1,\
        adaptive_residual_prediction_flag:0,default_residual_prediction_flag:1,\
        tcoeff_level_prediction_flag:1,scan_idx_start:0,scan_idx_end:15
        """)
  }

  @Test func readsTheMultiviewExtension() throws {
    let (set, issues, record) = try subset(.init(profile: 118, picOrderCntType: 2)) { writer in
      writer.u("1")
      writer.ue(2, 0, 5, 9)
      writer.ue(1, 0, 0, 2, 0, 5, 0)
      writer.ue(0, 0, 1, 5, 0)
      writer.ue(0)
      writer.u(8, 40)
      writer.ue(0)
      writer.u("011")
      writer.ue(1, 5, 9, 2)
      writer.u("0")
    }
    #expect(issues == [])
    #expect(set.viewIDs == [0, 5, 9])
    #expect(
      record.contains(
        """
        bit_equal_to_one:1,seq_parameter_set_mvc_extension:{num_views_minus1:2,view_id:[0,5,9],\
        num_anchor_refs_l0:[null,1,2],anchor_ref_l0:[null,[0],[0,5]],\
        num_anchor_refs_l1:[null,0,0],num_non_anchor_refs_l0:[null,0,1],\
        num_non_anchor_refs_l1:[null,0,0],non_anchor_ref_l0:[null,null,[5]],\
        num_level_values_signalled_minus1:0,level_idc:[40],num_applicable_ops_minus1:[0],\
        applicable_op_temporal_id:[[3]],applicable_op_num_target_views_minus1:[[1]],\
        applicable_op_target_view_id:[[[5,9]]],applicable_op_num_views_minus1:[[2]]},\
        mvc_vui_parameters_present_flag:0,additional_extension2_flag:0
        """))
  }

  @Test func readsTheMultiviewDepthExtension() throws {
    let (set, issues, record) = try subset(.init(profile: 138, picOrderCntType: 2)) { writer in
      writer.u("1")
      writer.ue(1, 0)
      writer.u("11")
      writer.ue(3)
      writer.u("11")
      writer.ue(1, 0, 0)
      writer.ue(0, 0)
      writer.ue(0)
      writer.u(8, 41)
      writer.ue(0)
      writer.u("000")
      writer.ue(0, 3)
      writer.u("10")
      writer.ue(0, 1)
      // mvcd_vui_parameters_extension() of one operation point.
      writer.u("1")
      writer.ue(0)
      writer.u("010")
      writer.ue(0, 3)
      writer.u("11 0 0 0 1")
      writer.u("0")
    }
    #expect(issues == [])
    #expect(set.viewIDs == [0, 3])
    #expect(record.contains("depth_view_present_flag:[1,1],texture_view_present_flag:[1,1],"))
    #expect(record.contains("applicable_op_depth_flag:[[[1]]],applicable_op_texture_flag:[[[0]]]"))
    #expect(
      record.contains(
        """
        mvcd_vui_parameters_extension:{vui_mvcd_num_ops_minus1:0,vui_mvcd_temporal_id:[2],\
        vui_mvcd_num_target_output_views_minus1:[0],vui_mvcd_view_id:[[3]],
        """))
  }

  @Test func brokenExtensionKeepsTheSet() throws {
    let (set, issues, _) = try subset(.init(profile: 128)) { writer in
      writer.u("1")
      writer.ue(1024)
    }
    #expect(set.data.displaySize?.width == 320)
    #expect(issues.map(\.reason) == [.outOfRange(1024)])
  }

  @Test func everyCutOfASubsetSetIsAnErrorOrAnIssue() throws {
    let rbsp = BitWriter { writer in
      SequenceParameterSetFields(profile: 118).writeData(&writer)
      writer.u("1")
      writer.ue(2, 0, 5, 9)
      writer.ue(1, 0, 0, 2, 0, 5, 0)
      writer.ue(0, 0, 1, 5, 0)
      writer.ue(0)
      writer.u(8, 40)
      writer.ue(0)
      writer.u("011")
      writer.ue(1, 5, 9, 2)
      writer.u("0 0")
      writer.trailingBits()
    }.rbsp
    for count in 0..<rbsp.count {
      var reader = BitReader(rbsp.span.extracting(first: count))
      do throws(SyntaxError) {
        _ = try SubsetSequenceParameterSet(parsing: &reader)
        #expect(!reader.issues.isEmpty)
      } catch {
        #expect(error.reason == .truncated)
      }
    }
  }

  @Test func viewModificationsBelongToSlicesOfOtherViews() throws {
    var sets = try ParameterSets(.init(picOrderCntType: 2), .init(refCounts: [2, 1]))
    sets.store(
      try subset(.init(profile: 118, log2MaxFrameNum: 9, picOrderCntType: 2)) { writer in
        writer.u("1")
        writer.ue(0, 0, 0)
        writer.u(8, 40)
        writer.ue(0)
        writer.u("000")
        writer.ue(0, 0, 0)
        writer.u("0")
      }.set)
    let rbsp = BitWriter { writer in
      writer.ue(0, 5, 0)
      writer.u(9, 300)
      writer.u("0 1")
      writer.ue(4, 0, 5, 1, 3)
      writer.se(0)
    }.rbsp
    // MVC: svc_extension_flag 0, non_idr_flag 1, view_id 1.
    let (header, issues, record) = try parseSliceHeader(
      rbsp, unit: [0x14, 0x40, 0x00, 0x47], sets)
    #expect(issues == [])
    #expect(!header.isIDR)
    #expect(header.frameNum == 300)
    #expect(
      record.contains(
        """
        ref_pic_list_mvc_modification:{ref_pic_list_modification_flag_l0:1,modifications_l0:[\
        {modification_of_pic_nums_idc:4,abs_diff_view_idx_minus1:0},\
        {modification_of_pic_nums_idc:5,abs_diff_view_idx_minus1:1},\
        {modification_of_pic_nums_idc:3}]}
        """))
  }

  /// nal_ref_idc and extension bytes of a prefix unit, its payload, and the record.
  @Test(
    arguments: [
      (
        [0x6E, 0x80, 0x00, 0x07], "00 1",
        """
        store_ref_base_pic_flag:0,\
        additional_prefix_nal_unit_extension_flag:0
        """
      ),
      (
        [0x6E, 0x80, 0x00, 0x07], "1 0 0 1",
        """
        store_ref_base_pic_flag:1,\
        dec_ref_base_pic_marking:{adaptive_ref_base_pic_marking_mode_flag:0},\
        additional_prefix_nal_unit_extension_flag:0
        """
      ),
      (
        [0x6E, 0xC0, 0x00, 0x07], "1 0 1",
        """
        store_ref_base_pic_flag:1,\
        additional_prefix_nal_unit_extension_flag:0
        """
      ),
      ([0x0E, 0x80, 0x00, 0x07], "", ""),
      ([0x6E, 0x00, 0x00, 0x07], "", ""),
    ] as [([UInt8], String, String)])
  func readsPrefixUnits(unit: [UInt8], bits: String, text: String) throws {
    let rbsp = BitWriter { $0.u(bits) }.rbsp
    var reader = BitReader(rbsp.span, record: SyntaxRecord())
    try SupplementalUnits.parsePrefix(&reader, unit: NALUnitHeader(unit.span))
    #expect(reader.issues == [])
    #expect(reader.takeRecord()?.text == text)
  }

  @Test func readsTheSequenceParameterSetExtension() throws {
    let rbsp = BitWriter { writer in
      writer.ue(2, 1, 0)
      writer.u("1")
      writer.u(9, 255)
      writer.u(9, 16)
      writer.u("0")
      writer.trailingBits()
    }.rbsp
    var reader = BitReader(rbsp.span, record: SyntaxRecord())
    #expect(try SupplementalUnits.parseSequenceParameterSetExtension(&reader) == 2)
    #expect(reader.issues == [])
    #expect(
      reader.takeRecord()?.text
        == """
        seq_parameter_set_id:2,aux_format_idc:1,bit_depth_aux_minus8:0,alpha_incr_flag:1,\
        alpha_opaque_value:255,alpha_transparent_value:16,additional_extension_flag:0
        """)
  }

  @Test func readsTheAccessUnitDelimiter() throws {
    let rbsp: [UInt8] = [0xF0]
    var reader = BitReader(rbsp.span)
    #expect(try SupplementalUnits.parseAccessUnitDelimiter(&reader) == 7)
    #expect(reader.issues == [])
  }
}
