/// A sequence parameter set (H.264 §7.3.2.1.1): what was sent.
///
/// What follows from it (sizes, rates, names) is computed in `SequenceParameterSet+Derived.swift`.
package struct SequenceParameterSet: Equatable, Sendable {
  /// The cropping rectangle as transmitted, in crop units.
  package struct Cropping: Equatable, Sendable {
    package var left: Int
    package var right: Int
    package var top: Int
    package var bottom: Int
  }

  package var profileIDC = 0
  /// constraint_set0_flag (most significant bit) to constraint_set5_flag, and reserved_zero_2bits.
  package var constraintFlags = 0
  package var levelIDC = 0
  /// 0 to 31.
  package var id = 0
  package var chromaFormatIDC = 1
  package var separateColourPlane = false
  package var bitDepthLumaMinus8 = 0
  package var bitDepthChromaMinus8 = 0
  package var qpprimeYZeroTransformBypass = false
  package var scalingMatrix: ScalingMatrix?
  /// 4 to 16, or more in a broken stream.
  package var log2MaxFrameNum = 4
  package var picOrderCntType = 0
  /// 4 to 16, or more in a broken stream.
  package var log2MaxPicOrderCntLsb = 4
  package var deltaPicOrderAlwaysZero = false
  package var offsetForNonRefPic = 0
  package var offsetForTopToBottomField = 0
  /// At most 255.
  package var offsetForRefFrame: [Int] = []
  package var maxNumRefFrames = 0
  package var gapsInFrameNumValueAllowed = false
  /// 1 to 2^24.
  package var picWidthInMbs = 1
  /// 1 to 2^24.
  package var picHeightInMapUnits = 1
  package var frameMbsOnly = true
  package var mbAdaptiveFrameField = false
  package var direct8x8Inference = false
  package var cropping: Cropping?
  package var vui: VideoUsabilityInformation?

  package init() {}
}

extension SequenceParameterSet {
  /// Parses the payload of a NAL unit of type 7. Broken VUI parameters are an issue, not an error:
  /// pictures can be understood without them.
  package init(parsing reader: inout BitReader) throws(SyntaxError) {
    self.init()
    if try parseData(&reader) { reader.rbspTrailingBits() }
  }

  /// Parses `seq_parameter_set_data()`. False when the VUI broke, so that nothing can follow.
  mutating func parseData(_ reader: inout BitReader) throws(SyntaxError) -> Bool {
    profileIDC = try reader.u(8, "profile_idc")
    for index in 0..<6 {
      if try reader.flag(Self.constraintNames[index]) { constraintFlags |= 0x80 >> index }
    }
    constraintFlags |= try reader.u(2, "reserved_zero_2bits", in: 0...0)
    let levelStart = reader.position
    levelIDC = try reader.u(8, "level_idc")
    if level == nil {
      reader.note(SyntaxError("level_idc", at: levelStart, .outOfRange(levelIDC)))
    }
    id = try reader.ue("seq_parameter_set_id", within: 0...31)
    if Self.profilesWithChromaFormat.contains(profileIDC) {
      try parseSampleFormat(&reader)
    }
    log2MaxFrameNum = try reader.ue("log2_max_frame_num_minus4", in: 0...12) + 4
    try parsePicOrderCnt(&reader)
    maxNumRefFrames = try reader.ue("max_num_ref_frames", in: 0...16)
    gapsInFrameNumValueAllowed = try reader.flag("gaps_in_frame_num_value_allowed_flag")
    picWidthInMbs = try reader.ue("pic_width_in_mbs_minus1", within: 0...Self.largestSide) + 1
    picHeightInMapUnits =
      try reader.ue("pic_height_in_map_units_minus1", within: 0...Self.largestSide) + 1
    frameMbsOnly = try reader.flag("frame_mbs_only_flag")
    if !frameMbsOnly {
      mbAdaptiveFrameField = try reader.flag("mb_adaptive_frame_field_flag")
    }
    direct8x8Inference = try reader.flag("direct_8x8_inference_flag")
    if try reader.flag("frame_cropping_flag") {
      cropping = Cropping(
        left: try reader.ue("frame_crop_left_offset"),
        right: try reader.ue("frame_crop_right_offset"),
        top: try reader.ue("frame_crop_top_offset"),
        bottom: try reader.ue("frame_crop_bottom_offset"))
    }
    guard try reader.flag("vui_parameters_present_flag") else { return true }
    var information = VideoUsabilityInformation()
    defer { vui = information }
    do throws(SyntaxError) {
      try information.parse(&reader)
      return true
    } catch {
      reader.note(error)
      return false
    }
  }

  private mutating func parseSampleFormat(_ reader: inout BitReader) throws(SyntaxError) {
    chromaFormatIDC = try reader.ue("chroma_format_idc", in: 0...3)
    if chromaFormatIDC == 3 {
      separateColourPlane = try reader.flag("separate_colour_plane_flag")
    }
    bitDepthLumaMinus8 = try reader.ue("bit_depth_luma_minus8", in: 0...6)
    bitDepthChromaMinus8 = try reader.ue("bit_depth_chroma_minus8", in: 0...6)
    qpprimeYZeroTransformBypass = try reader.flag("qpprime_y_zero_transform_bypass_flag")
    if try reader.flag("seq_scaling_matrix_present_flag") {
      scalingMatrix = try ScalingMatrix(
        parsing: &reader, count: chromaFormatIDC == 3 ? 12 : 8,
        presentFlag: "seq_scaling_list_present_flag", fallBack: .defaults)
    }
  }

  private mutating func parsePicOrderCnt(_ reader: inout BitReader) throws(SyntaxError) {
    picOrderCntType = try reader.ue("pic_order_cnt_type", in: 0...2)
    switch picOrderCntType {
    case 0:
      log2MaxPicOrderCntLsb =
        try reader.ue("log2_max_pic_order_cnt_lsb_minus4", in: 0...12) + 4
    case 1:
      deltaPicOrderAlwaysZero = try reader.flag("delta_pic_order_always_zero_flag")
      offsetForNonRefPic = try reader.se("offset_for_non_ref_pic")
      offsetForTopToBottomField = try reader.se("offset_for_top_to_bottom_field")
      let count = try reader.ue("num_ref_frames_in_pic_order_cnt_cycle", within: 0...255)
      reader.record?.beginLoop()
      for _ in 0..<count {
        offsetForRefFrame.append(try reader.se("offset_for_ref_frame"))
        reader.record?.nextTurn()
      }
      reader.record?.end()
    default:
      break
    }
  }

  /// Beyond any level, but small enough that areas in samples fit 64 bits.
  private static let largestSide = 1 << 24 - 1

  /// The profiles whose sequence parameter sets say `chroma_format_idc`.
  package static let profilesWithChromaFormat: Set = [
    100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135,
  ]

  private static let constraintNames = [
    "constraint_set0_flag", "constraint_set1_flag", "constraint_set2_flag",
    "constraint_set3_flag", "constraint_set4_flag", "constraint_set5_flag",
  ]
}
