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
  private var waiting = FirstInFirstOut<SoundFrame>()
  /// What muxers are told of the tracks, in order.
  let muxerTracks: [MuxerTrack]

  /// Packets of sound, and bytes of the container, in which the first frame of every track must be.
  private static let searchedPackets = 20_000
  private static let searchedBytes = 128 << 20

  /// Bytes of memory that the description of the tracks takes.
  var heldBytes: Int { demuxer.heldBytes }

  /// - Parameters:
  ///   - open: Opens the container anew.
  ///   - indices: The tracks that are wanted.
  ///   - origin: When the presentation begins, in seconds of the container.
  /// - Throws: When the container cannot be opened.
  init(
    _ open: () throws(Problem) -> Demuxer, tracks indices: [Int], origin: Double
  ) throws(Problem) {
    let found = try Self.search(try open(), indices)
    var tracks: [Int: SoundTrack] = [:]
    var muxerTracks: [MuxerTrack] = []
    for index in indices {
      guard let track = found[index] else { continue }
      muxerTracks.append(track.muxerTrack)
      tracks[index] = SoundTrack(track, number: muxerTracks.count)
    }
    var demuxer = try open()
    demuxer.select(Set(tracks.keys))
    self.demuxer = demuxer
    self.origin = origin
    self.tracks = tracks
    self.muxerTracks = muxerTracks
  }

  /// What has to be known of a track before it is written.
  struct Found: Sendable {
    var track: Track
    /// Of AAC that has its configuration in every frame.
    var header: ADTSHeader?

    /// Samples per second of AAC whose container has a coarser clock.
    var sampleRate: Int? {
      if let header { return header.sampleRate }
      guard track.kind == .aac, track.timeBase == Rational(1, 1000) else { return nil }
      // FLV says 44100 of all AAC, and Matroska may mean the rate that it is played at.
      return AudioSpecificConfig(track.extradata)?.sampleRate
    }

    var muxerTrack: MuxerTrack {
      guard let sampleRate else { return .copied(track) }
      return .aac(
        MuxerTrack.AAC(
          sampleRate: sampleRate, channels: header?.channels ?? track.channels,
          timeBase: Rational(1, sampleRate), configuration: header?.configuration ?? track.extradata
        ))
    }
  }

  private static func search(
    _ opened: consuming Demuxer, _ indices: [Int]
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
      if track.kind == .aac, track.extradata.isEmpty {
        guard let header = try? ADTSHeader(packet.bytes, at: 0) else { continue }
        found[index] = Found(track: track, header: header)
      } else {
        found[index] = Found(track: track, header: nil)
      }
    }
    return found
  }

  private static func next(_ demuxer: inout Demuxer) throws(Problem) -> Packet? {
    do throws(CodecError) {
      return try demuxer.next()
    } catch {
      // What was read so far counts; the video says that the container is damaged.
      return nil
    }
  }

  /// The next piece of sound of any track.
  mutating func next() throws(Problem) -> SoundFrame? {
    while true {
      if let frame = waiting.removeFirst() { return frame }
      guard let packet = try Self.next(&demuxer) else { return nil }
      tracks[packet.track]?.take(packet, origin: origin, into: &waiting)
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
  private let header: ADTSHeader?
  /// Frames follow each other without gaps as long as the container's clock, which is coarser than
  /// that of the sound, does not say otherwise.
  private let isContinuous: Bool
  /// When the next frame is decoded if it follows at once.
  private var next: Int?
  /// Of an ADTS frame that goes on in the next packet.
  private var rest: [UInt8] = []

  init(_ found: ContainerSound.Found, number: Int) {
    self.number = number
    header = found.header
    source = found.track.timeBase
    isContinuous = found.sampleRate != nil
    timeBase = found.sampleRate.map { Rational(1, $0) } ?? found.track.timeBase
  }

  mutating func take(
    _ packet: borrowing Packet, origin: Double, into frames: inout FirstInFirstOut<SoundFrame>
  ) {
    let time = packet.presentationTime.flatMap { units($0, origin: origin) }
    if let header {
      takeADTS(packet.bytes, time, header, into: &frames)
    } else if !packet.bytes.isEmpty {
      var bytes: [UInt8] = []
      bytes.append(copying: packet.bytes)
      let duration = isContinuous ? ADTSHeader.samples : min(packet.duration, 1 << 32)
      add(bytes, at: begin(time), max(1, duration), to: &frames)
    }
  }

  /// When a frame begins of which the container says `time`; never before the one before it ends.
  private func begin(_ time: Int?) -> Int {
    guard let time else { return next ?? 0 }
    guard let next else { return time }
    if isContinuous, time < next + ADTSHeader.samples / 2 { return next }
    return max(time, next)
  }

  /// Splits what a transport stream packs together.
  private mutating func takeADTS(
    _ bytes: Span<UInt8>, _ time: Int?, _ first: ADTSHeader,
    into frames: inout FirstInFirstOut<SoundFrame>
  ) {
    // A packet's time is that of the first frame that begins in it.
    var time = rest.isEmpty ? time : nil
    rest.append(copying: bytes)
    var position = 0
    while position + ADTSHeader.size <= rest.count {
      guard let header = try? ADTSHeader(rest.span, at: position), header.continues(first) else {
        position += 1
        continue
      }
      guard position + header.frameSize <= rest.count else { break }
      add(
        Array(rest[position + header.headerSize..<position + header.frameSize]), at: begin(time),
        ADTSHeader.samples, to: &frames)
      time = nil
      position += header.frameSize
    }
    rest.removeFirst(position)
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
