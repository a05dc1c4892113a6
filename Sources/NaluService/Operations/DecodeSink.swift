internal import Codec
internal import Platform

/// Gives decoded frames the form that was asked for.
struct DecodeSink: ~Copyable {
  private let settings: DecodeSettings
  private let limits: Limits
  private let frameRate: Rational
  /// Of the container, where the stream does not say.
  private let sampleAspectRatio: Rational?
  /// How raw frames are turned: as the container says, which ffmpeg does too.
  private let orientation: Orientation
  private var converter = PixelConverter()
  private var images: DecodeImageSink?
  private var y4m: Y4MWriter?
  private var hasBegun = false
  private(set) var framesOut = 0

  init(
    _ settings: DecodeSettings, _ index: DecodeIndex, _ limits: Limits, threads: Int
  ) throws(Problem) {
    self.settings = settings
    self.limits = limits
    let rate = index.frameRate.map { Rational($0.numerator, $0.denominator) }
    frameRate = rate ?? Rational(25)
    sampleAspectRatio = index.sampleAspectRatio
    orientation = settings.rotation == .auto ? index.orientation : .upright
    if settings.format.isImage {
      images = try DecodeImageSink(
        settings, orientation: index.orientation, limits, threads: threads)
    }
    let isScaled = settings.width != nil && settings.height != nil
    if index.shapes.count > 1 {
      if settings.onResolutionChange == .fail {
        throw Problem(.undecodable, "The size or format of the pictures changes on the way.")
      }
      if settings.format == .y4m, !isScaled {
        throw Problem(
          .unsupportedFeature,
          "The size of the pictures changes on the way, which Y4M cannot express; give width and height."
        )
      }
    }
  }

  /// Takes the next frame.
  ///
  /// - Parameters:
  ///   - frame: As decoded.
  ///   - number: In output order.
  ///   - isMonochrome: The video has no chroma.
  ///   - output: Gets what is ready.
  /// - Throws: When the picture would be too large, or libav refuses it.
  mutating func write(
    _ frame: consuming Frame, number: Int, isMonochrome: Bool, into output: inout Output
  ) throws(Problem) {
    framesOut += 1
    var frame = frame
    if frame.sampleAspectRatio == nil { frame.setSampleAspectRatio(sampleAspectRatio) }
    let needsRGB = images != nil && !isMonochrome || settings.pixelFormat?.isRGB == true
    if needsRGB, let matrix = frame.unknownMatrix {
      throw Problem(
        .unsupportedFeature,
        "The stream's colours (matrix_coefficients \(matrix)) cannot be converted to RGB.",
        members: [.init("feature", "matrix_coefficients \(matrix)")])
    }
    if images != nil {
      try images?.write(frame, number: number, isMonochrome: isMonochrome, into: &output)
      return
    }
    let samples = try shaped(try laid(frame))
    begin(with: samples, &output)
    switch settings.format {
    case .framemd5:
      try appendDigest(of: samples, number: number, to: &output.bytes)
    case .y4m:
      output.bytes += Y4MWriter.frameHeader
      samples.appendSamples(to: &output.bytes)
    default:
      samples.appendSamples(to: &output.bytes, crFirst: settings.pixelFormat?.crFirst == true)
    }
  }

  /// No frame follows; true when everything is out.
  mutating func finish(comment: String, into output: inout Output) throws(Problem) -> Bool {
    guard images != nil else { return true }
    return try images?.finish(comment: comment, into: &output) ?? true
  }

  /// The frame as it is to be looked at.
  private mutating func laid(_ frame: consuming Frame) throws(Problem) -> Frame {
    do throws(CodecError) {
      return try converter.turn(frame, orientation)
    } catch {
      throw .conversionFailed
    }
  }

  /// The frame in the format and size that were asked for.
  private mutating func shaped(_ frame: consuming Frame) throws(Problem) -> Frame {
    let native = frame.format
    var format = settings.pixelFormat ?? y4m?.format ?? native
    if settings.pixelFormat == nil {
      if format?.chroma == .monochrome {
        format = PixelFormat(planar: .yuv420, bitDepth: frame.bitDepth)
      }
      // RGB coded as such, which Y4M cannot say.
      if format == nil, settings.format == .y4m {
        format = PixelFormat(planar: .yuv444, bitDepth: frame.bitDepth)
      }
    }
    let geometry = DecodeGeometry(
      width: frame.width, height: frame.height, sampleAspectRatio: frame.sampleAspectRatio,
      settings, swapsAxes: false, isSubsampled: format?.chroma.halvesWidth ?? false)
    try geometry.check(limits)
    guard let format else {
      // A layout without a name of ours goes out as it is.
      guard settings.width == nil, settings.height == nil else {
        throw Problem(
          .unsupportedFeature, "Frames in \(frame.formatName) cannot be scaled; give a pix_fmt too."
        )
      }
      return frame
    }
    let isSameFormat = native == format || native == .yuv420p && format == .yv12
    if isSameFormat, geometry.width == frame.width, geometry.height == frame.height {
      return frame
    }
    do throws(CodecError) {
      var result = try converter.convert(
        frame, to: format, width: geometry.width, height: geometry.height)
      result.setSampleAspectRatio(geometry.sampleAspectRatio)
      return result
    } catch {
      throw .conversionFailed
    }
  }

  /// Describes the result by its first frame.
  private mutating func begin(with frame: borrowing Frame, _ output: inout Output) {
    if hasBegun { return }
    hasBegun = true
    output.answer.headers += [
      .init("Nalu-Width", "\(frame.width)"), .init("Nalu-Height", "\(frame.height)"),
      .init("Nalu-Pix-Fmt", settings.pixelFormat?.rawValue ?? frame.formatName),
    ]
    switch settings.format {
    case .framemd5:
      output.bytes += Array(digestHeader(frame).utf8)
    case .y4m:
      guard let format = frame.format else { return }
      let writer = Y4MWriter(format: format, width: frame.width, height: frame.height)
      let scan: Y4MWriter.Scan =
        !frame.isInterlaced
        ? .progressive : frame.isTopFieldFirst ? .topFieldFirst : .bottomFieldFirst
      output.bytes += writer.header(
        rate: frameRate, sampleAspectRatio: frame.sampleAspectRatio, scan: scan,
        isFullRange: frame.isFullRange, chromaLocation: frame.chromaLocation)
      y4m = writer
    default:
      break
    }
  }

  private func digestHeader(_ frame: borrowing Frame) -> String {
    let ratio = frame.sampleAspectRatio ?? Rational(0)
    return """
      #format: frame checksums
      #version: 2
      #hash: MD5
      #software: nalu
      #tb 0: \(frameRate.denominator)/\(frameRate.numerator)
      #media_type 0: video
      #codec_id 0: rawvideo
      #dimensions 0: \(frame.width)x\(frame.height)
      #sar 0: \(ratio.numerator)/\(ratio.denominator)
      #stream#, dts,        pts, duration,     size, hash

      """
  }

  /// A line as ffmpeg writes it: stream, dts, pts, duration, size, MD5, in columns.
  private func appendDigest(
    of frame: borrowing Frame, number: Int, to bytes: inout [UInt8]
  ) throws(Problem) {
    let digest: String
    do throws(CodecError) {
      digest = try frame.samplesMD5(crFirst: settings.pixelFormat?.crFirst == true)
    } catch {
      throw .conversionFailed
    }
    let columns = [
      "0", padded(number, to: 10), padded(number, to: 10), padded(1, to: 8),
      padded(frame.sampleBytes, to: 8), digest,
    ]
    bytes += Array(columns.joined(separator: ", ").utf8)
    bytes.append(UInt8(ascii: "\n"))
  }

  private func padded(_ number: Int, to width: Int) -> String {
    let digits = "\(number)"
    return String(repeating: " ", count: max(0, width - digits.utf8.count)) + digits
  }
}

extension Problem {
  /// libav refused a conversion for which nobody but us can be blamed.
  static var conversionFailed: Problem {
    Problem(.internal, "A frame could not be converted.")
  }
}
