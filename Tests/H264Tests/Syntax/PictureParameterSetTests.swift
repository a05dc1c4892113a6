import H264
import Testing

@Suite struct PictureParameterSetTests {
  @Test func readsEveryElement() throws {
    let (set, issues, record) = try parsePictureParameterSet(
      PictureParameterSetFields(
        id: 255, sequenceParameterSetID: 31, cabac: true, bottomFieldPicOrder: true,
        refCounts: [3, 32], weightedPred: true, weightedBipred: 2, initQP: 20,
        deblockingControl: true, redundantPictures: true
      ).rbsp, chromaFormatIDC: nil)
    #expect(issues == [])
    #expect(set.id == 255)
    #expect(set.numRefIdxL1DefaultActive == 32)
    #expect(set.tail == nil)
    #expect(
      record
        == """
        pic_parameter_set_id:255,seq_parameter_set_id:31,entropy_coding_mode_flag:1,\
        bottom_field_pic_order_in_frame_present_flag:1,num_slice_groups_minus1:0,\
        num_ref_idx_l0_default_active_minus1:2,num_ref_idx_l1_default_active_minus1:31,\
        weighted_pred_flag:1,weighted_bipred_idc:2,pic_init_qp_minus26:-6,\
        pic_init_qs_minus26:0,chroma_qp_index_offset:-2,\
        deblocking_filter_control_present_flag:1,constrained_intra_pred_flag:0,\
        redundant_pic_cnt_present_flag:1
        """)
  }

  /// The elements from slice_group_map_type on, how they read, and how they are recorded.
  ///
  /// Computed, because the leak checker does not see the arrays of an enumeration in a global.
  static var sliceGroups: [(BitWriter, SliceGroups, String)] {
    [
      (
        BitWriter { $0.ue(0, 4, 0, 9) }, .interleaved(runLengthMinus1: [4, 0, 9]),
        "slice_group_map_type:0,run_length_minus1:[4,0,9]"
      ),
      (BitWriter { $0.ue(1) }, .dispersed, "slice_group_map_type:1"),
      (
        BitWriter { $0.ue(2, 0, 25, 3, 120) },
        .foreground(topLeft: [0, 3], bottomRight: [25, 120]),
        "slice_group_map_type:2,top_left:[0,3],bottom_right:[25,120]"
      ),
      (
        BitWriter { writer in
          writer.ue(3)
          writer.u("1")
          writer.ue(9)
        }, .changing(type: 3, directionFlag: true, rateMinus1: 9),
        "slice_group_map_type:3,slice_group_change_direction_flag:1,slice_group_change_rate_minus1:9"
      ),
      (
        BitWriter { writer in
          writer.ue(4)
          writer.u("0")
          writer.ue(0)
        }, .changing(type: 4, directionFlag: false, rateMinus1: 0),
        "slice_group_map_type:4,slice_group_change_direction_flag:0,slice_group_change_rate_minus1:0"
      ),
      (
        BitWriter { writer in
          writer.ue(5)
          writer.u("0")
          writer.ue(2)
        }, .changing(type: 5, directionFlag: false, rateMinus1: 2),
        "slice_group_map_type:5,slice_group_change_direction_flag:0,slice_group_change_rate_minus1:2"
      ),
      (
        BitWriter { writer in
          writer.ue(6, 5)
          for group in [0, 1, 2, 2, 1, 0] { writer.u(2, group) }
        }, .explicit(mapUnits: 6),
        "slice_group_map_type:6,pic_size_in_map_units_minus1:5,slice_group_id:[0,1,2,2,1,0]"
      ),
    ]
  }

  @Test(arguments: 0..<7)
  func readsAllTypesOfSliceGroups(type: Int) throws {
    let (bits, groups, text) = Self.sliceGroups[type]
    let fields = PictureParameterSetFields(
      sliceGroupCount: 3,
      sliceGroups: { writer in
        for bit in bits.bits { writer.u(1, Int(bit)) }
      }, initQP: 30)
    let (set, issues, record) = try parsePictureParameterSet(fields.rbsp, chromaFormatIDC: 1)
    #expect(issues == [])
    #expect(set.sliceGroups == groups)
    #expect(record.contains("num_slice_groups_minus1:2,\(text),num_ref_idx_l0"))
    #expect(set.picInitQPMinus26 == 4)
  }

  @Test func sliceGroupMapLongerThanTheDataIsRefused() {
    let fields = PictureParameterSetFields(
      sliceGroupCount: 2, sliceGroups: { $0.ue(6, 0xFFFF_FFFE) })
    #expect(throws: SyntaxError.self) {
      try parsePictureParameterSet(fields.rbsp, chromaFormatIDC: 1)
    }
  }

  /// chroma_format_idc, transform_8x8_mode_flag, number of scaling lists.
  @Test(
    arguments: [
      (0, 0, 6), (1, 0, 6), (3, 0, 6), (0, 1, 8), (1, 1, 8), (2, 1, 8), (3, 1, 12),
    ])
  func numberOfScalingListsFollowsTheSequence(chroma: Int, transform: Int, lists: Int) throws {
    let fields = PictureParameterSetFields(tail: { writer in
      writer.u(1, transform)
      writer.u("1")
      for _ in 0..<lists { writer.u("0") }
      writer.se(-7)
    })
    let (set, issues, record) = try parsePictureParameterSet(fields.rbsp, chromaFormatIDC: chroma)
    #expect(issues == [])
    #expect(!set.isGuess)
    #expect(set.tail?.scalingMatrix?.lists.count == lists)
    #expect(set.tail?.secondChromaQPIndexOffset == -7)
    #expect(record.contains("{fall_back:sequence-level list 0},{fall_back:list 0}"))
  }

  @Test func setBeforeItsSequenceIsAGuessThatSliceHeadersMayUse() throws {
    let rbsp = PictureParameterSetFields(tail: { writer in
      writer.u("1 1 0000 0000 0000")
      writer.se(3)
    }).rbsp
    let (guess, issues, _) = try parsePictureParameterSet(rbsp, chromaFormatIDC: nil)
    #expect(guess.isGuess)
    #expect(issues == [])
    let (known, _, _) = try parsePictureParameterSet(rbsp, chromaFormatIDC: 3)
    #expect(!known.isGuess)
    #expect(known.tail?.secondChromaQPIndexOffset == 3)
    var same = guess
    (same.tail, same.isGuess) = (known.tail, false)
    #expect(same == known)
  }

  @Test func everyCutIsAnErrorOrAnIssue() throws {
    let rbsp = PictureParameterSetFields(
      sliceGroupCount: 3, sliceGroups: { $0.ue(0, 400, 500, 600) },
      tail: { writer in
        writer.u("1 1 1")
        writer.se(8, -6, -10)
        writer.u("0000000")
        writer.se(11)
      }
    ).rbsp
    let (_, whole, _) = try parsePictureParameterSet(rbsp, chromaFormatIDC: 1)
    #expect(whole == [])
    for count in 0..<rbsp.count {
      var reader = BitReader(rbsp.span.extracting(first: count))
      do throws(SyntaxError) {
        _ = try PictureParameterSet(parsing: &reader) { _ in 1 }
        #expect(!reader.issues.isEmpty)
      } catch {
        #expect(error.reason == .truncated)
      }
    }
  }
}
