package import Codec

extension EncodeSettings {
  /// What the encoder is opened with for `video`, after all checks.
  ///
  /// - Parameters:
  ///   - video: Made of these settings; or read from a Y4M header, which has completed them.
  ///   - limits: Bounds the size and the threads.
  /// - Returns: Settings that libx264 takes as they are.
  /// - Throws: What does not go together.
  package func encoderSettings(
    for video: RawVideo, limits: Limits
  ) throws(Problem) -> VideoEncoder.Settings {
    try check(video, limits)
    let chroma = codedChroma(of: video)
    var settings = VideoEncoder.Settings(
      width: video.width, height: video.height, pixelFormat: video.pixelFormat, chroma: chroma)
    settings.frameRate = codedFrameRate
    settings.rateControl = rateControl
    settings.buffer = bufferModel
    let twoSeconds = (2 * settings.frameRate.doubleValue).rounded()
    settings.gop = gop ?? max(1, Int(twoSeconds))
    settings.sceneCut = sceneCut ?? (gop == nil)
    settings.openGOP = openGOP
    settings.intraRefresh = intraRefresh
    settings.bframes = bframes
    settings.references = references
    settings.entropyCoding = entropyCoding
    settings.profile = profile
    settings.level = try codedLevel(of: video)
    try checkReferences(video)
    limitPictures(of: &settings, video)
    settings.realtime = isRealtime
    settings.preset = preset
    settings.tunes = tunes
    settings.slices = slices
    settings.threads = threadCount(limits, sharing: limits.maxThreads)
    try boundMemory(of: &settings, limits: limits)
    // A transport stream must have them (ISO/IEC 13818-1 §2.14.1).
    settings.accessUnitDelimiters = accessUnitDelimiters || format == .mpegts
    settings.repeatsParameterSets = repeatsParameterSets ?? !format.hasConfiguration
    settings.fieldOrder = interlacing?.fieldOrder
    settings.colour = codedColour(of: video)
    settings.chromaLocation = codedChromaLocation(of: video)
    settings.sampleAspectRatio = sampleAspectRatio
    settings.framing = format.hasStartCodes ? .annexB : .lengthPrefixed
    return settings
  }

  var codedFrameRate: Rational { frameRate ?? Rational(25) }

  func codedChroma(of video: RawVideo) -> ChromaFormat {
    if let chromaFormat { return chromaFormat }
    switch video.pixelFormat.layout {
    case .packed, .rgb: return .yuv420
    case .planar, .semiPlanar: return video.pixelFormat.chroma
    }
  }

  /// RGB is converted to what the VUI says; for YUV the VUI says what was given.
  private func codedColour(of video: RawVideo) -> ColourDescription {
    var coded = colour
    guard video.pixelFormat.isRGB else { return coded }
    coded.range = coded.range ?? .tv
    coded.matrix = coded.matrix ?? (video.height >= 720 ? .bt709 : .smpte170m)
    return coded
  }

  /// libswscale puts the chroma that it subsamples in the middle.
  private func codedChromaLocation(of video: RawVideo) -> ChromaLocation? {
    let chroma = codedChroma(of: video)
    guard chroma == .yuv420 else { return nil }
    return video.pixelFormat.chroma == .yuv444 ? .center : video.chromaLocation
  }

  private var rateControl: VideoEncoder.RateControl {
    if let bitrate { return .bitrate(bitrate) }
    if let qp { return .qp(qp) }
    return .crf(crf ?? 23)
  }

  var bufferModel: VideoEncoder.BufferModel? {
    if let bitrate, !bitrateChanges.isEmpty {
      return .init(maxRate: bitrate, size: bitrate)
    }
    if let maxRate { return .init(maxRate: maxRate, size: bufferSize ?? maxRate) }
    // As x264: an average rate with a buffer is a constant rate.
    if let bitrate, let bufferSize { return .init(maxRate: bitrate, size: bufferSize) }
    return nil
  }

  /// In real time the threads share a picture by slices, one each: a wish for another number of
  /// slices is met by a single thread. `share`: what is given to those who leave it to the server.
  func threadCount(_ limits: Limits, sharing share: Int) -> Int {
    let count = threads == 0 ? share : min(threads, limits.maxThreads)
    return isRealtime && slices > 0 && slices != count ? 1 : count
  }
}
