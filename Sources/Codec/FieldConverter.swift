internal import CFFmpeg

/// Changes the layout of interlaced frames field by field, so that chroma which is resampled
/// vertically does not mix two moments.
struct FieldConverter: ~Copyable {
  private let format: AVPixelFormat
  private let flags: Int32
  private var top: Scaler?
  private var bottom: Scaler?

  init(to format: PixelFormat, flags: Int32) {
    self.format = format.libav
    self.flags = flags
  }

  /// A new frame with the samples of `frame`, whose height is a multiple of 4, in the format.
  mutating func convert(_ frame: borrowing Frame, coding: ColorCoding) throws(CodecError) -> Frame {
    let result = try Frame()
    let target = result.av.pointer
    target.pointee.format = format.rawValue
    target.pointee.width = frame.av.pointer.pointee.width
    target.pointee.height = frame.av.pointer.pointee.height
    try check(av_frame_get_buffer(target, 0), "av_frame_get_buffer")
    if top == nil { top = try scaler(for: frame, coding, chromaLine: 64) }
    if bottom == nil { bottom = try scaler(for: frame, coding, chromaLine: 192) }
    try top?.scale(try field(0, of: frame), into: try field(0, of: result))
    try bottom?.scale(try field(1, of: frame), into: try field(1, of: result))
    return result
  }

  private func scaler(
    for frame: borrowing Frame, _ coding: ColorCoding, chromaLine: Int64
  ) throws(CodecError) -> Scaler {
    let picture = frame.av.pointer.pointee
    func side(_ format: AVPixelFormat, _ coding: ColorCoding) -> Scaler.Picture {
      Scaler.Picture(
        format: format, coding: coding, width: picture.width, height: picture.height / 2,
        chromaLine: chromaLine)
    }
    return try Scaler(
      Scaler.Plan(
        from: side(AVPixelFormat(picture.format), ColorCoding(of: frame)), to: side(format, coding),
        flags: flags))
  }

  /// Every second line of `frame`, as a frame that shares its memory.
  private func field(_ first: Int, of frame: borrowing Frame) throws(CodecError) -> Frame {
    let view = try Frame()
    let picture = view.av.pointer
    try check(av_frame_ref(picture, frame.av.pointer), "av_frame_ref")
    picture.pointee.height /= 2
    for plane in 0..<4 {
      guard let start = picture.plane(plane) else { continue }
      let stride = picture.stride(plane)
      picture.setPlane(plane, data: start + first * stride, bytesPerRow: 2 * stride)
    }
    return view
  }
}
