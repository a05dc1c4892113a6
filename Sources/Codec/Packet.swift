internal import CFFmpeg

/// A piece of a track, as a container holds it: an access unit, a frame of audio.
package struct Packet: ~Copyable {
  let av: Owned<AVPacket>

  /// An empty packet for libav to fill.
  init() throws(CodecError) {
    av = try Owned(av_packet_alloc(), "av_packet_alloc") { av_packet_free($0) }
  }

  /// What is known of a packet besides its content.
  package struct Description: Sendable {
    package var track: Int
    package var presentation: Int?
    package var decoding: Int?
    package var duration = 0
    package var isKeyframe = false
    package var isHidden = false
    /// The first byte of it in the container.
    package var offset: Int?

    package init(track: Int) { self.track = track }
  }

  /// A packet of `size` bytes that `fill` appends.
  ///
  /// - Throws: `CodecError` when there is no memory for it, or `fill` appends fewer.
  package static func make(
    _ description: Description, size: Int, _ fill: (inout OutputSpan<UInt8>) -> Void
  ) throws(CodecError) -> Packet {
    let packet = try Packet()
    let av = packet.av.pointer
    try check(av_new_packet(av, Int32(clamping: size)), "av_new_packet")
    let buffer = UnsafeMutableBufferPointer(start: av.pointee.data, count: Int(av.pointee.size))
    var output = OutputSpan(buffer: buffer, initializedCount: 0)
    fill(&output)
    guard output.finalize(for: buffer) == size else {
      throw CodecError(function: "read", code: nalu_error_invalid_data)
    }
    av.pointee.stream_index = Int32(clamping: description.track)
    av.pointee.pts = description.presentation.map(Int64.init) ?? nalu_no_pts
    av.pointee.dts = description.decoding.map(Int64.init) ?? nalu_no_pts
    av.pointee.duration = Int64(description.duration)
    av.pointee.pos = description.offset.map(Int64.init) ?? -1
    if description.isKeyframe { av.pointee.flags |= AV_PKT_FLAG_KEY }
    if description.isHidden { av.pointee.flags |= AV_PKT_FLAG_DISCARD }
    return packet
  }

  /// Index of the track that it belongs to.
  package var track: Int { Int(av.pointer.pointee.stream_index) }

  /// When it is shown, in units of the track's time base; `nil` where that is not said.
  package var presentationTime: Int? { Self.time(av.pointer.pointee.pts) }

  /// When it is decoded, in units of the track's time base; `nil` where that is not said.
  package var decodingTime: Int? { Self.time(av.pointer.pointee.dts) }

  /// How long it is shown, in units of the track's time base; 0 where that is not said.
  package var duration: Int { Int(av.pointer.pointee.duration) }

  /// It is needed for what follows, and not shown itself: an edit list begins behind it.
  package var isHidden: Bool { av.pointer.pointee.flags & AV_PKT_FLAG_DISCARD != 0 }

  /// The first byte of it in the container, where that is known.
  package var offset: Int? {
    let position = av.pointer.pointee.pos
    return position >= 0 ? Int(position) : nil
  }

  /// Its content: H.264 in Annex B form from a transport stream, else behind lengths.
  package var bytes: Span<UInt8> {
    @_lifetime(borrow self)
    get {
      let count = max(0, Int(av.pointer.pointee.size))
      let buffer = UnsafeBufferPointer(
        start: UnsafePointer(av.pointer.pointee.data),
        count: av.pointer.pointee.data == nil ? 0 : count)
      return _overrideLifetime(Span(_unsafeElements: buffer), borrowing: self)
    }
  }

  /// A new `extradata` from here on, which FLV and MP4 allow; `nil` too for one of an absurd size.
  package var newExtradata: [UInt8]? {
    var size = 0
    guard let data = av_packet_get_side_data(av.pointer, AV_PKT_DATA_NEW_EXTRADATA, &size),
      size <= Track.maxExtradata
    else { return nil }
    return Array(UnsafeBufferPointer(start: data, count: size))
  }

  private static func time(_ value: Int64) -> Int? { value == nalu_no_pts ? nil : Int(value) }
}

// SAFETY: a packet has one owner at a time, and libav's buffer references are atomic.
extension Packet: @unchecked Sendable {}
