internal import Codec
internal import Platform

/// A piece of sound on its way into a container.
struct SoundFrame: Sendable {
  var bytes: [UInt8]
  var timing: SampleTiming
  /// Its track in the container that is written, counted from 1.
  var track: Int
  /// When it is decoded.
  var seconds: Double
}

/// AAC in ADTS form that was sent along with the video: checked whole, then given out frame by frame.
struct SoundPart: ~Copyable, Sendable {
  private let spool: Spool
  private var position = 0
  private var start = 0
  private var frames = 0
  private var first: ADTSHeader?
  private var window: [UInt8] = []
  private var windowStart = 0

  private static let windowSize = 256 << 10
  /// Frames of one step of the check.
  private static let stepFrames = 1000

  init(_ spool: consuming Spool) {
    self.spool = spool
  }

  /// What a muxer is told of it, once it is checked.
  var track: MuxerTrack? {
    first.map {
      .aac(
        MuxerTrack.AAC(
          sampleRate: $0.sampleRate, channels: $0.channels, timeBase: Rational(1, $0.sampleRate),
          configuration: $0.configuration))
    }
  }

  /// Checks the next frames; true when all were, and `next` begins at the first.
  mutating func check() throws(Problem) -> Bool {
    if frames == 0 { try skipTag() }
    for _ in 0..<Self.stepFrames {
      guard let header = try header() else {
        guard frames > 0 else { throw problem("there is no frame") }
        frames = 0
        position = start
        return true
      }
      guard position + header.frameSize <= spool.count else {
        throw problem(ADTSError.truncated.words)
      }
      if let first, !header.continues(first) {
        throw problem("the format of the sound changes")
      }
      first = first ?? header
      frames += 1
      position += header.frameSize
    }
    return false
  }

  /// The next frame, without its header.
  mutating func next() throws(Problem) -> SoundFrame? {
    guard let header = try header() else { return nil }
    defer {
      position += header.frameSize
      frames += 1
    }
    try fill(header.frameSize)
    let from = position - windowStart
    let bytes = Array(window[from + header.headerSize..<from + header.frameSize])
    let time = frames * ADTSHeader.samples
    return SoundFrame(
      bytes: bytes,
      timing: SampleTiming(
        presentation: time, decoding: time, duration: ADTSHeader.samples, isKeyframe: true),
      track: 1, seconds: Double(time) / Double(header.sampleRate))
  }

  /// Many tools put an ID3v2 tag in front.
  private mutating func skipTag() throws(Problem) {
    try fill(10)
    guard window.count >= 10, window.starts(with: Array("ID3".utf8)) else { return }
    let size = window[6..<10].reduce(0) { $0 << 7 | Int($1 & 0x7F) }
    start = 10 + size
    position = start
  }

  /// The header at `position`; nil at the end.
  private mutating func header() throws(Problem) -> ADTSHeader? {
    guard position < spool.count else { return nil }
    try fill(ADTSHeader.size)
    do throws(ADTSError) {
      return try ADTSHeader(window.span, at: position - windowStart)
    } catch {
      throw problem(error.words)
    }
  }

  /// Makes the window hold `count` bytes from `position` on, as far as there are so many.
  private mutating func fill(_ count: Int) throws(Problem) {
    let end = min(position + count, spool.count)
    guard position < windowStart || end > windowStart + window.count else { return }
    windowStart = position
    let offset = position
    let size = min(Self.windowSize, spool.count - position)
    window = try [UInt8](capacity: max(0, size)) {
      (output: inout OutputSpan<UInt8>) throws(Problem) in
      try spool.read(at: offset, into: &output)
    }
  }

  private func problem(_ words: String) -> Problem {
    Problem(
      .unrecognisedInput, "The part audio is not AAC in ADTS form: at byte \(position) \(words).",
      members: [.init("part", "audio"), .init("offset", position)])
  }
}
