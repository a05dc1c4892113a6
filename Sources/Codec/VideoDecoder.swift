internal import CFFmpeg

/// Turns H.264 access units into pictures, in output order, over libavcodec's decoder.
///
/// Send access units until `send` answers `false` or `receive` answers `nil`, and receive until it
/// does; after `finish`, receive until `isFinished`. Each call does the work of about one picture.
package struct VideoDecoder: ~Copyable {
  package struct Settings: Equatable, Sendable {
    /// Pictures decoded at once. The result is the same for any number as long as nothing is
    /// damaged; what several threads make of damage differs from run to run.
    package var threads = 1
    /// Pictures that may have to be held back until output order is certain. `nil` when unknown:
    /// the most that the level allows (C.4.5.3) are.
    package var reorderDepth: Int?
    /// Luma samples of a coded picture at most.
    package var maxPixels = 8192 * 4320
    /// Crop as the SPS says; else pictures have their coded size.
    package var appliesCropping = true
    /// Give out pictures too that precede the first IDR picture or completed recovery point. Without
    /// it, libavcodec also keeps back what follows a recovery point closely when the end comes.
    package var showsUnrecovered = false

    package init() {}
  }

  private let log: LogTarget
  private let context: Owned<AVCodecContext>
  private let packet: Owned<AVPacket>
  /// After `finish`, the last picture has been received.
  package private(set) var isFinished = false

  package init(_ settings: Settings) throws(CodecError) {
    let log = LogTarget()
    guard let codec = avcodec_find_decoder(AV_CODEC_ID_H264) else {
      throw CodecError(function: "avcodec_find_decoder", code: -ENOSYS)
    }
    let context = try Owned(avcodec_alloc_context3(codec), "avcodec_alloc_context3") {
      avcodec_free_context($0)
      log.end()
    }
    context.pointer.pointee.opaque = UnsafeMutableRawPointer(log.pointer)
    let packet = try Owned(av_packet_alloc(), "av_packet_alloc") { av_packet_free($0) }
    context.pointer.pointee.apply(settings)
    try check(avcodec_open2(context.pointer, codec, nil), "avcodec_open2")
    self.log = log
    self.context = context
    self.packet = packet
  }

  /// Hands over one access unit in Annex B form: all NAL units of a frame, or of both its fields.
  ///
  /// - Parameters:
  ///   - accessUnit: Its bytes; they are copied.
  ///   - number: Comes back with the picture, as `Frame.number`.
  /// - Returns: `false` when a picture must be received before this access unit can be taken.
  /// - Throws: `CodecError`; when `isDamagedData`, the access unit counts as taken and decoding
  ///   may go on.
  package mutating func send(
    _ accessUnit: Span<UInt8>, number: Int
  ) throws(CodecError) -> Bool {
    guard let size = Int32(exactly: accessUnit.count), size > 0 else {
      throw CodecError(function: "av_new_packet", code: -EINVAL)
    }
    // libavcodec reads past the end: av_new_packet adds the zeroed padding that this takes.
    try check(av_new_packet(packet.pointer, size), "av_new_packet")
    defer { av_packet_unref(packet.pointer) }
    accessUnit.withUnsafeBytes { bytes in
      UnsafeMutableRawBufferPointer(start: packet.pointer.pointee.data, count: bytes.count)
        .copyMemory(from: bytes)
    }
    packet.pointer.pointee.pts = Int64(number)
    let result = avcodec_send_packet(context.pointer, packet.pointer)
    if result == nalu_error_again { return false }
    try check(result, "avcodec_send_packet")
    return true
  }

  /// No access unit follows: the pictures that are still held back come out.
  package mutating func finish() throws(CodecError) {
    let result = avcodec_send_packet(context.pointer, nil)
    if result == nalu_error_end_of_stream { return }
    try check(result, "avcodec_send_packet")
  }

  /// The next picture in output order; `nil` when there is none yet, or none any more.
  ///
  /// - Throws: `CodecError`; when `isDamagedData`, a picture was lost and decoding may go on.
  package mutating func receive() throws(CodecError) -> Frame? {
    let frame = try Frame()
    let result = avcodec_receive_frame(context.pointer, frame.av.pointer)
    if result == nalu_error_again { return nil }
    if result == nalu_error_end_of_stream {
      isFinished = true
      return nil
    }
    try check(result, "avcodec_receive_frame")
    return frame
  }

  /// Something was wrong with what was sent: seen at the latest when the first picture comes out
  /// that is not as it should be. The only such sign when there are several threads.
  package var hasComplaints: Bool { log.hasComplaints }

  /// Forgets all pictures; what is sent next must start like a stream.
  package mutating func reset() {
    avcodec_flush_buffers(context.pointer)
    isFinished = false
  }
}

// SAFETY: libav contexts may move between threads; the unique owner rules out concurrent use.
extension VideoDecoder: @unchecked Sendable {}

extension CodecError {
  /// The bitstream is at fault, and what follows may be fine.
  package var isDamagedData: Bool { code == nalu_error_invalid_data }
}

extension AVCodecContext {
  fileprivate mutating func apply(_ settings: VideoDecoder.Settings) {
    thread_count = Int32(clamping: max(1, settings.threads))
    // With slice threads libavcodec conceals no damage.
    thread_type = FF_THREAD_FRAME
    max_pixels = Int64(settings.maxPixels)
    // Without the flag libavcodec keeps cropped columns at the left for the sake of alignment.
    flags |= AV_CODEC_FLAG_UNALIGNED
    apply_cropping = settings.appliesCropping ? 1 : 0
    error_concealment = FF_EC_GUESS_MVS | FF_EC_DEBLOCK
    if settings.showsUnrecovered {
      flags |= Int32(bitPattern: UInt32(AV_CODEC_FLAG_OUTPUT_CORRUPT))
    }
    if let depth = settings.reorderDepth {
      has_b_frames = Int32(clamping: depth)
    } else {
      strict_std_compliance = FF_COMPLIANCE_STRICT
    }
  }
}
