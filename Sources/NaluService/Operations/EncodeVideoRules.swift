internal import Codec

/// What does not go together with a certain size and pixel format.
extension EncodeSettings {
  func check(_ video: RawVideo, _ limits: Limits) throws(Problem) {
    try video.check(limits, isGiven: width != nil)
    try checkDimensions(video)
    try checkQuantiser(video)
    try checkProfile(video)
    try checkLossless(video)
    try checkColour(video)
    try checkBufferHoldsFrame()
    try checkSlices(video)
  }

  /// Nothing is lost: libx264 takes a crf that is 0 without its decimals for that too.
  func isLossless(_ video: RawVideo) -> Bool {
    if let crf { return crf < 1 && video.pixelFormat.bitDepth == 8 }
    return qp == 0
  }

  private func checkDimensions(_ video: RawVideo) throws(Problem) {
    let chroma = codedChroma(of: video)
    let isInterlaced = interlacing?.fieldOrder != nil
    let columns = chroma.halvesWidth ? 2 : 1
    let rows = (chroma.halvesHeight ? 2 : 1) * (isInterlaced ? 2 : 1)
    for (axis, size, step) in [("width", video.width, columns), ("height", video.height, rows)]
    where size % step != 0 {
      let coding = (isInterlaced ? "interlaced " : "") + chroma.rawValue
      let wanted = step == 2 ? "even" : "a multiple of \(step)"
      throw Problem(
        .oddDimensions, "\(coding) video needs a \(axis) that is \(wanted); \(size) is not.",
        parameter: axis)
    }
  }

  private func checkQuantiser(_ video: RawVideo) throws(Problem) {
    guard let qp, qp > 51, video.pixelFormat.bitDepth == 8 else { return }
    throw Problem(
      .invalidParameter, "qp goes up to 51 for 8-bit video, not \(qp).", parameter: "qp")
  }

  private func checkProfile(_ video: RawVideo) throws(Problem) {
    guard let profile else { return }
    let chroma = codedChroma(of: video)
    let is10Bit = video.pixelFormat.bitDepth > 8
    let fits =
      switch profile {
      case .baseline, .main: chroma == .yuv420 && !is10Bit
      case .high: (chroma == .yuv420 || chroma == .monochrome) && !is10Bit
      case .high10: chroma == .yuv420 || chroma == .monochrome
      case .high422: chroma != .yuv444
      case .high444: true
      }
    guard fits else {
      let lowest: VideoEncoder.Profile =
        switch chroma {
        case .yuv444: .high444
        case .yuv422: .high422
        case .yuv420, .monochrome: is10Bit ? .high10 : .high
        }
      throw .conflict(
        "profile",
        "\(profile.rawValue) has no \(is10Bit ? "10-bit " : "")\(chroma.rawValue); the lowest "
          + "profile that does is \(lowest.rawValue).")
    }
    if profile == .baseline, interlacing?.fieldOrder != nil {
      throw .conflict("interlaced", "baseline as libx264 codes it has no interlacing; use main.")
    }
  }

  private func checkLossless(_ video: RawVideo) throws(Problem) {
    guard isLossless(video) else { return }
    let cause = qp == 0 ? "qp=0" : "crf below 1"
    if let profile, profile != .high444 {
      throw .conflict(
        "profile", "\(cause) is lossless, which only high444 has, not \(profile.rawValue).")
    }
    if let bframes, bframes > 0 {
      throw .conflict("bframes", "\(cause) is lossless, which libx264 codes without B-frames.")
    }
    if openGOP {
      throw .conflict("open_gop", "\(cause) is lossless, which libx264 codes without B-frames.")
    }
    if maxRate != nil {
      throw .conflict("maxrate", "\(cause) is lossless: its rate cannot be bounded.")
    }
  }

  private func checkColour(_ video: RawVideo) throws(Problem) {
    guard let matrix = colour.matrix else { return }
    if video.pixelFormat.isRGB, !matrix.convertsRGB {
      let usable = ColourDescription.Matrix.allCases.filter(\.convertsRGB).map(\.rawValue)
      throw .conflict(
        "colorspace",
        "RGB cannot be converted with \(matrix.rawValue); use \(usable.joined(separator: ", ")).")
    }
    let chroma = codedChroma(of: video)
    if chroma == .monochrome {
      throw .conflict("colorspace", "Monochrome video has no matrix coefficients.")
    }
    // H.264 §E.2.1, matrix_coefficients 0.
    if matrix == .gbr, chroma != .yuv444 {
      throw .conflict("colorspace", "colorspace=gbr goes with 4:4:4 only, not \(chroma.rawValue).")
    }
  }

  /// libx264 would enlarge the buffer.
  private func checkBufferHoldsFrame() throws(Problem) {
    guard let model = bufferModel else { return }
    let rate = codedFrameRate
    let frame = Int((Double(model.maxRate) / rate.doubleValue).rounded(.up))
    guard model.size >= frame else {
      throw .conflict(
        "bufsize",
        "A buffer of \(model.size) bits is smaller than a frame's share of the rate, \(frame) bits."
      )
    }
  }

  private func checkSlices(_ video: RawVideo) throws(Problem) {
    // A slice is at least a row of macroblocks, or of macroblock pairs (libx264).
    let row = interlacing?.fieldOrder == nil ? 16 : 32
    let most = (video.height + row - 1) / row
    guard slices <= most else {
      throw .conflict(
        "slices", "A picture of \(video.height) rows has at most \(most) slices, not \(slices).")
    }
  }
}
