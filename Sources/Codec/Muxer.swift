internal import CFFmpeg
internal import Platform

/// Samples in, a container out: libavformat with its bytes caught in memory.
///
/// Write samples, then `finish`; after each call take the bytes that came of it. Samples of one
/// track come in decoding order; those of two tracks roughly in step, since whatever runs ahead by
/// up to a second is held in memory.
package struct Muxer: ~Copyable {
  package enum Format: String, CaseIterable, Sendable {
    /// With its moov box at the end; `MovieIndex` is for putting it in front.
    case mp4
    /// Fragments of a group of pictures, or less where that is long.
    case fmp4
    case flv, mpegts
    case mkv

    /// Bytes that were put out are changed later, so that they must stay within reach.
    package var patchesOutput: Bool {
      switch self {
      case .mp4, .flv, .mkv: true
      case .fmp4, .mpegts: false
      }
    }
  }

  private let output: MuxerOutput
  private let context: Owned<AVFormatContext>
  private let packet: Owned<AVPacket>
  private let timeBases: [Rational]
  private let keepsSamples: Bool
  private var lastDecoding: [Int]
  /// The same in the time base of the container.
  private var lastWritten: [Int64?]
  private let isMP4: Bool

  /// Ticks between two samples of MP4, which has 32 bits for them; libavformat ends the process at
  /// more.
  private static let longestStep: Int64 = 0x7FFF_FFFF

  /// Writes the header of the container.
  ///
  /// - Parameters:
  ///   - format: What comes out.
  ///   - tracks: What it holds.
  ///   - keepsSamples: The output has the samples; else only what is around them, and `takeOutput`
  ///     leaves gaps for the samples in the order in which they were written. `mp4` only.
  /// - Throws: `CodecError` when the format cannot hold what the tracks are.
  package init(
    _ format: Format, tracks: [MuxerTrack], keepsSamples: Bool = true
  ) throws(CodecError) {
    LogTarget.install()
    let output = try MuxerOutput(
      isSeekable: format.patchesOutput, passesSamples: !keepsSamples)
    var allocated: UnsafeMutablePointer<AVFormatContext>?
    try check(
      avformat_alloc_output_context2(&allocated, nil, format.libav, nil),
      "avformat_alloc_output_context2")
    let context = try Owned(allocated, "avformat_alloc_output_context2") {
      avformat_free_context($0.pointee)
    }
    let packet = try Owned(av_packet_alloc(), "av_packet_alloc") { av_packet_free($0) }
    context.pointer.configure(output)
    for track in tracks { try context.pointer.add(track, to: format) }
    try context.pointer.writeHeader(format, tracks)
    if !keepsSamples { avio_flush(output.io.pointer) }
    self.output = output
    self.context = context
    self.packet = packet
    timeBases = tracks.map(\.timeBase)
    self.keepsSamples = keepsSamples
    lastDecoding = tracks.map { _ in Int.min }
    lastWritten = tracks.map { _ in nil }
    isMP4 = format == .mp4 || format == .fmp4
  }

  /// Writes the next sample of track number `track`.
  ///
  /// - Parameters:
  ///   - sample: Length-prefixed NAL units, Annex B for `mpegts`; or a frame of sound. Where samples
  ///     are not kept, H.264 counts by its size alone.
  ///   - timing: In the track's time base.
  ///   - track: Its place in what `init` got.
  /// - Throws: `CodecError` when the format cannot hold it, or times fall.
  package mutating func write(
    _ sample: Span<UInt8>, _ timing: SampleTiming, track: Int
  ) throws(CodecError) {
    guard timing.decoding > lastDecoding[track], timing.presentation >= timing.decoding,
      let size = Int32(exactly: sample.count)
    else { throw CodecError(function: "Muxer.write", code: -EINVAL) }
    lastDecoding[track] = timing.decoding
    // Whoever puts the samples in has to know their order.
    let isInOrder = timeBases.count == 1 || !keepsSamples
    let last = lastWritten[track]
    var written: Int64 = 0
    let result = sample.withUnsafeBytes { bytes -> Int32 in
      let av = packet.pointer
      // SAFETY: libavformat only reads the bytes, and copies what it keeps beyond the call.
      av.pointee.data = UnsafeMutableRawPointer(mutating: bytes.baseAddress)?
        .assumingMemoryBound(to: UInt8.self)
      av.pointee.size = size
      av.pointee.stream_index = Int32(track)
      av.pointee.flags = timing.isKeyframe ? AV_PKT_FLAG_KEY : 0
      av.pointee.pts = Int64(timing.presentation)
      av.pointee.dts = Int64(timing.decoding)
      av.pointee.duration = Int64(timing.duration)
      if let stream = context.pointer.pointee.streams[track] {
        av_packet_rescale_ts(av, timeBases[track].libav, stream.pointee.time_base)
      }
      output.passed = keepsSamples ? nil : UnsafePointer(av.pointee.data)
      defer {
        av_packet_unref(av)
        output.passed = nil
      }
      written = av.pointee.dts
      guard !isMP4 || Self.isShort(av.pointee, after: last) else { return -EINVAL }
      return isInOrder
        ? av_write_frame(context.pointer, av) : av_interleaved_write_frame(context.pointer, av)
    }
    try check(result, "av_write_frame")
    lastWritten[track] = written
  }

  private static func isShort(_ packet: AVPacket, after last: Int64?) -> Bool {
    let (step, overflows) = packet.dts.subtractingReportingOverflow(last ?? packet.dts)
    let (delay, isLong) = packet.pts.subtractingReportingOverflow(packet.dts)
    return !overflows && !isLong && step <= longestStep && delay <= longestStep
      && packet.duration <= longestStep
  }

  /// No sample follows: writes what ends the container.
  package mutating func finish() throws(CodecError) {
    try check(av_write_trailer(context.pointer), "av_write_trailer")
    avio_flush(output.io.pointer)
  }

  /// Hands over what was put out since the last time: bytes, and where in the container they go.
  /// Where `patchesOutput` is true, some go where others went before.
  package mutating func takeOutput<Failure: Error>(
    _ put: (Span<UInt8>, Int) throws(Failure) -> Void
  ) throws(Failure) {
    let pieces = output.pieces
    output.pieces = []
    for piece in pieces { try put(piece.bytes.span, piece.offset) }
  }
}

// SAFETY: libav contexts may move between threads; the unique owner rules out concurrent use.
extension Muxer: @unchecked Sendable {}

extension Muxer.Format {
  /// libavformat's name.
  fileprivate var libav: String {
    switch self {
    case .mp4, .fmp4: "mp4"
    case .flv: "flv"
    case .mpegts: "mpegts"
    case .mkv: "matroska"
    }
  }
}
