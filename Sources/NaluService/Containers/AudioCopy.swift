internal import Codec
internal import Container
internal import Platform

/// The AAC track of a container, frame by frame, for another container.
struct AudioCopy: ~Copyable, Sendable {
  let configuration: AACConfiguration
  private var demuxer: Demuxer
  private let track: Int
  private let timeBase: Rational
  /// The part that is wanted, in seconds of the container's own times.
  private let range: Range<Double>
  /// What becomes 0, in samples.
  private let origin: Int
  private var isADTS: Bool
  private var pending: Packet?
  private var isOver = false
  /// Where the next frame should begin, in samples.
  private var expected: Int?
  /// Packets of other tracks that are passed over before there is one of the audio.
  private static let lookedPackets = 5000

  /// What was found.
  enum Search: ~Copyable {
    case found(AudioCopy)
    case none
    /// There is audio, but none that is copied: its name.
    case other(String)
  }

  /// Looks for the first AAC track.
  ///
  /// - Parameters:
  ///   - upload: The container.
  ///   - format: What it is.
  ///   - limits: Bound what it may ask for.
  ///   - range: The part that is wanted, in seconds of the container's own times.
  ///   - origin: What becomes 0, in seconds of the container's own times.
  /// - Returns: The audio, if there is any.
  /// - Throws: When there is no memory.
  static func search(
    _ upload: SpooledUpload, _ format: MediaFormat, _ limits: Limits, range: Range<Double>,
    origin: Double
  ) throws(Problem) -> Search {
    var demuxer = try Demuxer.open(upload, format, limits, parses: true)
    for _ in 0..<lookedPackets {
      if let aac = demuxer.tracks.firstIndex(where: { $0.kind == .aac }) {
        demuxer.select([aac])
      }
      guard let packet = demuxer.nextIfReadable() else { break }
      let track = packet.track
      guard demuxer.tracks.indices.contains(track), demuxer.tracks[track].kind == .aac else {
        continue
      }
      let extradata = demuxer.tracks[track].extradata
      let isADTS = extradata.isEmpty
      let configuration =
        isADTS
        ? AACConfiguration(adtsFrame: packet.bytes)
        : AACConfiguration(audioSpecificConfig: extradata)
      guard let configuration else { return .other("aac of an unknown kind") }
      demuxer.select([track])
      return .found(
        AudioCopy(
          configuration, demuxer, track: track, isADTS: isADTS, first: packet, range: range,
          origin: origin))
    }
    for track in demuxer.tracks where track.isAudio {
      if case .other(let name) = track.kind { return .other(name) }
    }
    return .none
  }

  private init(
    _ configuration: AACConfiguration, _ demuxer: consuming Demuxer, track: Int, isADTS: Bool,
    first: consuming Packet, range: Range<Double>, origin: Double
  ) {
    self.configuration = configuration
    timeBase = demuxer.tracks[track].timeBase
    self.demuxer = demuxer
    self.track = track
    self.isADTS = isADTS
    self.range = range
    self.origin = Int((origin * Double(configuration.sampleRate)).rounded())
    pending = first
  }

  /// As a muxer wants to know it.
  var muxerTrack: MuxerTrack {
    .aac(
      MuxerTrack.AAC(
        sampleRate: configuration.sampleRate, channels: configuration.channels,
        timeBase: Rational(1, configuration.sampleRate), configuration: configuration.bytes))
  }

  /// Hands out the frames that begin before `time`, in seconds from what becomes 0 on; all that are
  /// left when it is `nil`.
  mutating func copy(
    upTo time: Double?, _ put: (Span<UInt8>, SampleTiming) throws(Problem) -> Void
  ) throws(Problem) {
    let rate = Double(configuration.sampleRate)
    while !isOver {
      if pending == nil { pending = demuxer.nextIfReadable() }
      guard let packet = pending.take() else {
        isOver = true
        return
      }
      guard packet.track == track else { continue }
      let start = begin(of: packet)
      let seconds = Double(start) / rate
      if let time, seconds - Double(origin) / rate >= time {
        pending = packet
        return
      }
      let frames = max(
        1, Int((Double(packet.duration) * timeBase.doubleValue * rate / 1024).rounded()))
      expected = start + 1024 * min(frames, 64)
      if seconds < range.lowerBound { continue }
      guard seconds < range.upperBound else {
        isOver = true
        return
      }
      let header = isADTS ? AACConfiguration.adtsHeaderSize(packet.bytes) : 0
      let bytes = packet.bytes.extracting(header...)
      if bytes.isEmpty { continue }
      try put(
        bytes,
        SampleTiming(
          presentation: start - origin, decoding: start - origin,
          duration: 1024 * min(frames, 64), isKeyframe: true))
    }
  }

  /// When a frame begins, in samples: where the one before ends, unless the container is off by
  /// more than it can express.
  private func begin(of packet: borrowing Packet) -> Int {
    guard let time = packet.presentationTime else { return expected ?? 0 }
    let rate = Double(configuration.sampleRate)
    let exact = Double(time) * timeBase.doubleValue * rate
    let stated = abs(exact) < 1e15 ? Int(exact.rounded()) : 0
    guard let expected else { return stated }
    let tolerance = max(2, Int((1.5 * timeBase.doubleValue * rate).rounded(.up)))
    if abs(stated - expected) <= tolerance { return expected }
    return max(stated, expected)
  }
}

extension Demuxer {
  /// The next packet; `nil` also where the rest cannot be read.
  fileprivate mutating func nextIfReadable() -> Packet? {
    do throws(CodecError) { return try next() } catch { return nil }
  }
}
