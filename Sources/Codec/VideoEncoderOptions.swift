internal import CFFmpeg

extension UnsafeMutablePointer where Pointee == AVCodecContext {
  /// Says to libavcodec and libx264 what `settings` say.
  func apply(
    _ settings: VideoEncoder.Settings, codedAs format: PixelFormat
  ) throws(CodecError) {
    pointee.width = Int32(settings.width)
    pointee.height = Int32(settings.height)
    pointee.pix_fmt = format.libav
    pointee.framerate = settings.frameRate.libav
    let frameTime = Rational(settings.frameRate.denominator, settings.frameRate.numerator)
    pointee.time_base = (settings.timeBase ?? frameTime).libav
    pointee.thread_count = Int32(settings.threads)
    pointee.slices = Int32(settings.slices)
    setStructure(settings)
    setColour(settings)
    try setRateControl(settings)
    try setOptions(settings)
    try setX264Parameters(settings)
  }

  private func setStructure(_ settings: VideoEncoder.Settings) {
    pointee.gop_size = Int32(settings.gop)
    if let bframes = settings.bframes { pointee.max_b_frames = Int32(bframes) }
    if let references = settings.references { pointee.refs = Int32(references) }
    if settings.openGOP { pointee.flags &= ~nalu_flag_closed_gop }
    if settings.fieldOrder != nil { pointee.flags |= nalu_flag_interlaced }
  }

  private func setColour(_ settings: VideoEncoder.Settings) {
    let colour = settings.colour
    switch colour.range {
    case .tv: pointee.color_range = AVCOL_RANGE_MPEG
    case .pc: pointee.color_range = AVCOL_RANGE_JPEG
    case nil: break
    }
    if let primaries = colour.primaries {
      pointee.color_primaries = AVColorPrimaries(UInt32(primaries.code))
    }
    if let transfer = colour.transfer {
      pointee.color_trc = AVColorTransferCharacteristic(UInt32(transfer.code))
    }
    if let matrix = colour.matrix { pointee.colorspace = AVColorSpace(UInt32(matrix.code)) }
    if let sar = settings.sampleAspectRatio { pointee.sample_aspect_ratio = sar.libav }
  }

  private func setRateControl(_ settings: VideoEncoder.Settings) throws(CodecError) {
    switch settings.rateControl {
    case .bitrate(let bitrate):
      pointee.bit_rate = Int64(bitrate)
    case .crf(let quality):
      try check(av_opt_set_double(pointee.priv_data, "crf", quality, 0), "av_opt_set")
    case .qp(let quantiser):
      try set("qp", "\(quantiser)")
    }
    if let buffer = settings.buffer {
      pointee.rc_max_rate = Int64(buffer.maxRate)
      pointee.rc_buffer_size = Int32(buffer.size)
    }
  }

  private func setOptions(_ settings: VideoEncoder.Settings) throws(CodecError) {
    try set("preset", settings.preset.rawValue)
    var tunes = settings.tunes
    if settings.realtime, !tunes.contains(.zerolatency) { tunes.append(.zerolatency) }
    if !tunes.isEmpty { try set("tune", tunes.map(\.rawValue).joined(separator: ",")) }
    if let profile = settings.profile { try set("profile", profile.rawValue) }
    if let level = settings.level { try set("level", level) }
    if let coding = settings.entropyCoding { try set("coder", coding.rawValue) }
    if let pyramid = settings.bframePyramid, !pyramid { try set("b-pyramid", "none") }
    if !settings.sceneCut { try set("sc_threshold", "0") }
    if let lookahead = settings.lookahead { try set("rc-lookahead", "\(lookahead)") }
    if settings.intraRefresh { try set("intra-refresh", "1") }
    if settings.accessUnitDelimiters { try set("aud", "1") }
    try set("forced-idr", "1")
    try set("nal-hrd", "none")
  }

  /// What libavcodec has no option for, or would round.
  private func setX264Parameters(_ settings: VideoEncoder.Settings) throws(CodecError) {
    var parameters: [(String, String)] = []
    // At a constant rate the VUI says so, and rate control counts frames.
    if settings.timeBase == nil { parameters.append(("force-cfr", "1")) }
    if let order = settings.fieldOrder { parameters.append((order.rawValue, "1")) }
    if let sar = settings.sampleAspectRatio {
      parameters.append(("sar", "\(sar.numerator):\(sar.denominator)"))
    }
    if settings.chroma == .yuv420, let location = settings.chromaLocation {
      parameters.append(("chromaloc", "\(location.rawValue)"))
    }
    if settings.framing == .lengthPrefixed { parameters.append(("annexb", "0")) }
    var dictionary: OpaquePointer?
    defer { av_dict_free(&dictionary) }
    for (name, value) in parameters {
      try check(av_dict_set(&dictionary, name, value, 0), "av_dict_set")
    }
    try check(
      av_opt_set_dict_val(pointee.priv_data, "x264-params", dictionary, 0), "av_opt_set_dict_val")
  }

  private func set(_ name: String, _ value: String) throws(CodecError) {
    try check(av_opt_set(pointee.priv_data, name, value, 0), "av_opt_set")
  }
}
