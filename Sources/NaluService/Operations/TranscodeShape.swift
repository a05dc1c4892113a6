internal import Codec

/// What decoded frames are made into before they are encoded: decided by the first, the same for
/// all.
struct TranscodeShape: ~Copyable, Sendable {
  /// What the encoder gets.
  let video: RawVideo
  /// How it is encoded: what was asked for, the rest as the input is.
  let settings: EncodeSettings
  /// How the result is to be laid; `nil` when it is upright.
  let displayMatrix: [Int32]?
  /// What frames are turned by.
  private let turn: Orientation
  /// Before they are turned.
  private let format: PixelFormat
  private let geometry: DecodeGeometry
  private var converter = PixelConverter()

  /// - Parameters:
  ///   - frame: The first.
  ///   - index: Says what the container adds.
  ///   - wanted: What was asked for.
  ///   - frameRate: Of the result.
  ///   - limits: Bound the size.
  /// - Throws: When the size is beyond the limits.
  init(
    _ frame: borrowing Frame, _ index: DecodeIndex, _ wanted: TranscodeSettings,
    frameRate: Rational, _ limits: Limits
  ) throws(Problem) {
    let orientation = frame.orientation ?? index.orientation
    let keepsMatrix = wanted.encode.format.holdsDisplayMatrix
    let turn = keepsMatrix ? .upright : orientation
    let chroma = frame.format?.chroma ?? .yuv444
    // A quarter turn of 4:2:2 has no layout.
    let isTurned422 = turn.swapsAxes && chroma == .yuv422
    let format =
      PixelFormat(
        planar: isTurned422 ? .yuv444 : chroma, bitDepth: frame.bitDepth > 8 ? 10 : 8) ?? .yuv420p
    let geometry = DecodeGeometry(
      width: frame.width, height: frame.height,
      sampleAspectRatio: frame.sampleAspectRatio ?? index.sampleAspectRatio, wanted.decode,
      swapsAxes: orientation.swapsAxes, isSubsampled: chroma.halvesWidth)
    try geometry.check(limits)
    var video = RawVideo(
      width: turn.swapsAxes ? geometry.height : geometry.width,
      height: turn.swapsAxes ? geometry.width : geometry.height, pixelFormat: format)
    video.chromaLocation = turn == .upright ? frame.statedChromaLocation : nil

    var settings = wanted.encode
    settings.frameRate = frameRate
    settings.sampleAspectRatio =
      settings.sampleAspectRatio
      ?? geometry.sampleAspectRatio.map { ratio in
        (turn.swapsAxes ? Rational(ratio.denominator, ratio.numerator) : ratio).fittingVUI
      }
    if isTurned422 { settings.chromaFormat = settings.chromaFormat ?? .yuv422 }
    let colour = frame.colour
    settings.colour.range = settings.colour.range ?? colour.range
    settings.colour.primaries = settings.colour.primaries ?? colour.primaries
    settings.colour.transfer = settings.colour.transfer ?? colour.transfer
    // R, G and B as such have become luma and chroma.
    let matrix = colour.matrix == .gbr ? nil : colour.matrix
    settings.colour.matrix = settings.colour.matrix ?? matrix
    let keepsLines = geometry.height == frame.height && !turn.swapsAxes
    if settings.interlacing == nil, frame.isInterlaced, keepsLines, frame.height % 4 == 0 {
      settings.interlacing = frame.isTopFieldFirst != turn.flipsLines ? .tff : .bff
    }

    self.video = video
    self.settings = settings
    self.turn = turn
    self.format = format
    self.geometry = geometry
    displayMatrix =
      !keepsMatrix || orientation == .upright && index.displayMatrix == nil
      ? nil : frame.orientation?.displayMatrix ?? index.displayMatrix
  }

  /// `frame` as the encoder wants it.
  mutating func shape(_ frame: consuming Frame) throws(Problem) -> Frame {
    do throws(CodecError) {
      guard
        frame.format != format || frame.width != geometry.width || frame.height != geometry.height
      else { return try frame.turned(turn) }
      let converted = try converter.convert(
        frame, to: format, width: geometry.width, height: geometry.height)
      return try converted.turned(turn)
    } catch {
      throw .conversionFailed
    }
  }
}

extension OutputFormat {
  /// Players learn from it how pictures are to be laid.
  fileprivate var holdsDisplayMatrix: Bool { self == .mp4 || self == .fmp4 }
}

extension Rational {
  /// The ratio with terms that fit into 16 bits (H.264 §E.2.1), the last bits lost if need be.
  fileprivate var fittingVUI: Rational {
    var ratio = reduced
    while max(ratio.numerator, ratio.denominator) > 65535 {
      ratio = Rational(max(1, ratio.numerator / 2), max(1, ratio.denominator / 2))
    }
    return ratio
  }
}
