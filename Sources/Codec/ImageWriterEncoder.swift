internal import CFFmpeg

/// libavcodec's PNG or JPEG encoder for images of one size and kind.
struct ImageEncoder: ~Copyable {
  /// What an encoder is opened for.
  struct Shape: Equatable {
    let format: AVPixelFormat
    let width: Int32
    let height: Int32
    let sampleAspectRatio: (Int32, Int32)

    init(_ frame: borrowing Frame) {
      let picture = frame.av.pointer.pointee
      format = AVPixelFormat(picture.format)
      width = picture.width
      height = picture.height
      sampleAspectRatio = (picture.sample_aspect_ratio.num, picture.sample_aspect_ratio.den)
    }

    static func == (a: Shape, b: Shape) -> Bool {
      a.format == b.format && a.width == b.width && a.height == b.height
        && a.sampleAspectRatio == b.sampleAspectRatio
    }
  }

  let shape: Shape
  private let context: Owned<AVCodecContext>
  private let packet: Owned<AVPacket>

  init(_ shape: Shape, _ settings: ImageWriter.Settings) throws(CodecError) {
    let isPNG = settings.fileFormat == .png
    guard let codec = avcodec_find_encoder(isPNG ? AV_CODEC_ID_PNG : AV_CODEC_ID_MJPEG) else {
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
    settable.pointee.sample_aspect_ratio = AVRational(
      num: shape.sampleAspectRatio.0, den: shape.sampleAspectRatio.1)
    settable.pointee.thread_count = Int32(clamping: max(1, settings.threads))
    settable.pointee.thread_type = FF_THREAD_FRAME
    if isPNG {
      // Half the time of the default level, for a few percent more bytes.
      settable.pointee.compression_level = 1
      try check(av_opt_set(settable.pointee.priv_data, "pred", "up", 0), "av_opt_set")
    } else {
      settable.pointee.color_range = AVCOL_RANGE_JPEG
      settable.pointee.flags |= AV_CODEC_FLAG_QSCALE
      settable.pointee.global_quality = 2 * FF_QP2LAMBDA
    }
    try check(avcodec_open2(context.pointer, codec, nil), "avcodec_open2")
    self.shape = shape
    self.context = context
    self.packet = packet
  }

  mutating func send(_ picture: borrowing Frame) throws(CodecError) {
    picture.av.pointer.pointee.quality = context.pointer.pointee.global_quality
    picture.av.pointer.pointee.pict_type = AV_PICTURE_TYPE_NONE
    try check(avcodec_send_frame(context.pointer, picture.av.pointer), "avcodec_send_frame")
  }

  mutating func finish() throws(CodecError) {
    try check(avcodec_send_frame(context.pointer, nil), "avcodec_send_frame")
  }

  mutating func receive() throws(CodecError) -> ImageWriter.Image? {
    let result = avcodec_receive_packet(context.pointer, packet.pointer)
    if result == nalu_error_again || result == nalu_error_end_of_stream { return nil }
    try check(result, "avcodec_receive_packet")
    defer { av_packet_unref(packet.pointer) }
    let bytes = UnsafeBufferPointer(
      start: packet.pointer.pointee.data, count: Int(packet.pointer.pointee.size))
    return ImageWriter.Image(number: Int(packet.pointer.pointee.pts), bytes: Array(bytes))
  }
}

// SAFETY: libav contexts may move between threads; the unique owner rules out concurrent use.
extension ImageEncoder: @unchecked Sendable {}
