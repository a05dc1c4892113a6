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

  mutating func convert(
    _ frame: borrowing Frame, to format: AVPixelFormat, coding: ColorCoding, width: Int, height: Int
  ) throws(CodecError) -> Frame {
    let source = frame.av.pointer
    let plan = Scaler.Plan(
      from: Scaler.Picture(
        format: AVPixelFormat(source.pointee.format).withoutRange,
        coding: ColorCoding(of: frame), width: source.pointee.width,
        height: source.pointee.height),
      to: Scaler.Picture(
        format: format.withoutRange, coding: coding, width: Int32(clamping: width),
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
    result.av.pointer.pointee.format = format.rawValue
    return result
  }
}

// SAFETY: a scaler may move between threads; the unique owner rules out concurrent use.
extension PixelConverter: @unchecked Sendable {}
