internal import CFFmpeg

/// Brings frames into a layout that libx264 takes: nothing to do for most, one conversion for the
/// rest.
struct EncoderInput: ~Copyable {
  /// What libx264 gets.
  let codedFormat: PixelFormat
  private let settings: VideoEncoder.Settings
  private let route: Route
  /// Bicubic as in ffmpeg's scale filter. Exact rounding also keeps libswscale from a shortcut
  /// for `bgr24` that would give it other colours than `rgb24`.
  private static let flags = SWS_BICUBIC | SWS_ACCURATE_RND
  private var converter = PixelConverter(flags: flags)
  private var fieldConverter: FieldConverter
  /// A picture of no colour, whose chroma planes every frame shares.
  private var colourless: Frame?

  private enum Route {
    case asItIs
    /// Luma as it is, chroma in the middle.
    case addChroma
    case convert
    case convertFields
  }

  init(_ settings: VideoEncoder.Settings) throws(CodecError) {
    let format = settings.pixelFormat
    if format.isTakenByX264, format.chroma == settings.chroma {
      codedFormat = format
      route = .asItIs
    } else {
      guard let planar = PixelFormat(planar: settings.chroma, bitDepth: settings.bitDepth),
        planar.isTakenByX264
      else { throw CodecError(function: "EncoderInput", code: -EINVAL) }
      codedFormat = planar
      // libswscale takes gray for full-range and would stretch it.
      let resamplesLines = format.chroma.halvesHeight != settings.chroma.halvesHeight
      let isByField = settings.fieldOrder != nil && resamplesLines && settings.height % 4 == 0
      route =
        format.chroma == .monochrome ? .addChroma : isByField ? .convertFields : .convert
    }
    fieldConverter = FieldConverter(to: codedFormat, flags: Self.flags)
    self.settings = settings
  }

  /// The same picture as libx264 wants it.
  mutating func convert(_ frame: consuming Frame) throws(CodecError) -> Frame {
    switch route {
    case .asItIs: return frame
    case .addChroma: return try addChroma(to: frame)
    case .convert, .convertFields:
      // libswscale does not know nv16.
      let known = settings.pixelFormat == .nv16 ? try splitChroma(of: frame) : frame
      if route == .convertFields {
        return try fieldConverter.convert(known, coding: coding(of: known))
      }
      return try converter.convert(
        known, to: codedFormat.libav, coding: coding(of: known), width: settings.width,
        height: settings.height)
    }
  }

  /// RGB becomes what the VUI says; YUV keeps its colours.
  private func coding(of frame: borrowing Frame) -> ColorCoding {
    guard settings.pixelFormat.isRGB, let matrix = settings.colour.matrix else {
      return ColorCoding(of: frame)
    }
    return ColorCoding(matrix: matrix.code, isFullRange: settings.colour.range == .pc)
  }

  /// `nv16` with its chroma in planes of their own.
  private func splitChroma(of frame: consuming Frame) throws(CodecError) -> Frame {
    let width = (settings.width + 1) / 2
    let size = width * settings.height
    let picture = frame.av.pointer
    guard let pairs = picture.plane(1), let buffer = av_buffer_alloc(2 * size),
      let cb = buffer.pointee.data
    else { throw CodecError(function: "av_buffer_alloc", code: -ENOMEM) }
    let cr = cb + size
    for index in 0..<size {
      cb[index] = pairs[2 * index]
      cr[index] = pairs[2 * index + 1]
    }
    picture.pointee.buf.1 = buffer
    picture.setPlane(1, data: cb, bytesPerRow: width)
    picture.setPlane(2, data: cr, bytesPerRow: width)
    picture.pointee.format = PixelFormat.yuv422p.libav.rawValue
    return frame
  }

  private mutating func addChroma(to frame: consuming Frame) throws(CodecError) -> Frame {
    if colourless == nil { colourless = try makeColourless() }
    guard let chroma = colourless?.av.pointer else { return frame }
    let target = frame.av.pointer
    target.pointee.buf.1 = av_buffer_ref(chroma.pointee.buf.0)
    if target.pointee.buf.1 == nil { throw CodecError(function: "av_buffer_ref", code: -ENOMEM) }
    for plane in 1...2 {
      target.setPlane(plane, data: chroma.plane(plane), bytesPerRow: chroma.stride(plane))
    }
    target.pointee.format = codedFormat.libav.rawValue
    return frame
  }

  private func makeColourless() throws(CodecError) -> Frame {
    let size = codedFormat.bytesPerFrame(width: settings.width, height: settings.height)
    guard let buffer = av_buffer_alloc(size) else {
      throw CodecError(function: "av_buffer_alloc", code: -ENOMEM)
    }
    let middle = UInt16(1) << (codedFormat.bitDepth - 1)
    if codedFormat.bytesPerSample == 1 {
      buffer.pointee.data.update(repeating: UInt8(middle), count: size)
    } else {
      UnsafeMutableRawPointer(buffer.pointee.data)
        .bindMemory(to: UInt16.self, capacity: size / 2)
        .update(repeating: middle.littleEndian, count: size / 2)
    }
    let frame = try Frame()
    frame.av.pointer.pointee.buf.0 = buffer
    let planes = codedFormat.planes(width: settings.width, height: settings.height)
    for (index, plane) in planes.enumerated() {
      frame.av.pointer.setPlane(
        index, data: buffer.pointee.data + plane.offset, bytesPerRow: plane.bytesPerRow)
    }
    return frame
  }
}
