import H264
import Testing

/// Annex I: texture and depth coded together.
@Suite struct DepthTests {
  /// Two views with texture and depth, of which `extension` says more.
  private func subset(
    secondHasDepth: Bool = true, _ extension: (inout BitWriter) -> Void
  ) throws -> (set: SubsetSequenceParameterSet, issues: [SyntaxError], record: String) {
    let rbsp = BitWriter { writer in
      SequenceParameterSetFields(profile: 139, picOrderCntType: 2).writeData(&writer)
      writer.u("1")
      writer.ue(1, 0)
      writer.u("11")
      writer.ue(3)
      writer.u(secondHasDepth ? "11" : "01")
      if secondHasDepth { writer.ue(0, 0, 0, 0) }
      // One level with one operation point.
      writer.ue(0)
      writer.u(8, 41)
      writer.ue(0)
      writer.u("000")
      writer.ue(0, 0)
      writer.u("11")
      writer.ue(0, 1)
      writer.u("0 0")
      `extension`(&writer)
      writer.u("0")
      writer.trailingBits()
    }.rbsp
    var reader = BitReader(rbsp.span, record: SyntaxRecord())
    let set = try SubsetSequenceParameterSet(parsing: &reader)
    return (set, reader.issues, reader.takeRecord()?.text ?? "")
  }

  /// The extension as short as it can be.
  private static func plainExtension(
    prediction: Bool = false, synthesis: Bool = false, acquisition: Int = 0
  ) -> (inout BitWriter) -> Void {
    { writer in
      writer.ue(acquisition, 0, 3)
      if acquisition > 0 {
        writer.u("00")
        writer.ue(1, 2, 3, 4)
      }
      writer.u("0 0")
      writer.ue(0)
      writer.u(prediction ? "1" : "0")
      writer.u(synthesis ? "1" : "0")
      writer.u("0 0")
    }
  }

  @Test func readsTheExtensionOfTheSequenceParameterSet() throws {
    let (set, issues, record) = try subset { writer in
      writer.ue(2, 0, 3)
      // depth_ranges(): both, the first equal for the views, mantissas of 4 and of 2 bits.
      writer.u("1 1")
      writer.u("1 00011 0 0011111 1010")
      writer.u("0 00001 1 0000010 11 0 0000011 01")
      // vsp_param() of the one pair.
      writer.ue(5, 6, 7, 8)
      writer.u("1")
      writer.ue(9, 4, 1, 1, 0, 2)
      writer.u("1")
      writer.ue(1, 2, 3, 4)
      writer.ue(1, 3)
      writer.se(-2, 5)
      writer.u("1 1 1 0")
    }
    #expect(issues == [])
    #expect(set.viewIDs == [0, 3])
    #expect(set.depth?.acquisitionIDC == 2)
    #expect(set.depth?.sliceHeaderPrediction == true)
    #expect(set.depth?.seqViewSynthesis == true)
    #expect(
      record.contains(
        """
        texture_vui_parameters_present_flag:0},seq_parameter_set_3davc_extension:{\
        3dv_acquisition_idc:2,view_id_3dv:[0,3],depth_ranges:{z_near_flag:1,z_far_flag:1,\
        z_near:{element_equal_flag:1,mantissa_len_minus1:[3],sign0:[0],exponent0:[31],\
        mantissa0:[10]},z_far:{element_equal_flag:0,mantissa_len_minus1:[1,null],sign0:[1,0],\
        exponent0:[2,3],mantissa0:[3,1]}},vsp_param:{disparity_diff_wji:[null,[5]],\
        disparity_diff_oji:[null,[6]],disparity_diff_wij:[null,[7]],\
        disparity_diff_oij:[null,[8]]},reduced_resolution_flag:1,\
        depth_pic_width_in_mbs_minus1:9,depth_pic_height_in_map_units_minus1:4,\
        depth_hor_mult_minus1:1,depth_ver_mult_minus1:1,depth_hor_rsh:0,depth_ver_rsh:2,\
        depth_frame_cropping_flag:1,depth_frame_crop_left_offset:1,\
        depth_frame_crop_right_offset:2,depth_frame_crop_top_offset:3,\
        depth_frame_crop_bottom_offset:4,grid_pos_num_views:1,grid_pos_view_id:[3],\
        grid_pos_x:[-2],grid_pos_y:[5],slice_header_prediction_flag:1,\
        seq_view_synthesis_flag:1,alc_sps_enable_flag:1,enable_rle_skip_flag:0},\
        additional_extension2_flag:0
        """))
  }

  @Test func readsReferencesOfTextureOnlyWhereAViewHasNoDepth() throws {
    let (_, issues, record) = try subset(secondHasDepth: false) { writer in
      writer.ue(0, 0)
      writer.u("0 0")
      writer.ue(0)
      writer.u("0 0 0 1")
      writer.ue(1, 0, 0, 0, 1, 0)
    }
    #expect(issues == [])
    #expect(
      record.contains(
        """
        grid_pos_num_views:0,slice_header_prediction_flag:0,seq_view_synthesis_flag:0,\
        alc_sps_enable_flag:0,enable_rle_skip_flag:1,num_anchor_refs_l0:[null,1],\
        anchor_ref_l0:[null,[0]],num_anchor_refs_l1:[null,0],num_non_anchor_refs_l0:[null,0],\
        num_non_anchor_refs_l1:[null,1],non_anchor_ref_l1:[null,[0]]},
        """))
  }

  /// Bits behind the three ids of a P slice of a depth or texture view, and the record of them.
  /// slice_header_prediction_flag, seq_view_synthesis_flag and 3dv_acquisition_idc come first.
  @Test(
    arguments: [
      (
        (false, false, 0), 0x40, "0001 0 0 0 1 1 011",
        """
        frame_num:1,num_ref_idx_active_override_flag:0,\
        ref_pic_list_mvc_modification:{ref_pic_list_modification_flag_l0:0},\
        dec_ref_pic_marking:{adaptive_ref_pic_marking_mode_flag:0},slice_qp_delta:0,\
        depth_weighted_pred_flag:1,dps_id:2
        """
      ),
      (
        (false, false, 1), 0x40, "0001 0 0 0 1 1",
        """
        frame_num:1,num_ref_idx_active_override_flag:0,\
        ref_pic_list_mvc_modification:{ref_pic_list_modification_flag_l0:0},\
        dec_ref_pic_marking:{adaptive_ref_pic_marking_mode_flag:0},slice_qp_delta:0,\
        depth_weighted_pred_flag:1
        """
      ),
      (
        (false, true, 2), 0x00, "0001 0 0 0 1 1 0 1",
        """
        frame_num:1,num_ref_idx_active_override_flag:0,\
        ref_pic_list_mvc_modification:{ref_pic_list_modification_flag_l0:0},\
        dec_ref_pic_marking:{adaptive_ref_pic_marking_mode_flag:0},slice_qp_delta:0,\
        dmvp_flag:1,slice_vsp_flag:0,dps_id:0
        """
      ),
      (
        (true, true, 2), 0x40, "10 00 1 1 0 01 010",
        """
        pre_slice_header_src:2,pre_ref_lists_src:0,num_ref_idx_active_override_flag:1,\
        num_ref_idx_l0_active_minus1:0,\
        ref_pic_list_mvc_modification:{ref_pic_list_modification_flag_l0:0},\
        pre_dec_ref_pic_marking_src:1,slice_qp_delta:1
        """
      ),
      (
        (true, false, 0), 0x40, "01 11 00 0 1",
        """
        pre_slice_header_src:1,pre_ref_lists_src:3,pre_dec_ref_pic_marking_src:0,\
        dec_ref_pic_marking:{adaptive_ref_pic_marking_mode_flag:0},slice_qp_delta:0
        """
      ),
    ] as [((Bool, Bool, Int), UInt8, String, String)])
  func readsASliceHeader(
    set: (prediction: Bool, synthesis: Bool, acquisition: Int), depthFlag: UInt8, bits: String,
    text: String
  ) throws {
    var sets = try ParameterSets(.init(picOrderCntType: 2), .init())
    sets.store(
      try subset(
        Self.plainExtension(
          prediction: set.prediction, synthesis: set.synthesis, acquisition: set.acquisition)
      ).set)
    let rbsp = BitWriter { writer in
      writer.ue(0, 5, 0)
      writer.u(bits)
    }.rbsp
    // avc_3d_extension_flag 1, view_idx 1; depth_flag, non_idr_flag 1.
    let (header, issues, record) = try parseSliceHeader(
      rbsp, unit: [0x35, 0x80, 0x80 | depthFlag | 0x20], sets)
    #expect(issues == [])
    #expect(!header.isIDR)
    #expect(record == "first_mb_in_slice:0,slice_type:5,pic_parameter_set_id:0,\(text)")
  }

  /// What pred_direction makes of a depth parameter set.
  @Test(
    arguments: [
      (
        BitWriter { writer in
          writer.ue(7, 2, 0)
          writer.u("1 0 00010 1 0000101 011 0 0")
          writer.ue(2, 17, 18)
        },
        """
        depth_parameter_set_id:7,pred_direction:2,num_depth_views_minus1:0,\
        depth_ranges:{z_near_flag:1,z_far_flag:0,z_near:{mantissa_len_minus1:[2],sign0:[1],\
        exponent0:[5],mantissa0:[3]}},vsp_param_flag:0,depth_param_additional_extension_flag:0,\
        nonlinear_depth_representation_num:2,nonlinear_depth_representation_model:[null,17,18]
        """
      ),
      (
        BitWriter { writer in
          writer.ue(1, 1, 4, 1)
          writer.u("0 1 0 1 0 1 1")
          writer.se(-3)
          writer.u("1")
          writer.ue(1, 2, 3, 4)
          writer.u("0")
          writer.ue(0)
        },
        """
        depth_parameter_set_id:1,pred_direction:1,ref_dps_id0:4,num_depth_views_minus1:1,\
        depth_ranges:{z_near_flag:0,z_far_flag:1,z_far:{element_equal_flag:0,skip_flag:[1,0],\
        sign1:[null,1],exponent_skip_flag:[null,1],mantissa_diff:[null,-3]}},vsp_param_flag:1,\
        vsp_param:{disparity_diff_wji:[null,[1]],disparity_diff_oji:[null,[2]],\
        disparity_diff_wij:[null,[3]],disparity_diff_oij:[null,[4]]},\
        depth_param_additional_extension_flag:0,nonlinear_depth_representation_num:0
        """
      ),
      (
        BitWriter { writer in
          writer.ue(63, 0, 0, 62)
          writer.u("100000")
          writer.ue(2)
          writer.u("1 0 1 0 0 0 1000000")
          writer.se(4)
          writer.u("0 1")
          writer.ue(0)
          writer.u("1010")
        },
        """
        depth_parameter_set_id:63,pred_direction:0,ref_dps_id0:0,ref_dps_id1:62,pred_weight0:32,\
        num_depth_views_minus1:2,depth_ranges:{z_near_flag:1,z_far_flag:0,\
        z_near:{element_equal_flag:1,skip_flag:[0],sign1:[0],exponent_skip_flag:[0],\
        exponent1:[64],mantissa_diff:[4]}},vsp_param_flag:0,\
        depth_param_additional_extension_flag:1,nonlinear_depth_representation_num:0
        """
      ),
    ] as [(BitWriter, String)])
  func readsADepthParameterSet(data: BitWriter, text: String) throws {
    var whole = data
    whole.trailingBits()
    var reader = BitReader(whole.rbsp.span, record: SyntaxRecord())
    _ = try DepthSyntax.parseParameterSet(&reader)
    #expect(reader.issues == [])
    #expect(reader.takeRecord()?.text == text)
    for count in 0..<whole.rbsp.count {
      var cut = BitReader(whole.rbsp.span.extracting(first: count))
      do throws(SyntaxError) {
        _ = try DepthSyntax.parseParameterSet(&cut)
        #expect(!cut.issues.isEmpty)
      } catch {
        #expect(error.reason == .truncated)
      }
    }
  }

  @Test func everyCutOfAnExtensionIsAnErrorOrAnIssue() throws {
    let rbsp = BitWriter { writer in
      SequenceParameterSetFields(profile: 139).writeData(&writer)
      writer.u("1")
      writer.ue(0, 0)
      writer.u("11")
      writer.ue(0)
      writer.u(8, 41)
      writer.ue(0)
      writer.u("000")
      writer.ue(0, 0)
      writer.u("11")
      writer.ue(0, 1)
      writer.u("0 0")
      writer.ue(1, 0)
      writer.u("1 1 00010 1 0000101 011 00010 1 0000101 011 0 0")
      writer.ue(0)
      writer.u("1 1 0 0 0")
      writer.trailingBits()
    }.rbsp
    var whole = BitReader(rbsp.span)
    #expect(try SubsetSequenceParameterSet(parsing: &whole).depth != nil)
    #expect(whole.issues == [])
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
}
