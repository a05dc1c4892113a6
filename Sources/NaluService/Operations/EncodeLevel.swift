internal import Codec
internal import H264

/// What a stream takes of a level (H.264 tables ).
struct EncodeDemand: Equatable, Sendable {
  var widthInMbs: Int
  var heightInMbs: Int
  var frameRate: Rational
  var isInterlaced: Bool
  /// Frames in the decoded picture buffer.
  var frames: Int
  /// Bits per second, and the bits of a coded picture buffer, where these are bounded.
  var bitRate: Int?
  var bufferSize: Int?
  /// What MaxBR and MaxCPB are counted in.
  var bitRateFactor: Int

  var frameSizeInMbs: Int { widthInMbs * heightInMbs }

  /// Why `level` is too low, or nil when it is not.
  func excess(over level: Level) -> String? {
    let size = "\(frameSizeInMbs) macroblocks"
    if frameSizeInMbs > level.maxFrameSize {
      return "\(size) are more than \(level.maxFrameSize)"
    }
    let longest = max(widthInMbs, heightInMbs)
    if longest * longest > 8 * level.maxFrameSize {
      return "a side of \(longest) macroblocks is too long for a frame size of at most "
        + "\(level.maxFrameSize)"
    }
    if frameSizeInMbs * frameRate.numerator > level.maxMbsPerSecond * frameRate.denominator {
      return "\(size) at that rate are more than \(level.maxMbsPerSecond) a second"
    }
    if frames > level.maxDpbFrames(frameSizeInMbs: frameSizeInMbs) {
      return "\(frames) reference frames of \(size) are more than "
        + "\(level.maxDpbFrames(frameSizeInMbs: frameSizeInMbs))"
    }
    if let bitRate, bitRate > level.maxBitRate * bitRateFactor {
      return "\(bitRate) bit/s are more than \(level.maxBitRate * bitRateFactor)"
    }
    if let bufferSize, bufferSize > level.maxCpbSize * bitRateFactor {
      return "a buffer of \(bufferSize) bits is larger than \(level.maxCpbSize * bitRateFactor)"
    }
    // Table A-4: frame_mbs_only_flag is 1 outside levels 2.1 to 4.1.
    if isInterlaced, !(21...41).contains(level.idc) { return "it has no interlaced coding" }
    return nil
  }

  /// The lowest level that suffices.
  var lowestLevel: Level? { Level.all.first { excess(over: $0) == nil } }
}

extension EncodeSettings {
  /// Refuses a level that is exceeded; finds one for a bit rate that will rise, which libx264
  /// cannot know.
  func codedLevel(of video: RawVideo) throws(Problem) -> String? {
    guard let level else {
      return bitrateChanges.isEmpty
        ? nil : encodeDemand(of: video, frames: presetFrames).lowestLevel?.name
    }
    guard let wanted = Level.all.first(where: { $0.name == level }) else { return nil }
    let demand = encodeDemand(of: video, frames: explicitFrames)
    guard let excess = demand.excess(over: wanted) else { return level }
    let advice =
      demand.lowestLevel.map { "the lowest level that fits is \($0.name)" }
      ?? "no level fits; leave level out"
    throw .conflict(
      "level",
      "level=\(level) is too low for \(video.width)x\(video.height) at "
        + "\(codedFrameRate.text) fps: \(excess); \(advice).")
  }

  /// Where a level leaves little room for reference frames, the preset gives way.
  func limitPictures(of settings: inout VideoEncoder.Settings, _ video: RawVideo) {
    guard let name = level, let wanted = Level.all.first(where: { $0.name == name }) else { return }
    let room = wanted.maxDpbFrames(
      frameSizeInMbs: encodeDemand(of: video, frames: 1).frameSizeInMbs)
    // libx264 takes four frames for B-frames as references, two for B-frames.
    if room < 4 { settings.bframePyramid = false }
    if room < 2 { settings.bframes = 0 }
  }

  private func encodeDemand(of video: RawVideo, frames: Int) -> EncodeDemand {
    let isInterlaced = interlacing?.fieldOrder != nil
    let pairRows = (video.height + 31) / 32
    let rates = bitrateChanges.map(\.bitrate) + [bufferModel?.maxRate, bitrate].compactMap(\.self)
    let sizes = bitrateChanges.map(\.bitrate) + [bufferModel?.size].compactMap(\.self)
    return EncodeDemand(
      widthInMbs: (video.width + 15) / 16,
      heightInMbs: isInterlaced ? 2 * pairRows : (video.height + 15) / 16,
      frameRate: codedFrameRate, isInterlaced: isInterlaced, frames: frames, bitRate: rates.max(),
      bufferSize: sizes.max(),
      bitRateFactor: BitRateFactor(profileIDC: expectedProfileIDC(of: video)).vcl)
  }

  /// Frames that explicit values ask for; libx264 fits what the preset asks for to the level.
  private var explicitFrames: Int {
    max(references ?? 1, bframes ?? 0 > 0 ? 2 : 1)
  }

  /// Frames that the preset asks for where nothing explicit does.
  private var presetFrames: Int {
    max(references ?? usuallyKept.references, 4)
  }

  /// profile_idc as far as bit rates depend on it.
  private func expectedProfileIDC(of video: RawVideo) -> Int {
    let chroma = codedChroma(of: video)
    if chroma == .yuv444 || isLossless(video) { return 244 }
    if chroma == .yuv422 { return 122 }
    if video.pixelFormat.bitDepth > 8 { return 110 }
    // Without the 8x8 transform libx264 does not call it High.
    let isPlain = profile == .baseline || profile == .main || preset == .ultrafast
    return isPlain && chroma == .yuv420 ? 77 : 100
  }
}

extension Rational {
  fileprivate var text: String {
    denominator == 1 ? "\(numerator)" : "\(numerator)/\(denominator)"
  }
}
