import H264
import Testing

/// Parses the payload of a SEI NAL unit.
func parseSEI(
  _ rbsp: [UInt8], active: SequenceParameterSet? = nil, _ sets: ParameterSets = ParameterSets()
) -> (messages: [SEIMessage], issues: [SyntaxError], record: String) {
  var reader = BitReader(rbsp.span, record: SyntaxRecord())
  let messages = SEIMessage.parseAll(&reader, active: active, parameterSets: sets)
  return (messages, reader.issues, reader.takeRecord()?.text ?? "")
}

/// A SEI NAL unit's payload of these messages.
func seiPayload(_ messages: [(type: Int, payload: [UInt8])]) -> [UInt8] {
  BitWriter { writer in
    for message in messages {
      for number in [message.type, message.payload.count] {
        writer.bytes([UInt8](repeating: 255, count: number / 255) + [UInt8(number % 255)])
      }
      writer.bytes(message.payload)
    }
    writer.trailingBits()
  }.rbsp
}

/// The payload that the closure writes, aligned as §D.1.1 says.
func aligned(_ write: (inout BitWriter) -> Void) -> [UInt8] {
  var writer = BitWriter(write)
  if writer.bits.count % 8 != 0 { writer.trailingBits() }
  return writer.rbsp
}

@Suite struct SEIMessageTests {
  @Test func listsMessagesWithSummedTypesAndSizes() {
    let rbsp = seiPayload([
      (5, [UInt8](repeating: 0x41, count: 600)), (300, [1, 2, 3]), (255, []),
      (6, [0b1100_0100]),
    ])
    let (messages, issues, _) = parseSEI(rbsp)
    #expect(issues == [])
    #expect(messages.map(\.payloadType) == [5, 300, 255, 6])
    #expect(messages.map(\.payloadSize) == [600, 3, 0, 1])
    #expect(messages.map(\.name).last == "recovery_point")
    #expect(messages[1].name == "reserved_sei_message")
  }

  @Test(
    arguments: [
      (0, "buffering_period"), (1, "pic_timing"), (22, "post_filter_hint"),
      (23, "tone_mapping_info"), (30, "scalable_nesting"), (37, "mvc_scalable_nesting"),
      (45, "frame_packing_arrangement"), (46, "multiview_view_position"),
      (47, "display_orientation"), (48, "mvcd_scalable_nesting"),
      (54, "constrained_depth_parameter_set_identifier"), (55, "reserved_sei_message"),
      (56, "green_metadata"), (57, "reserved_sei_message"),
      (137, "mastering_display_colour_volume"), (181, "alternative_depth_info"),
      (205, "shutter_interval_info"), (206, "reserved_sei_message"),
    ])
  func namesMessages(type: Int, name: String) {
    #expect(parseSEI(seiPayload([(type, [])])).messages.first?.name == name)
  }

  /// payloadType, payload, and what is recorded behind payload_size.
  static let payloads: [(Int, [UInt8], String)] = [
    (
      2,
      aligned { writer in
        writer.ue(1)
        writer.u("0")
        writer.ue(1)
        writer.se(-1, 2, -3, 4, 5, 6, 7, 8)
        writer.ue(1)
      },
      """
      pan_scan_rect_id:1,pan_scan_rect_cancel_flag:0,pan_scan_cnt_minus1:1,\
      pan_scan_rect_left_offset:[-1,5],pan_scan_rect_right_offset:[2,6],\
      pan_scan_rect_top_offset:[-3,7],pan_scan_rect_bottom_offset:[4,8],\
      pan_scan_rect_repetition_period:1
      """
    ),
    (3, [255, 255], ""),
    (
      4, bytes("b50031 47413934 03 43 ff fc9420 fd0000 fe4142 f84142 ff"),
      """
      itu_t_t35_country_code:181,itu_t_t35_provider_code:49,user_identifier:GA94,\
      user_data_type_code:3,process_em_data_flag:0,process_cc_data_flag:1,\
      additional_data_flag:0,cc_count:3,em_data:255,captions:CEA-608/708,\
      cea_608_count:2,cea_708_count:1
      """
    ),
    (
      4, bytes("b50031 44544731 41 f8"),
      """
      itu_t_t35_country_code:181,itu_t_t35_provider_code:49,user_identifier:DTG1,\
      active_format_flag:1,active_format:8
      """
    ),
    (
      4, bytes("b5003c 0001 04"),
      "itu_t_t35_country_code:181,itu_t_t35_provider_code:60,data:000104"
    ),
    (
      4, bytes("ff0126abcd"),
      """
      itu_t_t35_country_code:255,itu_t_t35_country_code_extension_byte:1,data:26abcd
      """
    ),
    (
      5, bytes("dc45e9bde6d948b7962cd820d923eeef 78323634202d20c3a9 00"),
      "uuid_iso_iec_11578:dc45e9bd-e6d9-48b7-962c-d820d923eeef,text:x264 - é"
    ),
    (
      5, bytes("dc45e9bde6d948b7962cd820d923eeef 010203"),
      "uuid_iso_iec_11578:dc45e9bd-e6d9-48b7-962c-d820d923eeef,data:010203"
    ),
    (
      5, bytes("dc45e9bde6d948b7962cd820d923eeef"),
      "uuid_iso_iec_11578:dc45e9bd-e6d9-48b7-962c-d820d923eeef"
    ),
    (
      6,
      aligned { writer in
        writer.ue(18)
        writer.u("1 0 01")
      },
      """
      recovery_frame_cnt:18,exact_match_flag:1,broken_link_flag:0,changing_slice_group_idc:1
      """
    ),
    (
      9,
      aligned { writer in
        writer.u("1")
        writer.ue(3, 4, 5)
      }, "scene_info_present_flag:1,scene_id:3,scene_transition_type:4,second_scene_id:5"
    ),
    (13, aligned { $0.ue(0) }, "full_frame_freeze_repetition_period:0"),
    (
      16, aligned { $0.ue(4, 2) },
      "progressive_refinement_id:4,num_refinement_steps_minus1:2"
    ),
    (
      19,
      aligned { writer in
        writer.u("0 00 1 001 010 1 00000001 00000010 00000011 01 0101 100 00000001 001")
        writer.u(8, 0)
        writer.u(8, 99)
        writer.se(1, -2)
        writer.u(8, 100)
        writer.u(8, 255)
        writer.se(3, 4)
        writer.ue(1)
      },
      """
      film_grain_characteristics_cancel_flag:0,film_grain_model_id:0,\
      separate_colour_description_present_flag:1,film_grain_bit_depth_luma_minus8:1,\
      film_grain_bit_depth_chroma_minus8:2,film_grain_full_range_flag:1,\
      film_grain_colour_primaries:1,film_grain_transfer_characteristics:2,\
      film_grain_matrix_coefficients:3,blending_mode_id:1,log2_scale_factor:5,\
      comp_model_present_flag:[1,0,0],num_intensity_intervals_minus1:[1,null,null],\
      num_model_values_minus1:[1,null,null],\
      intensity_interval_lower_bound:[[0,100],null,null],\
      intensity_interval_upper_bound:[[99,255],null,null],\
      comp_model_value:[[[1,-2],[3,4]],null,null],\
      film_grain_characteristics_repetition_period:1
      """
    ),
    (
      20,
      aligned { writer in
        writer.u("0 1 0")
        writer.ue(1)
      },
      """
      deblocking_display_preference_cancel_flag:0,display_prior_to_deblocking_preferred_flag:1,\
      dec_frame_buffering_constraint_flag:0,deblocking_display_preference_repetition_period:1
      """
    ),
    (
      21, aligned { $0.u("0 1 0 1 1") },
      """
      field_views_flag:0,current_frame_is_left_view_flag:1,next_frame_is_second_view_flag:0,\
      left_view_self_contained_flag:1,right_view_self_contained_flag:1
      """
    ),
    (
      45,
      aligned { writer in
        writer.ue(0)
        writer.u("0 0000011 0 000001 0 0 0 0 1 1 0001 0010 0011 0100 00000000")
        writer.ue(1)
        writer.u("0")
      },
      """
      frame_packing_arrangement_id:0,frame_packing_arrangement_cancel_flag:0,\
      frame_packing_arrangement_type:3,quincunx_sampling_flag:0,content_interpretation_type:1,\
      spatial_flipping_flag:0,frame0_flipped_flag:0,field_views_flag:0,\
      current_frame_is_frame0_flag:0,frame0_self_contained_flag:1,frame1_self_contained_flag:1,\
      frame0_grid_position_x:1,frame0_grid_position_y:2,frame1_grid_position_x:3,\
      frame1_grid_position_y:4,frame_packing_arrangement_reserved_byte:0,\
      frame_packing_arrangement_repetition_period:1,frame_packing_arrangement_extension_flag:0
      """
    ),
    (
      47,
      aligned { writer in
        writer.u("0 0 1")
        writer.u(16, 16384)
        writer.ue(1)
        writer.u("0")
      },
      """
      display_orientation_cancel_flag:0,hor_flip:0,ver_flip:1,anticlockwise_rotation:16384,\
      display_orientation_repetition_period:1,display_orientation_extension_flag:0
      """
    ),
    (
      137, bytes("33c2 86c4 1d4c 0bb8 84d0 3e80 3d13 4042 00989680 00000032"),
      """
      display_primaries_x:[13250,7500,34000],display_primaries_y:[34500,3000,16000],\
      white_point_x:15635,white_point_y:16450,max_display_mastering_luminance:10000000,\
      min_display_mastering_luminance:50
      """
    ),
    (144, bytes("03e8 0190"), "max_content_light_level:1000,max_pic_average_light_level:400"),
    (147, [18], "preferred_transfer_characteristics:18"),
    (
      148, bytes("0004cb2f 3d13 4042"),
      "ambient_illuminance:314159,ambient_light_x:15635,ambient_light_y:16450"
    ),
    (99, bytes("00ff10"), "data:00ff10"),
    (
      99, [UInt8](repeating: 0xAB, count: 500),
      "data:" + String(repeating: "ab", count: 32)
    ),
  ]

  @Test(arguments: payloads.indices)
  func readsPayloads(index: Int) {
    let (type, payload, text) = Self.payloads[index]
    let (messages, issues, record) = parseSEI(seiPayload([(type, payload), (6, [0x84])]))
    #expect(issues == [])
    #expect(messages.count == 2)
    let head = "payload_type:\(type),name:\(messages[0].name),payload_size:\(payload.count)"
    let expected = text.isEmpty ? head : head + "," + text
    #expect(record.hasPrefix("sei:[{\(expected)},{payload_type:6,"))
  }

  @Test(arguments: payloads.indices)
  func everyCutOfAPayloadConcernsItsMessageOnly(index: Int) throws {
    let (type, payload, _) = Self.payloads[index]
    for count in 0..<payload.count {
      let (messages, issues, record) = parseSEI(
        seiPayload([(type, Array(payload.prefix(count))), (6, [0x84])]))
      #expect(messages.count == 2)
      #expect(messages[1].recoveryPoint?.recoveryFrameCnt == 0)
      #expect(issues.count <= 1)
      #expect(record.hasSuffix("changing_slice_group_idc:0}]"))
    }
  }

  @Test(arguments: payloads.indices)
  func everyCutOfTheUnitIsAnIssue(index: Int) throws {
    let (type, payload, _) = Self.payloads[index]
    let rbsp = seiPayload([(type, payload)])
    for count in 0..<rbsp.count - 1 {
      #expect(!parseSEI(Array(rbsp.prefix(count))).issues.isEmpty)
    }
  }

  @Test func recoveryPointIsGiven() {
    let payload = aligned { writer in
      writer.ue(7)
      writer.u("1 1 00")
    }
    let point = parseSEI(seiPayload([(6, payload)])).messages.first?.recoveryPoint
    #expect(point?.recoveryFrameCnt == 7)
    #expect(point?.exactMatch == true)
    #expect(point?.brokenLink == true)
  }

  @Test func sizeBeyondTheUnitIsAnIssueAndTheMessageIsListed() {
    let (messages, issues, record) = parseSEI([5, 200, 1, 2, 3, 0x80])
    #expect(messages.map(\.payloadSize) == [200])
    #expect(
      issues.map(\.reason) == [.truncated, .truncated, .trailingData])
    #expect(record == "sei:[{payload_type:5,name:user_data_unregistered,payload_size:200}]")
  }

  @Test func numberOfMessagesIsBounded() {
    let rbsp = [UInt8](repeating: 3, count: 2) + [0, 0, 0]
    let many = [[UInt8]](repeating: [99, 0], count: 5000).flatMap { $0 } + rbsp + [0x80]
    let (messages, issues, _) = parseSEI(many)
    #expect(messages.count == SEIMessage.limit)
    #expect(issues.map(\.element) == ["sei_message"])
  }

  @Test func longTextIsCutBetweenCharacters() {
    let text = "a" + String(repeating: "é", count: 4000)
    let payload = [UInt8](repeating: 1, count: 16) + Array(text.utf8)
    let record = parseSEI(seiPayload([(5, payload)])).record
    #expect(record.hasSuffix(",text:a" + String(repeating: "é", count: 2047) + "}]"))
  }
}
