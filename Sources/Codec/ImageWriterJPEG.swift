internal import CFFmpeg

/// libavcodec's JPEG encoder for images of one size and layout.
struct JPEGEncoder: ~Copyable {
  /// What an encoder is opened for.
  struct Shape: Equatable {
    let format: AVPixelFormat
    let width: Int32
    let height: Int32
    let sampleAspectRatio: Rational?

    init(_ frame: borrowing Frame) {
      let picture = frame.av.pointer.pointee
      format = AVPixelFormat(picture.format)
      width = picture.width
      height = picture.height
      sampleAspectRatio = frame.sampleAspectRatio
    }
  }

  let shape: Shape
  private let context: Owned<AVCodecContext>
  private let packet: Owned<AVPacket>

  init(_ shape: Shape) throws(CodecError) {
    guard let codec = avcodec_find_encoder(AV_CODEC_ID_MJPEG) else {
      throw CodecError(function: "avcodec_find_encoder", code: -ENOSYS)
    }
    let context = try Owned(avcodec_alloc_context3(codec), "avcodec_alloc_context3") {
      avcodec_free_context($0)
    }
    let packet = try Owned(av_packet_alloc(), "av_packet_alloc") { av_packet_free($0) }
    let settable = context.pointer
    settable.pointee.pix_fmt = shape.format
    settable.pointee.width = shape.width
    settable.pointee.height = shape.height
    settable.pointee.time_base = AVRational(num: 1, den: 1)
    if let ratio = shape.sampleAspectRatio { settable.pointee.sample_aspect_ratio = ratio.libav }
    settable.pointee.thread_count = 1
    settable.pointee.color_range = AVCOL_RANGE_JPEG
    // Bit-exact files do not name the version of the library in a comment.
    settable.pointee.flags |= AV_CODEC_FLAG_QSCALE | AV_CODEC_FLAG_BITEXACT
    settable.pointee.global_quality = 2 * FF_QP2LAMBDA
    try check(avcodec_open2(context.pointer, codec, nil), "avcodec_open2")
    self.shape = shape
    self.context = context
    self.packet = packet
  }

  /// The file for a picture of the shape.
  mutating func encode(_ picture: borrowing Frame) throws(CodecError) -> [UInt8] {
    picture.av.pointer.pointee.quality = context.pointer.pointee.global_quality
    picture.av.pointer.pointee.pict_type = AV_PICTURE_TYPE_NONE
    picture.av.pointer.pointee.pts = nalu_no_pts
    try check(avcodec_send_frame(context.pointer, picture.av.pointer), "avcodec_send_frame")
    try check(
      avcodec_receive_packet(context.pointer, packet.pointer), "avcodec_receive_packet")
    defer { av_packet_unref(packet.pointer) }
    let bytes = UnsafeBufferPointer(
      start: packet.pointer.pointee.data, count: Int(packet.pointer.pointee.size))
    return Array(bytes)
  }
}

// SAFETY: libav contexts may move between threads; the unique owner rules out concurrent use.
extension JPEGEncoder: @unchecked Sendable {}
