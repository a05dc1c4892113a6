internal import Codec
internal import Container
internal import Platform

/// The sound of a container, read once more beside the video.
struct ContainerSound: ~Copyable, Sendable {
  private var demuxer: Demuxer
  /// When the presentation begins, in seconds of the container.
  private let origin: Double
  /// By the index in the container.
  private var tracks: [Int: SoundTrack] = [:]
  private let parts: SoundParts
  private var waiting = FirstInFirstOut<SoundFrame>()
  /// What muxers are told of the tracks, in order.
  let muxerTracks: [MuxerTrack]
  /// There is less sound than the container says, or some of it cannot be read; as far as it was read.
  private(set) var isDamaged = false

  /// Packets of sound, and bytes of the container, in which the first frame of every track must be.
  private static let searchedPackets = 20_000
  private static let searchedBytes = 128 << 20

  /// Bytes of memory that the description of the tracks takes.
  var heldBytes: Int { demuxer.heldBytes }

  /// - Parameters:
  ///   - open: Opens the container anew.
  ///   - format: What it is.
  ///   - indices: The tracks that are wanted.
  ///   - parts: What goes on with them.
  ///   - origin: When the presentation begins, in seconds of the container.
  /// - Throws: When the container cannot be opened.
  init(
    _ open: () throws(Problem) -> Demuxer, _ format: MediaFormat, tracks indices: [Int],
    _ parts: SoundParts, origin: Double
  ) throws(Problem) {
    let found = try Self.search(
      try open(), indices, isTransportStream: format == .mpegTS)
    var tracks: [Int: SoundTrack] = [:]
    var muxerTracks: [MuxerTrack] = []
    for index in indices {
      guard let track = found[index] else {
        isDamaged = true
        continue
      }
      muxerTracks.append(track.muxerTrack)
      tracks[index] = SoundTrack(track, number: muxerTracks.count)
    }
    var demuxer = try open()
    demuxer.select(Set(tracks.keys).union(parts.parts(of: Array(tracks.keys))))
    self.demuxer = demuxer
    self.parts = parts
    self.origin = origin
    self.tracks = tracks
    self.muxerTracks = muxerTracks
  }

  /// What has to be known of a track before it is written.
  struct Found: Sendable {
    var track: Track
    /// How its frames begin, where they say how long they are.
    var form: SoundFrameHeader.Form?
    var header: SoundFrameHeader?

    /// Samples per second, where frames follow each other by their number of samples; nil: the
    /// container's times are those of the frames.
    var sampleRate: Int? {
      if let header { return header.sampleRate }
      switch track.kind {
      case .aac:
        guard track.timeBase == Rational(1, 1000) else { return nil }
        // FLV says 44100 of all AAC, and Matroska may mean the rate that it is played at.
        return AudioSpecificConfig(track.extradata)?.sampleRate
      case .other("opus"): return SoundFrameHeader.opusRate
      default: return nil
      }
    }

    var muxerTrack: MuxerTrack {
      guard let sampleRate else { return .copied(track) }
      let timeBase = Rational(1, sampleRate)
      if track.kind == .aac {
        return .aac(
          MuxerTrack.AAC(
            sampleRate: sampleRate, channels: header?.channels ?? track.channels,
            timeBase: timeBase, configuration: header?.configuration ?? track.extradata))
      }
      let channels = header?.channels ?? 0
      return .sound(
        MuxerTrack.Sound(
          track, sampleRate: sampleRate, channels: channels > 0 ? channels : track.channels,
          frameSize: header?.samples ?? 0, timeBase: timeBase))
    }
  }

  private static func search(
    _ opened: consuming Demuxer, _ indices: [Int], isTransportStream: Bool
  ) throws(Problem) -> [Int: Found] {
    var demuxer = opened
    demuxer.select(Set(indices))
    demuxer.limitReading(to: searchedBytes)
    var found: [Int: Found] = [:]
    var packets = 0
    while packets < searchedPackets, indices.contains(where: { found[$0] == nil }) {
      packets += 1
      guard let packet = try next(&demuxer) else { break }
      let index = packet.track
      guard indices.contains(index), found[index] == nil, demuxer.tracks.indices.contains(index)
      else { continue }
      let track = demuxer.tracks[index]
      let form = track.frameForm(inTransportStream: isTransportStream)
      let header = form.flatMap { SoundFrameHeader($0, packet.bytes, at: 0) }
      // Frames cannot be told apart before the first that is whole.
      if form != nil, header == nil, isTransportStream || form == .adts { continue }
      found[index] = Found(track: track, form: header == nil ? nil : form, header: header)
    }
    return found
  }

  private static func next(_ demuxer: inout Demuxer) throws(Problem) -> Packet? {
    do throws(CodecError) {
      return try demuxer.next()
    } catch {
      // What was read so far counts.
      return nil
    }
  }

  /// The next packet, or nil; the sound may be over then, or damaged.
  private mutating func nextPacket() -> Packet? {
    do throws(CodecError) {
      let packet = try demuxer.next()
      if packet == nil, tracks.keys.contains(where: demuxer.damagedTracks.contains) {
        isDamaged = true
      }
      return packet
    } catch {
      isDamaged = true
      return nil
    }
  }

  /// The next piece of sound of any track.
  mutating func next() throws(Problem) -> SoundFrame? {
    while true {
      if let frame = waiting.removeFirst() { return frame }
      guard let packet = nextPacket() else { return nil }
      let track = parts.first[packet.track] ?? packet.track
      tracks[track]?.take(packet, origin: origin, into: &waiting)
    }
  }
}

/// A track of sound as its packets go by.
private struct SoundTrack: Sendable {
  /// Seconds per unit, in the container that is read.
  private let source: Rational
  /// Seconds per unit of what is given out.
  private let timeBase: Rational
  private let number: Int
  private let form: SoundFrameHeader.Form?
  private let header: SoundFrameHeader?
  private let isOpus: Bool
  /// Frames follow each other without gaps as long as the container's clock, which is coarser than
  /// that of the sound, does not say otherwise.
  private let isContinuous: Bool
  /// When the next frame is decoded if it follows at once.
  private var next: Int?
  /// A packet was not hidden.
  private var isHeard = false
  /// The last ones before that.
  private var lead: [Piece] = []
  /// As many as a decoder of AAC needs before it is right.
  private static let leadPackets = 2
  /// Of a frame that goes on in the next packet.
  private var rest: [UInt8] = []
  private var times = PacketTimes()
  /// The track that the last packet is of, and those that come no more.
  private var part: Int?
  private var finished: Set<Int> = []

  init(_ found: ContainerSound.Found, number: Int) {
    self.number = number
    form = found.form
    header = found.header
    isOpus = found.track.kind == .other("opus")
    source = found.track.timeBase
    isContinuous = found.sampleRate != nil
    timeBase = found.sampleRate.map { Rational(1, $0) } ?? found.track.timeBase
  }

  mutating func take(
    _ packet: borrowing Packet, origin: Double, into frames: inout FirstInFirstOut<SoundFrame>
  ) {
    if packet.track != part {
      // The end of a part may come behind the beginning of the next one.
      guard !finished.contains(packet.track) else { return }
      if let part { finished.insert(part) }
      part = packet.track
      rest = []
      times = PacketTimes()
    }
    // An edit list leaves it out.
    if packet.isHidden, isHeard { return }
    var bytes: [UInt8] = []
    bytes.append(copying: packet.bytes)
    let piece = Piece(
      bytes: bytes, time: packet.presentationTime.flatMap { units($0, origin: origin) },
      duration: packet.duration)
    // What precedes all that is heard gets the decoder going.
    if packet.isHidden {
      lead.append(piece)
      if lead.count > Self.leadPackets { lead.removeFirst() }
      return
    }
    isHeard = true
    for early in lead { take(early, into: &frames) }
    lead = []
    take(piece, into: &frames)
  }

  /// What a packet holds.
  private struct Piece {
    var bytes: [UInt8]
    var time: Int?
    var duration: Int
  }

  private mutating func take(_ piece: Piece, into frames: inout FirstInFirstOut<SoundFrame>) {
    if let form, let header {
      split(piece.bytes.span, piece.time, form, header, into: &frames)
    } else if !piece.bytes.isEmpty {
      let duration = duration(of: piece)
      add(piece.bytes, at: begin(piece.time, lasting: duration), max(1, duration), to: &frames)
    }
  }

  /// How long a whole packet lasts.
  private func duration(of piece: Piece) -> Int {
    guard isContinuous else { return min(piece.duration, 1 << 32) }
    guard isOpus else { return ADTSHeader.samples }
    return SoundFrameHeader.opusSamples(piece.bytes.span, at: 0) ?? SoundFrameHeader.opusRate / 50
  }

  /// When a frame begins of which the container says `time`; never before the one before it ends.
  private func begin(_ time: Int?, lasting duration: Int) -> Int {
    guard let time else { return next ?? 0 }
    guard let next else { return time }
    if isContinuous, time < next + duration / 2 { return next }
    return max(time, next)
  }

  /// Splits what may hold several frames, or a part of one.
  private mutating func split(
    _ bytes: Span<UInt8>, _ time: Int?, _ form: SoundFrameHeader.Form, _ first: SoundFrameHeader,
    into frames: inout FirstInFirstOut<SoundFrame>
  ) {
    times.add(time, at: rest.count)
    rest.append(copying: bytes)
    var position = 0
    while let header = nextHeader(form, first, &position) {
      guard position + header.frameSize <= rest.count else { break }
      var end = position + header.frameSize
      while let more = SoundFrameHeader(form, rest.span, at: end), more.isDependent,
        end + more.frameSize <= rest.count
      {
        end += more.frameSize
      }
      add(
        Array(rest[position + header.headerSize..<end]),
        at: begin(times.take(at: position), lasting: header.samples), header.samples, to: &frames)
      position = end
    }
    rest.removeFirst(position)
    times.remove(position)
  }

  /// The next header from `position` on, which is moved there; nil when more bytes are needed.
  private func nextHeader(
    _ form: SoundFrameHeader.Form, _ first: SoundFrameHeader, _ position: inout Int
  ) -> SoundFrameHeader? {
    while position + SoundFrameHeader.size <= rest.count {
      if let header = SoundFrameHeader(form, rest.span, at: position), header.continues(first) {
        return header
      }
      position += 1
    }
    return nil
  }

  private mutating func add(
    _ bytes: [UInt8], at time: Int, _ duration: Int, to frames: inout FirstInFirstOut<SoundFrame>
  ) {
    frames.append(
      SoundFrame(
        bytes: bytes,
        timing: SampleTiming(
          presentation: time, decoding: time, duration: duration, isKeyframe: true),
        track: number, seconds: Double(time) * timeBase.doubleValue))
    next = time + duration
  }

  /// A time of the container in units of what is given out; nil where that is absurd.
  private func units(_ time: Int, origin: Double) -> Int? {
    let units = (Double(time) * source.doubleValue - origin) / timeBase.doubleValue
    return units.magnitude < 1e15 ? Int(units.rounded()) : nil
  }
}

extension Track {
  /// How frames of sound begin that say themselves how long they are.
  fileprivate func frameForm(inTransportStream isTransportStream: Bool) -> SoundFrameHeader.Form? {
    switch kind {
    case .aac: extradata.isEmpty ? .adts : nil
    case .other("mp1"), .other("mp2"), .other("mp3"): .mpegAudio
    case .other("ac3"), .other("eac3"): .ac3
    case .other("opus"): isTransportStream ? .opusControl : nil
    case .h264, .other: nil
    }
  }
}
