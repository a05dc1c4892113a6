internal import CFFmpeg

/// Writes into an SPS what libx264 leaves out of a colour description.
///
/// libx264 leaves `video_signal_type_present_flag` 0 when limited range is all there is to say,
/// because that means the same (H.264 §E.2.1); whoever asks for the tag wants to see it. And it
/// knows `colour_primaries` up to 12 only.
struct ColourSignal {
  /// Options of libavcodec's filter.
  private let options: [(name: String, value: String)]
  private var original: [UInt8] = []
  private var tagged: [UInt8] = []

  /// What is to be written of `colour`; `nil` when libx264 writes it all.
  init?(_ colour: ColourDescription) {
    var options: [(name: String, value: String)] = []
    if colour.isLimitedRangeOnly { options.append(("video_full_range_flag", "0")) }
    if let primaries = colour.primaries, primaries.code > 12 {
      options.append(("colour_primaries", "\(primaries.code)"))
      // libx264 may have found nothing to write of the rest.
      let isFull = colour.range == .pc
      options.append(("video_full_range_flag", isFull ? "1" : "0"))
    }
    guard !options.isEmpty else { return nil }
    self.options = options
  }

  /// The SPS with what was missing.
  ///
  /// - Parameter unit: The NAL unit without start code or length.
  /// - Returns: The same unit, a few bits longer.
  /// - Throws: `CodecError` when libavcodec cannot read the SPS.
  mutating func tag(_ unit: [UInt8]) throws(CodecError) -> [UInt8] {
    if unit != original {
      tagged = try rewrite(unit)
      original = unit
    }
    return tagged
  }

  private func rewrite(_ unit: [UInt8]) throws(CodecError) -> [UInt8] {
    guard let kind = av_bsf_get_by_name("h264_metadata") else {
      throw CodecError(function: "av_bsf_get_by_name", code: -ENOSYS)
    }
    var allocated: UnsafeMutablePointer<AVBSFContext>?
    try check(av_bsf_alloc(kind, &allocated), "av_bsf_alloc")
    let filter = try Owned(allocated, "av_bsf_alloc") { av_bsf_free($0) }
    filter.pointer.pointee.par_in.pointee.codec_type = AVMEDIA_TYPE_VIDEO
    filter.pointer.pointee.par_in.pointee.codec_id = AV_CODEC_ID_H264
    for (name, value) in options {
      try check(av_opt_set(filter.pointer.pointee.priv_data, name, value, 0), "av_opt_set")
    }
    try check(av_bsf_init(filter.pointer), "av_bsf_init")

    let packet = try Owned(av_packet_alloc(), "av_packet_alloc") { av_packet_free($0) }
    try check(av_new_packet(packet.pointer, Int32(4 + unit.count)), "av_new_packet")
    let content: [UInt8] = [0, 0, 0, 1] + unit
    packet.pointer.pointee.data.update(from: content, count: content.count)
    try check(av_bsf_send_packet(filter.pointer, packet.pointer), "av_bsf_send_packet")
    try check(av_bsf_receive_packet(filter.pointer, packet.pointer), "av_bsf_receive_packet")

    var result: [UInt8] = []
    UnsafeBufferPointer(
      start: packet.pointer.pointee.data, count: Int(packet.pointer.pointee.size)
    ).forEachNALUnit(.annexB) { unit in
      if unit.type == 7 { result = Array(unit.payload) }
    }
    return result
  }
}
