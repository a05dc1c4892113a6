internal import CFFmpeg

/// Changes the layout, the size or the colour coding of pictures, over libswscale.
///
/// Bicubic, with exact rounding and chroma interpolated to every sample. What depends on the
/// source is set up again only when the source changes.
package struct PixelConverter: ~Copyable {
  private var scaler: Scaler?
  private let flags: Int32

  package init() {
    self.init(flags: SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP)
  }

  /// With other `SWS_…` flags of libswscale.
  init(flags: Int32) {
    self.flags = flags
  }

  /// A new picture with the samples of `frame` in another form.
  ///
  /// - Parameters:
  ///   - frame: Any picture; its colour tags are honoured, see `ColorCoding`.
  ///   - format: The layout wanted.
  ///   - width: Luma samples wanted.
  ///   - height: Luma samples wanted.
  /// - Returns: The picture. RGB is full-range; everything else keeps the colour coding of `frame`.
  /// - Throws: `CodecError` when libswscale cannot do it or there is no memory.
  package mutating func convert(
    _ frame: borrowing Frame, to format: PixelFormat, width: Int, height: Int
  ) throws(CodecError) -> Frame {
    var coding = ColorCoding(of: frame)
    if format.isRGB { coding.isFullRange = true }
    // libswscale reads nv16 but does not write it.
    guard format == .nv16 else {
      return try convert(
        frame, to: format.libav, coding: coding, width: width, height: height)
    }
    if frame.format == .yuv422p, frame.width == width, frame.height == height {
      return try frame.chromaInterleaved(as: format)
    }
    return try convert(
      frame, to: AV_PIX_FMT_YUV422P, coding: coding, width: width, height: height
    ).chromaInterleaved(as: format)
  }

  /// The picture laid as `orientation` says, with its sample aspect ratio. Where a quarter turn has
  /// no layout for the chroma, it becomes 4:4:4.
  package mutating func turn(
    _ frame: consuming Frame, _ orientation: Orientation
  ) throws(CodecError) -> Frame {
    if orientation == .upright { return frame }
    let ratio = frame.sampleAspectRatio
    var picture = consume frame
    if orientation.swapsAxes, let format = picture.format, format.chroma == .yuv422,
      let full = PixelFormat(planar: .yuv444, bitDepth: format.bitDepth)
    {
      picture = try convert(picture, to: full, width: picture.width, height: picture.height)
    }
    var turned = try picture.turned(orientation)
    if orientation.swapsAxes {
      turned.setSampleAspectRatio(ratio.map { Rational($0.denominator, $0.numerator) })
    }
    return turned
  }

  mutating func convert(
    _ frame: borrowing Frame, to format: AVPixelFormat, coding: ColorCoding, width: Int, height: Int
  ) throws(CodecError) -> Frame {
    let source = frame.av.pointer
    let sourceFormat = AVPixelFormat(source.pointee.format).withoutRange
    // libswscale's exact way to packed RGB has no vectors: it takes six times as long as the one
    // to planes, which gives the same values.
    let passesPlanes =
      format == AV_PIX_FMT_RGB24 && flags & SWS_FULL_CHR_H_INT != 0 && sourceFormat.isPlanarYCbCr
    let scaledFormat = passesPlanes ? AV_PIX_FMT_GBRP : format
    let plan = Scaler.Plan(
      from: Scaler.Picture(
        format: sourceFormat,
        coding: ColorCoding(of: frame), width: source.pointee.width,
        height: source.pointee.height),
      to: Scaler.Picture(
        format: scaledFormat.withoutRange, coding: coding, width: Int32(clamping: width),
        height: Int32(clamping: height)),
      flags: flags)
    if scaler?.plan != plan {
      scaler = nil
      scaler = try Scaler(plan)
    }
    let result = try Frame()
    try check(av_frame_copy_props(result.av.pointer, source), "av_frame_copy_props")
    result.av.pointer.pointee.crop_left = 0
    result.av.pointer.pointee.crop_right = 0
    result.av.pointer.pointee.crop_top = 0
    result.av.pointer.pointee.crop_bottom = 0
    result.av.pointer.pointee.color_range = coding.isFullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
    try scaler?.scale(frame, into: result)
    result.av.pointer.pointee.format = scaledFormat.rawValue
    return passesPlanes ? try Self.packed(result) : result
  }

  /// A picture in GBRP as one in RGB24.
  private static func packed(_ picture: borrowing Frame) throws(CodecError) -> Frame {
    let source = picture.av.pointer
    let result = try Frame()
    let target = result.av.pointer
    try check(av_frame_copy_props(target, source), "av_frame_copy_props")
    target.pointee.format = AV_PIX_FMT_RGB24.rawValue
    target.pointee.width = source.pointee.width
    target.pointee.height = source.pointee.height
    try check(av_frame_get_buffer(target, 0), "av_frame_get_buffer")
    guard let green = source.plane(0), let blue = source.plane(1), let red = source.plane(2),
      let rgb = target.plane(0)
    else { return result }
    for row in 0..<Int(source.pointee.height) {
      let (r, g, b) = (
        red + row * source.stride(2), green + row * source.stride(0), blue + row * source.stride(1)
      )
      let output = rgb + row * target.stride(0)
      for column in 0..<Int(source.pointee.width) {
        output[3 &* column] = r[column]
        output[3 &* column &+ 1] = g[column]
        output[3 &* column &+ 2] = b[column]
      }
    }
    return result
  }
}

// SAFETY: a scaler may move between threads; the unique owner rules out concurrent use.
extension PixelConverter: @unchecked Sendable {}
