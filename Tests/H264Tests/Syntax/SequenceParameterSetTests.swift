import H264
import Testing

/// A sequence parameter set met in the field, and what it says.
struct SequenceParameterSetCase: Sendable, CustomTestStringConvertible {
  var hex: String
  var size: String
  var coded: String
  var rate: String?
  var profile: String
  var level: String
  var codec: String

  init(
    _ hex: String, _ size: String, coded: String, _ rate: String?, _ profile: String,
    _ level: String, _ codec: String
  ) {
    self.hex = hex
    self.size = size
    self.coded = coded
    self.rate = rate
    self.profile = profile
    self.level = level
    self.codec = codec
  }

  var testDescription: String { "\(size) \(rate ?? "-") \(profile) \(hex.prefix(16))…" }

  // Bytes that users published: cameras and encoders of the reports that bluenviron/mediacommon
  // (sps_test.go) and scottlamb/retina (client/testdata) collect, and public issue threads.
  static let all: [SequenceParameterSetCase] = [
    .init(
      "67640033ac1514a0a03da1000004f6000063380404", "640x480", coded: "640x480", "10/1", "High",
      "5.1", "avc1.640033"),
    .init(
      "274de0288d680a03da1000000300100000030280f1422a", "640x480", coded: "640x480", "20/1",
      "Main", "4.0", "avc1.4DE028"),
    .init(
      "6742c01edc04403c797c0440000003004000000c83c58be0", "1080x1920", coded: "1088x1920", "25/1",
      "Constrained Baseline", "3.0", "avc1.42C01E"),
    .init(
      "6764001eacb2010020f3cf80b5060606a50000030001000003003c9f162e48", "500x500",
      coded: "512x512", "30/1", "High", "3.0", "avc1.64001E"),
    .init(
      "67640033f6110069d01687a2", "720x480", coded: "720x480", nil, "High", "5.1",
      "avc1.640033"),
    .init(
      "6742c01ed900a02ff97011000003000100000300320f162e48", "640x360", coded: "640x368", "25/1",
      "Constrained Baseline", "3.0", "avc1.42C01E"),
    .init(
      """
      67640028ad8409266e2334908124cdc46692102499b88cd242049337119a48409266e2334908124cdc46692105
      4d2ebd7d7e4febf27d7aeb55082a6975ebebf27f5f93ebd75aab405017fcb80aa40000030004000003025981000f
      a00004651bdef85e1108d4
      """, "640x360", coded: "640x368", "75/1", "High", "4.0", "avc1.640028"),
    .init(
      "274d0029e7403c0113f2cd4040407c000003000400000300a0d1800ea60015f97fff0280", "1920x1080",
      coded: "1920x1088", "20/1", "Main", "4.1", "avc1.4D0029"),
    .init(
      "6764000cac3b50b04b420000030002000003003d08", "352x288", coded: "352x288", "15/1", "High",
      "1.2", "avc1.64000C"),
    .init(
      "6742c028d900780227e584000003000400000300f03c60c920", "1920x1080", coded: "1920x1088",
      "30/1", "Constrained Baseline", "4.0", "avc1.42C028"),
    .init(
      "67640029ac133140780447de03ea020203e000000300200000065280", "1920x1080",
      coded: "1920x1088", "25/1", "High", "4.1", "avc1.640029"),
    .init(
      "67640020ac172a01401e68400001c2000057e421", "1280x960", coded: "1280x960", "25/1", "High",
      "3.2", "avc1.640020"),
    .init(
      "6764002aac2cac0780227e5c05a808080a000007d00003a981c000004c4b00002625adde5c14",
      "1920x1080", coded: "1920x1088", "60/1", "High", "4.2", "avc1.64002A"),
    .init(
      "674d4028ab603c0223ef01100000030010000003032e9400356406b285080ee2c522c0", "1920x1080",
      coded: "1920x1088", "25/1", "Main", "4.0", "avc1.4D4028"),
    .init(
      "674d401f95a02c049a6c04", "704x576", coded: "704x576", nil, "Main", "3.1", "avc1.4D401F"),
    .init(
      "6764001eac2c6a82c0f69b828082a0000003002000000303d08000", "704x480", coded: "704x480",
      "15/1", "High", "3.0", "avc1.64001E"),
    .init(
      "674d403295a00a80307e266e020202800001f40000753042", "2688x1520", coded: "2688x1536",
      "30/1", "Main", "5.0", "avc1.4D4032"),
    .init(
      "67420029963540f0044fcb37010101400000030040000007a1", "1920x1080", coded: "1920x1088",
      "15/1", "Baseline", "4.1", "avc1.420029"),
    .init(
      "67640033ace802800b59", "2560x1440", coded: "2560x1440", nil, "High", "5.1",
      "avc1.640033"),
    .init(
      "674d002a9da81e0089f966e02020280000030008000003007c20", "1920x1080", coded: "1920x1088",
      "15/2", "Main", "4.2", "avc1.4D002A"),
  ]
}

func parseSequenceParameterSet(
  _ rbsp: [UInt8]
) throws -> (set: SequenceParameterSet, issues: [SyntaxError], record: String) {
  var reader = BitReader(rbsp.span, record: SyntaxRecord())
  let set = try SequenceParameterSet(parsing: &reader)
  return (set, reader.issues, reader.takeRecord()?.text ?? "")
}

@Suite struct SequenceParameterSetTests {
  @Test(arguments: SequenceParameterSetCase.all)
  func readsSetsOfTheField(expected: SequenceParameterSetCase) throws {
    let (set, _, _) = try parseSequenceParameterSet(payload(expected.hex))
    let size = try #require(set.displaySize)
    #expect("\(size.width)x\(size.height)" == expected.size)
    #expect("\(set.codedSize.width)x\(set.codedSize.height)" == expected.coded)
    #expect(set.frameRate.map { "\($0.numerator)/\($0.denominator)" } == expected.rate)
    #expect(set.profileName == expected.profile)
    #expect(set.levelName == expected.level)
    #expect(set.codecString == expected.codec)
  }

  @Test(arguments: SequenceParameterSetCase.all)
  func everyCutIsAnErrorOrAShorterResult(of original: SequenceParameterSetCase) throws {
    let rbsp = payload(original.hex)
    let (whole, _, record) = try parseSequenceParameterSet(rbsp)
    for count in 0..<rbsp.count - 1 {
      var reader = BitReader(rbsp.span.extracting(first: count), record: SyntaxRecord())
      do throws(SyntaxError) {
        let cut = try SequenceParameterSet(parsing: &reader)
        // Only the VUI can be missing.
        var same = whole
        same.vui = cut.vui
        #expect(cut == same)
        #expect(!reader.issues.isEmpty)
      } catch {
        #expect(error.reason == .truncated)
      }
      let cutRecord = reader.takeRecord()?.text ?? ""
      #expect(cutRecord.count <= record.count)
    }
  }

  @Test func aByteAfterTheTrailingBitsIsAnIssue() throws {
    let (_, issues, _) = try parseSequenceParameterSet(
      payload("67640033ac1514a0a03da1000004f6000063380404"))
    #expect(issues.map(\.reason) == [.trailingData])
  }

  @Test func recordsEveryElementUnderItsName() throws {
    let (_, issues, record) = try parseSequenceParameterSet(
      payload("274d0029e7403c0113f2cd4040407c000003000400000300a0d1800ea60015f97fff0280"))
    #expect(issues == [])
    #expect(
      record
        == """
        profile_idc:77,constraint_set0_flag:0,constraint_set1_flag:0,constraint_set2_flag:0,\
        constraint_set3_flag:0,constraint_set4_flag:0,constraint_set5_flag:0,\
        reserved_zero_2bits:0,level_idc:41,seq_parameter_set_id:0,log2_max_frame_num_minus4:0,\
        pic_order_cnt_type:0,log2_max_pic_order_cnt_lsb_minus4:6,max_num_ref_frames:1,\
        gaps_in_frame_num_value_allowed_flag:0,pic_width_in_mbs_minus1:119,\
        pic_height_in_map_units_minus1:67,frame_mbs_only_flag:1,direct_8x8_inference_flag:1,\
        frame_cropping_flag:1,frame_crop_left_offset:0,frame_crop_right_offset:0,\
        frame_crop_top_offset:0,frame_crop_bottom_offset:4,vui_parameters_present_flag:1,\
        vui_parameters:{aspect_ratio_info_present_flag:0,overscan_info_present_flag:0,\
        video_signal_type_present_flag:1,video_format:5,video_full_range_flag:0,\
        colour_description_present_flag:1,colour_primaries:1,transfer_characteristics:1,\
        matrix_coefficients:1,chroma_loc_info_present_flag:1,\
        chroma_sample_loc_type_top_field:0,chroma_sample_loc_type_bottom_field:0,\
        timing_info_present_flag:1,num_units_in_tick:1,time_scale:40,fixed_frame_rate_flag:0,\
        nal_hrd_parameters_present_flag:0,vcl_hrd_parameters_present_flag:1,\
        vcl_hrd_parameters:{cpb_cnt_minus1:0,bit_rate_scale:4,cpb_size_scale:6,\
        bit_rate_value_minus1:[1874],cpb_size_value_minus1:[5624],cbr_flag:[0],\
        initial_cpb_removal_delay_length_minus1:31,cpb_removal_delay_length_minus1:31,\
        dpb_output_delay_length_minus1:31,time_offset_length:0},low_delay_hrd_flag:0,\
        pic_struct_present_flag:1,bitstream_restriction_flag:0}
        """)
  }

  @Test func scalingListsAndConstantBitRateAreRead() throws {
    let sample = SequenceParameterSetCase.all[6]
    let (set, _, record) = try parseSequenceParameterSet(payload(sample.hex))
    #expect(set.scalingMatrix?.lists.count == 8)
    #expect(set.scalingMatrix?.lists[0]?.values.count == 16)
    #expect(set.scalingMatrix?.lists[6]?.values.count == 64)
    #expect(record.contains("seq_scaling_list_present_flag:[1,1,1,1,1,1,1,1],scaling_list:[{"))
    let decoder = try #require(set.vui?.nalHRD)
    let schedule = try #require(decoder.schedules.first)
    #expect(decoder.bitRate(of: schedule) == 256_000)
    #expect(decoder.cpbSize(of: schedule) == 576_000)
    #expect(schedule.constantBitRate)
  }
}
