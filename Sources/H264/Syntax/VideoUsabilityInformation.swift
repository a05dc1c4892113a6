/// `vui_parameters()` (H.264 §E.1.1). Nil is what the stream does not say.
package struct VideoUsabilityInformation: Equatable, Sendable {
  package struct Colour: Equatable, Sendable {
    package var primaries: Int
    package var transferCharacteristics: Int
    package var matrixCoefficients: Int
  }

  package struct Timing: Equatable, Sendable {
    package var numUnitsInTick: Int
    package var timeScale: Int
    package var fixedFrameRate: Bool
  }

  package struct BitstreamRestriction: Equatable, Sendable {
    package var motionVectorsOverPicBoundaries: Bool
    package var maxBytesPerPicDenom: Int
    package var maxBitsPerMbDenom: Int
    package var log2MaxMvLengthHorizontal: Int
    package var log2MaxMvLengthVertical: Int
    package var maxNumReorderFrames: Int
    package var maxDecFrameBuffering: Int
  }

  package var aspectRatioIDC: Int?
  /// `sar_width` and `sar_height`, sent for aspect_ratio_idc 255 only.
  package var extendedSampleAspectRatio: Ratio?
  package var overscanAppropriate: Bool?
  package var videoFormat: Int?
  package var videoFullRange: Bool?
  package var colour: Colour?
  package var chromaSampleLocTypeTopField: Int?
  package var chromaSampleLocTypeBottomField: Int?
  package var timing: Timing?
  package var nalHRD: HypotheticalReferenceDecoder?
  package var vclHRD: HypotheticalReferenceDecoder?
  package var lowDelayHRD: Bool?
  package var picStructPresent = false
  package var bitstreamRestriction: BitstreamRestriction?
}

extension VideoUsabilityInformation {
  /// Parses `vui_parameters()`; keeps what was read when it throws.
  mutating func parse(_ reader: inout BitReader) throws(SyntaxError) {
    reader.record?.beginObject("vui_parameters")
    try parseDisplay(&reader)
    if try reader.flag("timing_info_present_flag") {
      timing = Timing(
        numUnitsInTick: try reader.u(32, "num_units_in_tick", in: 1...0xFFFF_FFFF),
        timeScale: try reader.u(32, "time_scale", in: 1...0xFFFF_FFFF),
        fixedFrameRate: try reader.flag("fixed_frame_rate_flag"))
    }
    if try reader.flag("nal_hrd_parameters_present_flag") {
      nalHRD = try HypotheticalReferenceDecoder(parsing: &reader, as: "nal_hrd_parameters")
    }
    if try reader.flag("vcl_hrd_parameters_present_flag") {
      vclHRD = try HypotheticalReferenceDecoder(parsing: &reader, as: "vcl_hrd_parameters")
    }
    if nalHRD != nil || vclHRD != nil {
      lowDelayHRD = try reader.flag("low_delay_hrd_flag")
    }
    picStructPresent = try reader.flag("pic_struct_present_flag")
    if try reader.flag("bitstream_restriction_flag") {
      bitstreamRestriction = BitstreamRestriction(
        motionVectorsOverPicBoundaries: try reader.flag(
          "motion_vectors_over_pic_boundaries_flag"),
        maxBytesPerPicDenom: try reader.ue("max_bytes_per_pic_denom", in: 0...16),
        maxBitsPerMbDenom: try reader.ue("max_bits_per_mb_denom", in: 0...16),
        log2MaxMvLengthHorizontal: try reader.ue("log2_max_mv_length_horizontal", in: 0...16),
        log2MaxMvLengthVertical: try reader.ue("log2_max_mv_length_vertical", in: 0...16),
        maxNumReorderFrames: try reader.ue("max_num_reorder_frames", in: 0...16),
        maxDecFrameBuffering: try reader.ue("max_dec_frame_buffering", in: 0...16))
    }
    reader.record?.end()
  }

  private mutating func parseDisplay(_ reader: inout BitReader) throws(SyntaxError) {
    if try reader.flag("aspect_ratio_info_present_flag") {
      let idc = try reader.u(8, "aspect_ratio_idc")
      aspectRatioIDC = idc
      if idc == 255 {
        extendedSampleAspectRatio = Ratio(
          try reader.u(16, "sar_width"), try reader.u(16, "sar_height"))
      }
    }
    if try reader.flag("overscan_info_present_flag") {
      overscanAppropriate = try reader.flag("overscan_appropriate_flag")
    }
    if try reader.flag("video_signal_type_present_flag") {
      videoFormat = try reader.u(3, "video_format")
      videoFullRange = try reader.flag("video_full_range_flag")
      if try reader.flag("colour_description_present_flag") {
        colour = Colour(
          primaries: try reader.u(8, "colour_primaries"),
          transferCharacteristics: try reader.u(8, "transfer_characteristics"),
          matrixCoefficients: try reader.u(8, "matrix_coefficients"))
      }
    }
    if try reader.flag("chroma_loc_info_present_flag") {
      chromaSampleLocTypeTopField = try reader.ue("chroma_sample_loc_type_top_field", in: 0...5)
      chromaSampleLocTypeBottomField = try reader.ue(
        "chroma_sample_loc_type_bottom_field", in: 0...5)
    }
  }

  /// Width to height of a sample, reduced (table E-1); nil when unspecified or reserved.
  package var sampleAspectRatio: Ratio? {
    guard let aspectRatioIDC else { return nil }
    if aspectRatioIDC == 255 {
      guard let ratio = extendedSampleAspectRatio, ratio.numerator > 0, ratio.denominator > 0
      else { return nil }
      return ratio.reduced
    }
    guard Self.aspectRatios.indices.contains(aspectRatioIDC - 1) else { return nil }
    let (width, height) = Self.aspectRatios[aspectRatioIDC - 1]
    return Ratio(width, height)
  }

  /// Table E-1 from aspect_ratio_idc 1.
  private static let aspectRatios = [
    (1, 1), (12, 11), (10, 11), (16, 11), (40, 33), (24, 11), (20, 11), (32, 11),
    (80, 33), (18, 11), (15, 11), (64, 33), (160, 99), (4, 3), (3, 2), (2, 1),
  ]
}
