import H264
import Testing

/// Parses `rbsp` as the payload of a NAL unit whose header is `unit`.
func parseSliceHeader(
  _ rbsp: [UInt8], unit: [UInt8], _ sets: ParameterSets
) throws -> (header: SliceHeader, issues: [SyntaxError], record: String) {
  var reader = BitReader(rbsp.span, record: SyntaxRecord())
  var header = SliceHeader()
  try header.parse(&reader, unit: NALUnitHeader(unit.span), parameterSets: sets)
  return (header, reader.issues, reader.takeRecord()?.text ?? "")
}

@Suite struct SliceHeaderTests {
  @Test func intraSliceOfAnIDRPicture() throws {
    let sets = try ParameterSets(.init(), .init(initQP: 24, deblockingControl: true))
    let rbsp = BitWriter { writer in
      writer.ue(0, 7, 0)
      writer.u(4, 0)
      writer.ue(65535)
      writer.u(4, 9)
      writer.u("10")
      writer.se(-3)
      writer.ue(0)
      writer.se(6, -6)
      writer.u("1")
    }.rbsp
    let (header, issues, record) = try parseSliceHeader(rbsp, unit: [0x65], sets)
    #expect(issues == [])
    #expect(header.sliceType == .i)
    #expect(header.isIDR)
    #expect(header.noOutputOfPriorPics)
    #expect(!header.longTermReference)
    #expect(header.sliceQP == 21)
    #expect(
      record
        == """
        first_mb_in_slice:0,slice_type:7,pic_parameter_set_id:0,frame_num:0,idr_pic_id:65535,\
        pic_order_cnt_lsb:9,ref_pic_list_modification:{},\
        dec_ref_pic_marking:{no_output_of_prior_pics_flag:1,long_term_reference_flag:0},\
        slice_qp_delta:-3,disable_deblocking_filter_idc:0,slice_alpha_c0_offset_div2:6,\
        slice_beta_offset_div2:-6
        """)
  }

  @Test func bottomFieldOfBWithEverything() throws {
    let sets = try ParameterSets(
      .init(profile: 77, id: 3, log2MaxFrameNum: 7, frameMbsOnly: false),
      .init(
        id: 200, sequenceParameterSetID: 3, cabac: true, bottomFieldPicOrder: true,
        weightedBipred: 1, redundantPictures: true))
    let rbsp = BitWriter { writer in
      writer.ue(40, 1, 200)
      writer.u(7, 100)
      writer.u("11")
      writer.u(4, 15)
      writer.ue(2)
      writer.u("1 1")
      writer.ue(1, 0)
      // Two commands for list 0, the end; none for list 1.
      writer.u("1")
      writer.ue(0, 4, 2, 1, 3)
      writer.u("0")
      // Two weights for list 0, one for list 1.
      writer.ue(5, 4)
      writer.u("1")
      writer.se(-128, 127)
      writer.u("0 0 1")
      writer.se(1, 2, 3, 4)
      writer.u("00")
      writer.u("1")
      for command in [[1, 7], [2, 3], [3, 0, 2], [4, 5], [5], [6, 1], [0]] {
        for value in command { writer.ue(value) }
      }
      writer.ue(2)
      writer.se(10)
      writer.u("1")
    }.rbsp
    let (header, issues, record) = try parseSliceHeader(rbsp, unit: [0x41], sets)
    #expect(issues == [])
    #expect(header.pictureStructure == .bottomField)
    #expect((header.numRefIdxL0Active, header.numRefIdxL1Active) == (2, 1))
    #expect(header.redundantPicCnt == 2)
    #expect(header.unmarksAll)
    #expect(
      header.memoryManagement == [
        .unmarkShortTerm(differenceOfPicNumsMinus1: 7), .unmarkLongTerm(longTermPicNum: 3),
        .assignLongTerm(differenceOfPicNumsMinus1: 0, longTermFrameIdx: 2),
        .limitLongTerm(maxLongTermFrameIdxPlus1: 5), .unmarkAll,
        .markCurrentLongTerm(longTermFrameIdx: 1),
      ])
    #expect(header.sliceQP == 36)
    #expect(
      record
        == """
        first_mb_in_slice:40,slice_type:1,pic_parameter_set_id:200,frame_num:100,\
        field_pic_flag:1,bottom_field_flag:1,pic_order_cnt_lsb:15,redundant_pic_cnt:2,\
        direct_spatial_mv_pred_flag:1,num_ref_idx_active_override_flag:1,\
        num_ref_idx_l0_active_minus1:1,num_ref_idx_l1_active_minus1:0,\
        ref_pic_list_modification:{ref_pic_list_modification_flag_l0:1,\
        modifications_l0:[{modification_of_pic_nums_idc:0,abs_diff_pic_num_minus1:4},\
        {modification_of_pic_nums_idc:2,long_term_pic_num:1},{modification_of_pic_nums_idc:3}],\
        ref_pic_list_modification_flag_l1:0},\
        pred_weight_table:{luma_log2_weight_denom:5,chroma_log2_weight_denom:4,\
        luma_weight_l0_flag:[1,0],luma_weight_l0:[-128,null],luma_offset_l0:[127,null],\
        chroma_weight_l0_flag:[0,1],chroma_weight_l0:[null,[1,3]],chroma_offset_l0:[null,[2,4]],\
        luma_weight_l1_flag:[0],chroma_weight_l1_flag:[0]},\
        dec_ref_pic_marking:{adaptive_ref_pic_marking_mode_flag:1,\
        memory_management_control_operations:[\
        {memory_management_control_operation:1,difference_of_pic_nums_minus1:7},\
        {memory_management_control_operation:2,long_term_pic_num:3},\
        {memory_management_control_operation:3,difference_of_pic_nums_minus1:0,\
        long_term_frame_idx:2},\
        {memory_management_control_operation:4,max_long_term_frame_idx_plus1:5},\
        {memory_management_control_operation:5},\
        {memory_management_control_operation:6,long_term_frame_idx:1},\
        {memory_management_control_operation:0}]},\
        cabac_init_idc:2,slice_qp_delta:10
        """)
  }

  @Test func frameWithDeltaPicOrderCounts() throws {
    let sets = try ParameterSets(
      .init(picOrderCntType: 1, offsetsForRefFrame: [2]), .init(bottomFieldPicOrder: true))
    let rbsp = BitWriter { writer in
      writer.ue(0, 0, 0)
      writer.u(4, 3)
      writer.se(-7, 8)
      writer.u("0 0")
      writer.se(1)
      writer.u("1")
    }.rbsp
    let (header, issues, record) = try parseSliceHeader(rbsp, unit: [0x01], sets)
    #expect(issues == [])
    #expect((header.deltaPicOrderCnt0, header.deltaPicOrderCnt1) == (-7, 8))
    #expect(header.numRefIdxL0Active == 1)
    #expect(
      record
        == """
        first_mb_in_slice:0,slice_type:0,pic_parameter_set_id:0,frame_num:3,\
        delta_pic_order_cnt:[-7,8],num_ref_idx_active_override_flag:0,\
        ref_pic_list_modification:{ref_pic_list_modification_flag_l0:0},slice_qp_delta:1
        """)
  }

  @Test func monochromeHasNoChromaWeightsAndSeparatePlanesHaveAnId() throws {
    for (chroma, separate) in [(0, false), (3, true)] {
      let sets = try ParameterSets(
        .init(
          profile: 244, chromaFormat: chroma, separatePlanes: separate, bitDepthLuma: 10,
          picOrderCntType: 2), .init(weightedPred: true))
      let rbsp = BitWriter { writer in
        writer.ue(0, 5, 0)
        if separate { writer.u("10") }
        writer.u(4, 1)
        writer.u("00")
        writer.ue(7)
        writer.u("0")
        writer.se(-38)
        writer.u("1")
      }.rbsp
      let (header, issues, record) = try parseSliceHeader(rbsp, unit: [0x01], sets)
      #expect(issues == [])
      #expect(header.colourPlaneID == (separate ? 2 : 0))
      #expect(header.sliceQP == -12)
      #expect(
        record.contains("pred_weight_table:{luma_log2_weight_denom:7,luma_weight_l0_flag:[0]}"))
    }
  }

  @Test func switchingSlicesHaveTheirOwnElements() throws {
    let sets = try ParameterSets(.init(profile: 88, picOrderCntType: 2), .init())
    let sp = BitWriter { writer in
      writer.ue(0, 3, 0)
      writer.u("0001 0 0")
      writer.se(2)
      writer.u("1")
      writer.se(-4)
      writer.u("1")
    }.rbsp
    let (header, _, record) = try parseSliceHeader(sp, unit: [0x01], sets)
    #expect(header.sliceType == .sp)
    #expect(record.hasSuffix("slice_qp_delta:2,sp_for_switch_flag:1,slice_qs_delta:-4"))
    let si = BitWriter { writer in
      writer.ue(0, 9, 0)
      writer.u("0001")
      writer.se(2, -4)
      writer.u("1")
    }.rbsp
    #expect(
      try parseSliceHeader(si, unit: [0x01], sets).record.hasSuffix(
        "ref_pic_list_modification:{},slice_qp_delta:2,slice_qs_delta:-4"))
  }

  /// slice_group_change_rate_minus1 and the bits of slice_group_change_cycle in a picture of 99 map
  /// units: Ceil(Log2(99 / rate + 1)).
  @Test(arguments: [(0, 7), (1, 6), (97, 2), (98, 1), (32, 2), (200, 1), (13, 4), (14, 3)])
  func lengthOfTheChangeCycle(rateMinus1: Int, bits: Int) throws {
    let sets = try ParameterSets(
      .init(profile: 66, picOrderCntType: 2, widthInMbs: 11, heightInMapUnits: 9),
      .init(
        sliceGroupCount: 2,
        sliceGroups: { writer in
          writer.ue(4)
          writer.u("0")
          writer.ue(rateMinus1)
        }))
    let rbsp = BitWriter { writer in
      writer.ue(0, 7, 0)
      writer.u("0001")
      writer.se(0)
      writer.u(bits, (1 << bits) - 1)
      writer.u("1")
    }.rbsp
    let (header, _, _) = try parseSliceHeader(rbsp, unit: [0x01], sets)
    #expect(header.sliceGroupChangeCycle == (1 << bits) - 1)
  }

  @Test func partitionsNameTheirSlice() throws {
    let sets = try ParameterSets(
      .init(profile: 88, picOrderCntType: 2), .init(redundantPictures: true))
    let a = BitWriter { writer in
      writer.ue(5, 7, 0)
      writer.u("0001")
      writer.ue(0)
      writer.se(0)
      writer.ue(17)
      writer.u("1")
    }.rbsp
    let (header, _, record) = try parseSliceHeader(a, unit: [0x02], sets)
    #expect(header.sliceID == 17)
    #expect(record.hasSuffix("slice_qp_delta:0,slice_id:17"))

    let b = BitWriter { $0.ue(17, 3) }.rbsp
    var reader = BitReader(b.span, record: SyntaxRecord())
    let head = try PartitionHead(parsing: &reader, picParameterSetID: 0, parameterSets: sets)
    #expect((head.sliceID, head.redundantPicCnt) == (17, 3))
    #expect(reader.takeRecord()?.text == "slice_id:17,redundant_pic_cnt:3")
  }

  @Test func missingParameterSetsAreNamed() throws {
    let rbsp = BitWriter { $0.ue(0, 2, 9) }.rbsp
    #expect(
      throws: SyntaxError("pic_parameter_set_id", at: 4, .missingPictureParameterSet(9))
    ) {
      try parseSliceHeader(rbsp, unit: [0x65], ParameterSets())
    }
    var sets = ParameterSets()
    sets.store(try PictureParameterSetFields(id: 9, sequenceParameterSetID: 4).parsed)
    var reader = BitReader(rbsp.span)
    var header = SliceHeader()
    let unit: [UInt8] = [0x65]
    #expect(
      throws: SyntaxError("pic_parameter_set_id", at: 4, .missingSequenceParameterSet(4))
    ) { () throws in
      try header.parse(&reader, unit: NALUnitHeader(unit.span), parameterSets: sets)
    }
    // What comes before is known.
    #expect(header.sliceType == .i)
    #expect(header.picParameterSetID == 9)
  }

  @Test func headerIsReusedWithoutTraces() throws {
    let sets = try ParameterSets(.init(picOrderCntType: 2), .init())
    let marking = BitWriter { writer in
      writer.ue(3, 7, 0)
      writer.u("0001 1")
      writer.ue(5, 0)
      writer.se(0)
    }.rbsp
    let plain = BitWriter { writer in
      writer.ue(0, 7, 0)
      writer.u("0010 0")
      writer.se(0)
    }.rbsp
    var header = SliceHeader()
    let unit: [UInt8] = [0x41]
    for rbsp in [marking, plain] {
      var reader = BitReader(rbsp.span)
      try header.parse(&reader, unit: NALUnitHeader(unit.span), parameterSets: sets)
    }
    #expect(header == (try parseSliceHeader(plain, unit: [0x41], sets).header))
  }

  @Test func everyCutIsTruncated() throws {
    let sets = try ParameterSets(
      .init(), .init(weightedPred: true, deblockingControl: true))
    let rbsp = BitWriter { writer in
      writer.ue(0, 5, 0)
      writer.u(4, 3)
      writer.u(4, 9)
      writer.u("1")
      writer.ue(3)
      writer.u("1")
      writer.ue(0, 70000, 1, 3, 3)
      writer.ue(1, 2)
      for _ in 0..<4 {
        writer.u("1")
        writer.se(100, -100)
        writer.u("1")
        writer.se(1, 2, 3, 4)
      }
      writer.u("1")
      writer.ue(3, 900, 4, 6, 2, 0)
      writer.se(-20)
      writer.ue(0)
      writer.se(3, -3)
    }.rbsp
    #expect(try parseSliceHeader(rbsp, unit: [0x41], sets).issues == [])
    for count in 0..<rbsp.count - 1 {
      let error = #expect(throws: SyntaxError.self) {
        try parseSliceHeader(Array(rbsp.prefix(count)), unit: [0x41], sets)
      }
      #expect(error?.reason == .truncated)
    }
  }

  /// §7.4.3.1: no more commands than the list has entries; §7.4.3.3: a field is marked twice at most.
  @Test func numberOfCommandsIsBounded() throws {
    let sets = try ParameterSets(.init(picOrderCntType: 2), .init())
    func header(modifications: Int, operations: Int) -> [UInt8] {
      BitWriter { writer in
        writer.ue(0, 5, 0)
        writer.u(4, 1)
        writer.u("0 1")
        for _ in 0..<modifications { writer.ue(0, 0) }
        writer.ue(3)
        writer.u("1")
        for _ in 0..<operations { writer.ue(1, 0) }
        writer.ue(0)
        writer.se(0)
      }.rbsp
    }
    let (whole, none, _) = try parseSliceHeader(
      header(modifications: 1, operations: 67), unit: [0x41], sets)
    #expect(none == [])
    #expect(whole.memoryManagement.count == 67)
    let (_, issues, _) = try parseSliceHeader(
      header(modifications: 32, operations: 0), unit: [0x41], sets)
    #expect(issues.map(\.element) == ["modification_of_pic_nums_idc"])
    #expect(issues.map(\.reason) == [.tooMuch])
    for (modifications, operations, element) in [
      (33, 0, "modification_of_pic_nums_idc"), (0, 68, "memory_management_control_operation"),
    ] {
      let error = #expect(throws: SyntaxError.self) {
        try parseSliceHeader(
          header(modifications: modifications, operations: operations), unit: [0x41], sets)
      }
      #expect(error?.element == element)
      #expect(error?.reason == .tooMuch)
    }
  }

  /// Elements that would make a loop endless or a table too long.
  @Test(
    arguments: [
      ("num_ref_idx_l0_active_minus1", 32), ("modification_of_pic_nums_idc", 4),
      ("memory_management_control_operation", 7), ("slice_type", 10),
      ("pic_parameter_set_id", 256),
    ])
  func impossibleValuesStopTheParse(element: String, value: Int) throws {
    let sets = try ParameterSets(.init(picOrderCntType: 2), .init())
    let rbsp = BitWriter { writer in
      writer.ue(0, element == "slice_type" ? value : 5)
      writer.ue(element == "pic_parameter_set_id" ? value : 0)
      writer.u("0001")
      writer.u("1")
      writer.ue(element == "num_ref_idx_l0_active_minus1" ? value : 31)
      writer.u("1")
      writer.ue(element == "modification_of_pic_nums_idc" ? value : 3)
      writer.u("1")
      writer.ue(element == "memory_management_control_operation" ? value : 0)
      writer.se(0)
    }.rbsp
    let error = #expect(throws: SyntaxError.self) {
      try parseSliceHeader(rbsp, unit: [0x41], sets)
    }
    #expect(error?.element == element)
    #expect(error?.reason == .outOfRange(value))
  }
}
