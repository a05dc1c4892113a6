internal import CFFmpeg

extension UnsafeMutablePointer where Pointee == AVFormatContext {
  func configure(_ output: MuxerOutput) {
    pointee.pb = output.io.pointer
    // FLAC in MP4 counts as an experiment there.
    pointee.strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL
    // Samples come as the format wants them, and the same samples give the same bytes.
    pointee.flags =
      AVFMT_FLAG_CUSTOM_IO | AVFMT_FLAG_BITEXACT
      | pointee.flags & ~(AVFMT_FLAG_AUTO_BSF | AVFMT_FLAG_FLUSH_PACKETS)
    pointee.flush_packets = 0
    // A track that has ended, or pauses, must not make the other one pile up.
    pointee.max_interleave_delta = 1_000_000
  }

  func add(_ track: MuxerTrack, to format: Muxer.Format) throws(CodecError) {
    guard let stream = avformat_new_stream(self, nil) else {
      throw CodecError(function: "avformat_new_stream", code: -ENOMEM)
    }
    stream.pointee.time_base = track.timeBase.libav
    stream.pointee.disposition = AV_DISPOSITION_DEFAULT
    switch track {
    case .video(let video): try stream.describe(video, format)
    case .aac(let audio): try stream.describe(audio)
    case .copied(let track): try stream.describe(track)
    case .sound(let sound): try stream.describe(sound)
    }
  }

  func writeHeader(_ format: Muxer.Format, _ tracks: [MuxerTrack]) throws(CodecError) {
    var options: OpaquePointer?
    defer { av_dict_free(&options) }
    for (name, value) in format.options(tracks) {
      try check(av_dict_set(&options, name, value, 0), "av_dict_set")
    }
    if format == .mpegts {
      // The clock starts that much before the first picture, as decoders need it.
      pointee.max_delay = 700_000
    }
    try check(avformat_write_header(self, &options), "avformat_write_header")
  }
}

extension Muxer.Format {
  fileprivate func options(_ tracks: [MuxerTrack]) -> [(String, String)] {
    switch self {
    case .mp4:
      // A scale of its own for the movie would round the duration.
      [("movie_timescale", "\(tracks.first?.timeBase.mediaTimescale ?? 1000)")]
    case .fmp4:
      [
        ("movie_timescale", "\(tracks.first?.timeBase.mediaTimescale ?? 1000)"),
        // With the first fragment before it the moov knows the edit list.
        ("movflags", "frag_keyframe+delay_moov+default_base_moof"),
        ("frag_duration", "\(Self.fragmentDuration)"), ("frag_size", "\(Self.fragmentSize)"),
      ]
    case .flv: [("flvflags", "no_sequence_end")]
    case .mpegts: [("mpegts_flags", "initial_discontinuity")]
    case .mkv: []
    }
  }

  /// Microseconds and bytes from which on a fragment is cut, though no keyframe follows.
  private static let fragmentDuration = 5_000_000
  private static let fragmentSize = 4 << 20
}

extension Rational {
  /// What libavformat makes of the time base of a track in an MP4 file.
  fileprivate var mediaTimescale: Int {
    var scale = denominator
    while scale < 10_000 { scale *= 2 }
    return scale
  }
}

extension UnsafeMutablePointer where Pointee == AVStream {
  fileprivate func describe(
    _ video: MuxerTrack.Video, _ format: Muxer.Format
  ) throws(CodecError) {
    guard let parameters = pointee.codecpar else { return }
    parameters.pointee.codec_type = AVMEDIA_TYPE_VIDEO
    parameters.pointee.codec_id = AV_CODEC_ID_H264
    parameters.pointee.width = Int32(clamping: video.width)
    parameters.pointee.height = Int32(clamping: video.height)
    if video.hasParameterSetsInBand, format == .mp4 || format == .fmp4 {
      parameters.pointee.codec_tag = 0x3363_7661  // avc3, the first letter lowest
    }
    let colour = video.colour
    parameters.pointee.color_primaries = AVColorPrimaries(UInt32(colour.primaries))
    parameters.pointee.color_trc = AVColorTransferCharacteristic(UInt32(colour.transfer))
    parameters.pointee.color_space = AVColorSpace(UInt32(colour.matrix))
    if let isFull = colour.isFullRange {
      parameters.pointee.color_range = isFull ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
    }
    if let sar = video.sampleAspectRatio {
      parameters.pointee.sample_aspect_ratio = sar.libav
      pointee.sample_aspect_ratio = sar.libav
    }
    if let rate = video.frameRate {
      pointee.avg_frame_rate = rate.libav
      pointee.r_frame_rate = rate.libav
    }
    try setExtradata(video.configuration)
    if let matrix = video.displayMatrix, matrix.count == 9 { try setDisplayMatrix(matrix) }
  }

  fileprivate func describe(_ audio: MuxerTrack.AAC) throws(CodecError) {
    guard let parameters = pointee.codecpar else { return }
    parameters.pointee.codec_type = AVMEDIA_TYPE_AUDIO
    parameters.pointee.codec_id = AV_CODEC_ID_AAC
    parameters.pointee.sample_rate = Int32(clamping: audio.sampleRate)
    parameters.pointee.frame_size = Int32(clamping: audio.frameSize)
    av_channel_layout_default(&parameters.pointee.ch_layout, Int32(clamping: audio.channels))
    try setExtradata(audio.configuration)
  }

  /// libavformat frees it, and may read a little past its end.
  private func setExtradata(_ bytes: [UInt8]) throws(CodecError) {
    guard !bytes.isEmpty else { return }
    let size = bytes.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)
    guard let memory = av_mallocz(size) else {
      throw CodecError(function: "av_mallocz", code: -ENOMEM)
    }
    memory.copyMemory(from: bytes, byteCount: bytes.count)
    pointee.codecpar.pointee.extradata = memory.assumingMemoryBound(to: UInt8.self)
    pointee.codecpar.pointee.extradata_size = Int32(bytes.count)
  }

  private func setDisplayMatrix(_ matrix: [Int32]) throws(CodecError) {
    let size = matrix.count * MemoryLayout<Int32>.size
    guard let bytes = av_stream_new_side_data(self, AV_PKT_DATA_DISPLAYMATRIX, size) else {
      throw CodecError(function: "av_stream_new_side_data", code: -ENOMEM)
    }
    matrix.withUnsafeBytes {
      UnsafeMutableRawBufferPointer(start: bytes, count: size).copyMemory(from: $0)
    }
  }

  /// What the track was in another container; what that called the codec does not matter here.
  fileprivate func describe(_ track: Track) throws(CodecError) {
    guard let parameters = pointee.codecpar else { return }
    try check(
      avcodec_parameters_copy(parameters, track.parameters.pointer), "avcodec_parameters_copy")
    parameters.pointee.codec_tag = 0
  }

  fileprivate func describe(_ sound: MuxerTrack.Sound) throws(CodecError) {
    try describe(sound.track)
    guard let parameters = pointee.codecpar else { return }
    parameters.pointee.sample_rate = Int32(clamping: sound.sampleRate)
    parameters.pointee.frame_size = Int32(clamping: sound.frameSize)
    let channels = Int32(clamping: sound.channels)
    if channels > 0, parameters.pointee.ch_layout.nb_channels != channels {
      av_channel_layout_default(&parameters.pointee.ch_layout, channels)
    }
  }
}
