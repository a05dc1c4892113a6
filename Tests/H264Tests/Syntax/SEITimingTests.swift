import H264
import Testing

/// A sequence parameter set with HRDs whose element lengths differ.
private func timed(nal: Bool, vcl: Bool, picStruct: Bool) throws -> SequenceParameterSet {
  func hrd(_ writer: inout BitWriter, schedules: Int, lengths: [Int]) {
    writer.ue(schedules - 1)
    writer.u("0000 0000")
    for _ in 0..<schedules {
      writer.ue(9, 9)
      writer.u("0")
    }
    for length in lengths { writer.u(5, length) }
  }
  return try SequenceParameterSetFields(vui: { writer in
    writer.u("00000")
    writer.u(1, nal ? 1 : 0)
    if nal { hrd(&writer, schedules: 2, lengths: [7, 9, 5, 24]) }
    writer.u(1, vcl ? 1 : 0)
    if vcl { hrd(&writer, schedules: 1, lengths: [11, 3, 2, 0]) }
    if nal || vcl { writer.u("0") }
    writer.u(1, picStruct ? 1 : 0)
    writer.u("0")
  }).parsed
}

@Suite struct SEITimingTests {
  @Test(arguments: [(true, true), (true, false), (false, true), (false, false)])
  func bufferingPeriodHasADelayForEachSchedule(nal: Bool, vcl: Bool) throws {
    var sets = ParameterSets()
    sets.store(try timed(nal: nal, vcl: vcl, picStruct: false))
    let payload = aligned { writer in
      writer.ue(0)
      if nal {
        writer.u(8, 200)
        writer.u(8, 1)
        writer.u(8, 201)
        writer.u(8, 2)
      }
      if vcl {
        writer.u(12, 4000)
        writer.u(12, 3)
      }
    }
    let (_, issues, record) = parseSEI(seiPayload([(0, payload)]), sets)
    #expect(issues == [])
    let delays = (nal ? ["200", "201"] : []) + (vcl ? ["4000"] : [])
    let offsets = (nal ? ["1", "2"] : []) + (vcl ? ["3"] : [])
    let text =
      delays.isEmpty
      ? ""
      : ",initial_cpb_removal_delay:[\(delays.joined(separator: ","))],"
        + "initial_cpb_removal_delay_offset:[\(offsets.joined(separator: ","))]"
    #expect(record.hasSuffix("payload_size:\(payload.count),seq_parameter_set_id:0\(text)}]"))
  }

  @Test func bufferingPeriodWithoutItsSetIsAnIssue() {
    let (messages, issues, record) = parseSEI(seiPayload([(0, [0x80, 0x12]), (147, [1])]))
    #expect(messages.count == 2)
    #expect(issues.map(\.reason) == [.missingSequenceParameterSet(0)])
    #expect(record.contains("seq_parameter_set_id:0,data:12}"))
  }

  @Test(arguments: [(true, true), (false, true)])
  func pictureTimingUsesTheNALParametersOrElseTheVCLOnes(nal: Bool, vcl: Bool) throws {
    let active = try timed(nal: nal, vcl: vcl, picStruct: true)
    let payload = aligned { writer in
      writer.u(nal ? 10 : 4, 9)
      writer.u(nal ? 6 : 3, 5)
      writer.u("0011 0 1")
      writer.u("01 1 00100 1 0 1 00011000")
      writer.u(6, 59)
      writer.u(6, 58)
      writer.u(5, 23)
      if nal { writer.u(24, 0xFFFFFF) }
    }
    let (_, issues, record) = parseSEI(seiPayload([(1, payload)]), active: active)
    #expect(issues == [])
    let offset = nal ? ",time_offset:[null,-1]" : ""
    #expect(
      record.hasSuffix(
        """
        cpb_removal_delay:9,dpb_output_delay:5,pic_struct:3,clock_timestamp_flag:[0,1],\
        ct_type:[null,1],nuit_field_based_flag:[null,1],counting_type:[null,4],\
        full_timestamp_flag:[null,1],discontinuity_flag:[null,0],cnt_dropped_flag:[null,1],\
        n_frames:[null,24],seconds_value:[null,59],minutes_value:[null,58],\
        hours_value:[null,23]\(offset)}]
        """))
  }

  /// pic_struct and NumClockTS (table D-1).
  @Test(
    arguments: [
      (0, 1), (1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (6, 3), (7, 2), (8, 3),
    ])
  func numberOfClocksFollowsPicStruct(picStruct: Int, clocks: Int) throws {
    let active = try timed(nal: false, vcl: false, picStruct: true)
    let payload = aligned { writer in
      writer.u(4, picStruct)
      for _ in 0..<clocks { writer.u("0") }
    }
    let (_, issues, record) = parseSEI(seiPayload([(1, payload)]), active: active)
    #expect(issues == [])
    let flags = [String](repeating: "0", count: clocks).joined(separator: ",")
    #expect(record.hasSuffix("pic_struct:\(picStruct),clock_timestamp_flag:[\(flags)]}]"))
  }

  @Test func partialTimestampsSaySoStepByStep() throws {
    let active = try timed(nal: false, vcl: true, picStruct: true)
    let payload = aligned { writer in
      writer.u("0000 000 0000 1")
      writer.u("00 0 00000 0 0 0 00000001")
      writer.u("1 000010 1 000011 0")
    }
    let record = parseSEI(seiPayload([(1, payload)]), active: active).record
    #expect(
      record.hasSuffix(
        """
        n_frames:[1],seconds_flag:[1],seconds_value:[2],minutes_flag:[1],minutes_value:[3],\
        hours_flag:[0]}]
        """))
  }

  @Test func withoutASetTheBytesAreShown() {
    let (_, issues, record) = parseSEI(seiPayload([(1, [1, 2, 3])]))
    #expect(issues == [])
    #expect(record == "sei:[{payload_type:1,name:pic_timing,payload_size:3,data:010203}]")
  }

  @Test func markingRepetitionIsReadLikeASliceHeader() throws {
    let active = try SequenceParameterSetFields(frameMbsOnly: false).parsed
    let payload = aligned { writer in
      writer.u("0")
      writer.ue(6)
      writer.u("1 0 1")
      writer.ue(1, 2, 0)
    }
    let (_, issues, record) = parseSEI(seiPayload([(7, payload)]), active: active)
    #expect(issues == [])
    #expect(
      record.hasSuffix(
        """
        original_idr_flag:0,original_frame_num:6,original_field_pic_flag:1,\
        original_bottom_field_flag:0,dec_ref_pic_marking:{adaptive_ref_pic_marking_mode_flag:1,\
        memory_management_control_operations:[{memory_management_control_operation:1,\
        difference_of_pic_nums_minus1:2},{memory_management_control_operation:0}]}}]
        """))
  }
}

@Suite struct SEINestingTests {
  @Test func scalableNestingListsItsMessages() {
    let payload = aligned { writer in
      writer.u("0")
      writer.ue(0)
      writer.u("001 0000 010")
      while writer.bits.count % 8 != 0 { writer.u("0") }
      writer.bytes([6, 1, 0x84, 147, 1, 9])
    }
    let (messages, issues, record) = parseSEI(seiPayload([(30, payload), (147, [1])]))
    #expect(issues == [])
    // What is nested concerns other layers.
    #expect(messages.map(\.payloadType) == [30, 147])
    #expect(
      record.contains(
        """
        all_layer_representations_in_au_flag:0,num_layer_representations_minus1:0,\
        sei_dependency_id:[1],sei_quality_id:[0],sei_temporal_id:2,\
        sei:[{payload_type:6,name:recovery_point,payload_size:1,recovery_frame_cnt:0,\
        exact_match_flag:0,broken_link_flag:0,changing_slice_group_idc:0},\
        {payload_type:147,name:alternative_transfer_characteristics,payload_size:1,\
        preferred_transfer_characteristics:9}]}
        """))
  }

  @Test func multiviewNestingListsItsMessageAndDoesNotNestAgain() {
    let payload = aligned { writer in
      writer.u("1")
      writer.ue(1)
      writer.u(10, 3)
      writer.u(10, 4)
      writer.u("001")
      while writer.bits.count % 8 != 0 { writer.u("0") }
      writer.bytes([37, 3, 0x40, 1, 0])
    }
    let (_, issues, record) = parseSEI(seiPayload([(37, payload)]))
    #expect(issues == [])
    #expect(
      record.hasSuffix(
        """
        operation_point_flag:1,num_view_components_op_minus1:1,sei_op_view_id:[3,4],\
        sei_op_temporal_id:1,sei:[{payload_type:37,name:mvc_scalable_nesting,payload_size:3,\
        data:400100}]}]
        """))
  }
}
