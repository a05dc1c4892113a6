internal import CFFmpeg
internal import Platform

/// Where a demuxer reads from: bytes that are all there and do not change.
package protocol DemuxerSource: AnyObject, Sendable {
  var count: Int { get }
  /// Fills the free room of `output` from `offset` on as far as there are bytes; false: they cannot
  /// be read.
  func read(at offset: Int, into output: inout OutputSpan<UInt8>) -> Bool
}

/// Takes a container apart, over libavformat. It opens no decoder and no file, and reads nothing
/// but its source.
package struct Demuxer: ~Copyable {
  package enum Format: String, CaseIterable, Sendable {
    /// MP4 and QuickTime, fragmented or not.
    case mov
    case flv
    case mpegts
    case matroska
  }

  package struct Settings: Equatable, Sendable {
    /// Tracks that a container may have.
    package var maxTracks = 100
    /// Bytes that may be read in all, for each byte of the source: what jumps to and fro is no
    /// media.
    package var maxReadFactor = 8
    /// Bytes that a container may have beside its packets. libavformat keeps them.
    package var maxHeaderBytes = 64 << 20
    /// The movie is described in fragments, which are read one after the other.
    package var isFragmented = false

    package init() {}
  }

  private let reader: DemuxerReader
  private let context: Owned<AVFormatContext>
  private let format: Format
  /// Bytes of memory that what stands before the first packet takes.
  package let heldBytes: Int
  private var known: [Track]
  private var wanted: Set<Int>?
  /// Packets of each track so far.
  private var delivered: [Int: Int] = [:]
  /// Tracks that have less than the container says: a packet was cut, or samples are not there.
  package var damagedTracks: Set<Int> { cutTracks.union(missingTracks) }
  private var cutTracks: Set<Int> = []
  /// Bytes of packets that may still come: samples that lie over each other come out of a buffer, and
  /// are not read again.
  private var payloadBudget: Int
  private var missingTracks: Set<Int> = []

  /// Opens the container: reads what comes before the first packet.
  ///
  /// - Parameters:
  ///   - source: All bytes of it.
  ///   - format: What it is.
  ///   - settings: Bounds.
  /// - Throws: `CodecError`; `isDamagedData` when the container makes no sense.
  package init(
    _ source: any DemuxerSource, format: Format, _ settings: Settings = Settings()
  ) throws(CodecError) {
    LogTarget.install()
    guard let input = av_find_input_format(format.rawValue) else {
      throw CodecError(function: "av_find_input_format", code: -ENOSYS)
    }
    let reader = try DemuxerReader(source, maxReadFactor: settings.maxReadFactor)
    guard let allocated = avformat_alloc_context() else {
      throw CodecError(function: "avformat_alloc_context", code: -ENOMEM)
    }
    allocated.pointee.pb = reader.io
    allocated.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
    // Without indexes fragments are read one after the other; but then a movie without fragments would
    // end at the first sample of any track that lies behind the file's end.
    if format != .mov || settings.isFragmented { allocated.pointee.flags |= AVFMT_FLAG_IGNIDX }
    // Codecs are not looked into, and no times are made up.
    allocated.pointee.flags |= AVFMT_FLAG_NOPARSE | AVFMT_FLAG_NOFILLIN
    allocated.pointee.max_streams = Int32(clamping: settings.maxTracks)
    allocated.pointee.io_open = refuseToOpen
    // Frees the context when it fails.
    var opened: UnsafeMutablePointer<AVFormatContext>? = allocated
    // Where boxes follow each other at the top, a buffer is read of each.
    let most = (format == .mov ? 4 : 1) * settings.maxHeaderBytes + (8 << 20)
    reader.allowance = most
    let result = avformat_open_input(&opened, nil, input, nil)
    guard result >= 0 else {
      throw CodecError(
        function: "avformat_open_input", code: reader.allowance > 0 ? result : CodecError.tooLarge)
    }
    let context = try Owned(opened, "avformat_open_input") { context in
      avformat_close_input(context)
      reader.end()
    }
    guard reader.allowance > 0 else {
      throw CodecError(function: "avformat_open_input", code: CodecError.tooLarge)
    }
    let read = most - reader.allowance
    reader.allowance = .max
    // libavformat's own, and what it hands on.
    let held = format == .mov || format == .matroska ? 2 * read : 0
    let tracks = try Self.tracks(of: context.pointer, from: 0)
    heldBytes = held
    let (twice, overflows) = source.count.multipliedReportingOverflow(by: 2)
    payloadBudget = overflows ? .max : max(1 << 20, twice)
    known = tracks
    self.context = context
    self.reader = reader
    self.format = format
  }

  /// The tracks found so far; an index into it is `Packet.track`. FLV and transport streams may
  /// bring further ones with any packet.
  package var tracks: [Track] { known }

  /// How long the track of that index is, as far as the container has been read, in units of its time
  /// base; `nil` where that is not said.
  package func duration(of track: Int) -> Int? {
    guard known.indices.contains(track), let stream = context.pointer.pointee.streams[track],
      stream.pointee.duration != nalu_no_pts, stream.pointee.duration > 0
    else { return nil }
    return Int(stream.pointee.duration)
  }

  /// Gives out packets of these tracks only, from now on.
  package mutating func select(_ tracks: Set<Int>) {
    wanted = tracks
    applySelection()
  }

  /// Reads no more than so many bytes from now on; what follows counts as unreadable.
  package func limitReading(to bytes: Int) { reader.allowance = bytes }

  /// The first track of H.264: of the first program that has one, where there are programs.
  package var firstVideo: Int? {
    let source = context.pointer.pointee
    for number in 0..<Int(source.nb_programs) {
      guard let program = source.programs[number] else { break }
      for place in 0..<Int(program.pointee.nb_stream_indexes) {
        let index = Int(program.pointee.stream_index[place])
        if known.indices.contains(index), known[index].kind == .h264 { return index }
      }
    }
    return known.firstIndex { $0.kind == .h264 }
  }

  /// The next packet of any track in the order of the container; `nil` at its end.
  ///
  /// It is as the container has it: that of a transport stream may hold several frames, or a part of
  /// one, and Matroska has no decoding times.
  ///
  /// - Throws: `CodecError` when the rest cannot be read; `isDamagedData` when it is at fault.
  package mutating func next() throws(CodecError) -> Packet? {
    let packet = try Packet()
    while true {
      let result = av_read_frame(context.pointer, packet.av.pointer)
      if result == nalu_error_end_of_stream {
        noteMissing()
        return nil
      }
      if result == nalu_error_again { continue }
      try check(result, "av_read_frame")
      try noteTracks()
      try noteCodec(of: packet.track)
      if packet.av.pointer.pointee.flags & AV_PKT_FLAG_CORRUPT != 0 {
        cutTracks.insert(packet.track)
      }
      payloadBudget -= Int(packet.av.pointer.pointee.size)
      guard payloadBudget >= 0 else {
        payloadBudget = 0
        throw CodecError(function: "av_read_frame", code: nalu_error_invalid_data)
      }
      delivered[packet.track, default: 0] += 1
      if wanted?.contains(packet.track) ?? true { return packet }
      av_packet_unref(packet.av.pointer)
    }
  }

  /// The index of an MP4 file knows how many samples there are.
  private mutating func noteMissing() {
    guard format == .mov else { return }
    for index in known.indices where wanted?.contains(index) ?? true {
      let count = avformat_index_get_entries_count(context.pointer.pointee.streams[index])
      if delivered[index, default: 0] < count {
        missingTracks.insert(index)
      } else {
        missingTracks.remove(index)
      }
    }
  }

  private mutating func noteTracks() throws(CodecError) {
    let count = Int(context.pointer.pointee.nb_streams)
    guard count > known.count else { return }
    known += try Self.tracks(of: context.pointer, from: known.count)
    applySelection()
  }

  /// What a stream of a transport stream is may only show in its packets.
  private mutating func noteCodec(of index: Int) throws(CodecError) {
    guard known.indices.contains(index), known[index].isUnknown,
      let stream = context.pointer.pointee.streams[index],
      stream.pointee.codecpar.pointee.codec_id != known[index].parameters.pointer.pointee.codec_id
    else { return }
    known[index] = try Track(stream)
  }

  private static func tracks(
    of context: UnsafeMutablePointer<AVFormatContext>, from first: Int
  ) throws(CodecError) -> [Track] {
    var tracks: [Track] = []
    for index in first..<max(first, Int(context.pointee.nb_streams)) {
      guard let stream = context.pointee.streams[index] else { break }
      tracks.append(try Track(stream))
    }
    return tracks
  }

  private func applySelection() {
    guard let wanted else { return }
    for index in known.indices {
      context.pointer.pointee.streams[index]?.pointee.discard =
        wanted.contains(index) ? AVDISCARD_DEFAULT : AVDISCARD_ALL
    }
  }
}

// SAFETY: libav contexts may move between threads; the unique owner rules out concurrent use.
extension Demuxer: @unchecked Sendable {}

/// libavformat reads no other file, whatever a container refers to.
private let refuseToOpen:
  @convention(c) (
    UnsafeMutablePointer<AVFormatContext>?,
    UnsafeMutablePointer<UnsafeMutablePointer<AVIOContext>?>?, UnsafePointer<CChar>?, Int32,
    UnsafeMutablePointer<OpaquePointer?>?
  ) -> Int32 = { _, _, _, _, _ in -EACCES }
