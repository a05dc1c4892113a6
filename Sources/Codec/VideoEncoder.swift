internal import CFFmpeg

/// Raw frames in, access units out: libx264 behind libavcodec.
///
/// Send a frame, then receive until `.needsInput`; after `finish`, receive until `.finished`.
package struct VideoEncoder: ~Copyable {
  private let context: Owned<AVCodecContext>
  private let packet: Owned<AVPacket>
  private var input: EncoderInput
  private let settings: Settings
  private var colourSignal: ColourSignal?
  private var framesSent = 0
  private var packetsReceived = 0

  /// What `receive` found.
  package enum Received: Equatable, Sendable {
    /// One access unit was appended.
    case accessUnit(AccessUnit)
    /// The encoder wants another frame first.
    case needsInput
    /// All access units have been received.
    case finished
  }

  /// An access unit, apart from its bytes.
  package struct AccessUnit: Equatable, Sendable {
    /// Bytes appended.
    package var size: Int
    /// An IDR picture, or a recovery point of an open GOP or intra refresh.
    package var isKeyframe: Bool
    /// Position in output order, in frames, or the time that the frame was sent with.
    package var presentation: Int
    /// Position in decoding order, in the same units, shifted so that it is never above
    /// `presentation`.
    package var decoding: Int
  }

  /// Opens the encoder: allocates its pictures and starts its threads.
  package init(_ settings: Settings) throws(CodecError) {
    let log = LogTarget()
    guard let codec = avcodec_find_encoder_by_name("libx264") else {
      throw CodecError(function: "avcodec_find_encoder_by_name", code: -ENOSYS)
    }
    let context = try Owned(avcodec_alloc_context3(codec), "avcodec_alloc_context3") {
      avcodec_free_context($0)
      log.end()
    }
    context.pointer.pointee.opaque = UnsafeMutableRawPointer(log.pointer)
    let packet = try Owned(av_packet_alloc(), "av_packet_alloc") { av_packet_free($0) }
    let input = try EncoderInput(settings)
    try context.pointer.apply(settings, codedAs: input.codedFormat)
    try check(avcodec_open2(context.pointer, codec, nil), "avcodec_open2")
    if let sar = settings.sampleAspectRatio {
      // Opening forgets extreme ratios, and a difference would make the wrapper write a new SPS.
      context.pointer.pointee.sample_aspect_ratio = sar.libav
    }
    self.context = context
    self.packet = packet
    self.input = input
    self.settings = settings
    colourSignal = ColourSignal(settings.colour)
  }

  /// Takes the next frame in output order.
  ///
  /// - Parameters:
  ///   - frame: Of the size and pixel format of the settings.
  ///   - time: When it is shown, in units of the settings' time base; later than the frame before.
  ///   - forceKeyframe: Make it an IDR picture.
  /// - Throws: `CodecError` when the encoder fails, or was not drained before.
  package mutating func send(
    _ frame: consuming Frame, at time: Int? = nil, forceKeyframe: Bool = false
  ) throws(CodecError) {
    let ready = try input.convert(frame)
    let av = ready.av.pointer
    av.pointee.pts = Int64(time ?? framesSent)
    av.pointee.pict_type = forceKeyframe ? AV_PICTURE_TYPE_I : AV_PICTURE_TYPE_NONE
    if let order = settings.fieldOrder {
      av.pointee.interlaced_frame = 1
      av.pointee.top_field_first = order == .tff ? 1 : 0
    }
    try check(avcodec_send_frame(context.pointer, av), "avcodec_send_frame")
    framesSent += 1
  }

  /// Changes the bit rate from the next frame on: maximum rate and average become `bitrate`, the
  /// buffer one second of it. The encoder must have been opened with a buffer model.
  ///
  /// - Parameter bitrate: Bits per second; whole thousands count.
  package mutating func changeBitrate(to bitrate: Int) {
    context.pointer.pointee.bit_rate = Int64(bitrate)
    context.pointer.pointee.rc_max_rate = Int64(bitrate)
    context.pointer.pointee.rc_buffer_size = Int32(bitrate)
  }

  /// Says that no frame follows.
  package mutating func finish() throws(CodecError) {
    try check(avcodec_send_frame(context.pointer, nil), "avcodec_send_frame")
  }

  /// Appends the next access unit to `bytes`, if there is one.
  package mutating func receive(into bytes: inout [UInt8]) throws(CodecError) -> Received {
    let result = avcodec_receive_packet(context.pointer, packet.pointer)
    if result == nalu_error_again { return .needsInput }
    if result == nalu_error_end_of_stream { return .finished }
    try check(result, "avcodec_receive_packet")
    defer { av_packet_unref(packet.pointer) }
    let received = packet.pointer.pointee
    guard let data = received.data else {
      throw CodecError(function: "avcodec_receive_packet", code: nalu_error_invalid_data)
    }
    let before = bytes.count
    try append(UnsafeBufferPointer(start: data, count: Int(received.size)), to: &bytes)
    packetsReceived += 1
    return .accessUnit(
      AccessUnit(
        size: bytes.count - before, isKeyframe: received.flags & AV_PKT_FLAG_KEY != 0,
        presentation: Int(received.pts), decoding: Int(received.dts)))
  }

  /// Appends an access unit as the settings want its parameter sets.
  private mutating func append(
    _ accessUnit: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]
  ) throws(CodecError) {
    let dropsParameterSets = packetsReceived > 0 && !settings.repeatsParameterSets
    guard dropsParameterSets || colourSignal != nil else {
      bytes.append(contentsOf: accessUnit)
      return
    }
    let start = bytes.count
    try accessUnit.forEachNALUnit(settings.framing) { unit throws(CodecError) in
      if dropsParameterSets, unit.isParameterSet { return }
      guard unit.type == 7, let tagged = try colourSignal?.tag(Array(unit.payload)) else {
        // The first start code of an access unit has a zero_byte (H.264 §B.1.2).
        let lacksZeroByte = settings.framing == .annexB && unit.framed.dropFirst(2).first == 1
        if bytes.count == start, lacksZeroByte { bytes.append(0) }
        bytes.append(contentsOf: unit.framed)
        return
      }
      bytes.append(contentsOf: settings.framing.prefix(ofUnitOf: tagged.count))
      bytes.append(contentsOf: tagged)
    }
  }
}

// SAFETY: libav contexts may move between threads; the unique owner rules out concurrent use.
extension VideoEncoder: @unchecked Sendable {}
