internal import Codec
package import Platform

/// Raw frames in, an H.264 stream out, bare or in a container.
///
/// The encoder is opened when the first frame is complete; each step takes one frame, fetches one
/// access unit of the flush, or hands out a piece of a file that had to be complete first.
package struct EncodeOperation: Operation, ~Copyable {
  private let settings: EncodeSettings
  private let limits: Limits
  private let spoolDirectory: SpoolDirectory
  private let contentLength: Int?
  private var reader: RawFrameReader
  /// What the encoder is opened with; `nil` until a Y4M header has been read.
  private var opening: VideoEncoder.Settings?
  private var session: EncodeSession?
  /// The first frame behind a Y4M header, until there is a codec for it.
  private var firstFrame: RawFrameReader.RawFrame?
  private var phase = Phase.reading

  private enum Phase {
    case reading, ended, flushing, delivering, finished
  }

  /// Checks the settings, as far as that is possible before a Y4M header.
  ///
  /// - Parameters:
  ///   - settings: What was asked for.
  ///   - limits: What is allowed.
  ///   - spoolDirectory: Where a container waits that must be complete before it is sent.
  ///   - contentLength: Bytes of media to come, where that is known.
  /// - Throws: What is wrong with the settings.
  package init(
    _ settings: EncodeSettings, limits: Limits, spoolDirectory: SpoolDirectory,
    contentLength: Int? = nil
  ) throws(Problem) {
    try settings.checkWithoutVideo()
    let video = settings.rawVideo()
    if let video { opening = try settings.encoderSettings(for: video, limits: limits) }
    self.settings = settings
    self.limits = limits
    self.spoolDirectory = spoolDirectory
    self.contentLength = contentLength
    reader = RawFrameReader(
      video, ifNotY4M: settings.missingSize, isPrompt: settings.isRealtime, limits: limits)
  }

  package var blockSize: Int { reader.blockSize }

  /// A Y4M header must say first what is to be encoded.
  package var isExpensive: Bool { opening != nil && phase != .delivering && phase != .finished }

  package var isLarge: Bool {
    guard let video = reader.video else { return false }
    let factor = settings.preset.workFactor
    return PictureWork(width: video.width, height: video.height, factor: factor).isLarge
  }

  package var codecBytes: Int { opening.map(settings.codecBytes) ?? .max }

  package mutating func push(_ block: Block) throws(Problem) {
    try reader.push(block)
    if session == nil, let video = reader.video, let contentLength, !reader.isY4M {
      try Self.check(contentLength, of: video, limits)
    }
  }

  package mutating func endOfInput() throws(Problem) {
    phase = .ended
  }

  package mutating func endOfStoppedInput() throws(Problem) {
    reader.isStopped = true
    phase = .ended
  }

  package mutating func step(into output: inout Output) throws(Problem) -> Step {
    defer { describe(&output) }
    switch phase {
    case .reading, .ended:
      var frame = firstFrame.take()
      if frame == nil { frame = try reader.next() }
      if opening == nil, try readHeader(), frame != nil {
        firstFrame = frame
        return .again
      }
      if let frame {
        try encode(frame, into: &output)
        // A step of its own would only find that there is no more.
        return phase == .reading && !reader.hasMore ? .needsInput : .again
      }
      guard phase == .ended else { return .needsInput }
      try reader.checkEnd()
      try session?.finish()
      phase = .flushing
      return .again
    case .flushing:
      if try session?.receive(into: &output.bytes) ?? false { return .again }
      try session?.close()
      phase = .delivering
      return .again
    case .delivering:
      guard try session?.deliver(into: &output) ?? true else { return .again }
      phase = .finished
      return .finished
    case .finished:
      return .finished
    }
  }

  /// Refuses headerless video that is no whole number of frames, or too many.
  ///
  /// - Parameters:
  ///   - contentLength: Bytes of media.
  ///   - video: What they are.
  ///   - limits: Sets how many frames are taken.
  /// - Throws: `partial-frame` or `too-many-frames`.
  package static func check(
    _ contentLength: Int, of video: RawVideo, _ limits: Limits
  ) throws(Problem) {
    guard contentLength % video.frameSize == 0 else {
      throw RawFrameReader.partialFrame(contentLength, of: video)
    }
    guard contentLength / video.frameSize <= limits.maxFrames else {
      throw .tooManyFrames(limits)
    }
  }

  private mutating func encode(
    _ raw: RawFrameReader.RawFrame, into output: inout Output
  ) throws(Problem) {
    guard let video = reader.video else { return }
    try openSession(threads: limits.threads(sharedBy: output.codecsInUse))
    let frame: Frame
    do throws(CodecError) {
      frame = try Frame(
        over: raw.block, at: raw.offset, format: video.pixelFormat, width: video.width,
        height: video.height)
    } catch {
      let number = session?.framesIn ?? 0
      throw error.isSampleOutOfRange ? outOfRange(video, number) : .encoderFailed
    }
    try session?.encode(frame, into: &output.bytes)
  }

  /// Checks what a Y4M header says; false as long as it is not there.
  private mutating func readHeader() throws(Problem) -> Bool {
    guard let video = reader.video else { return false }
    opening = try settings.completed(by: video).encoderSettings(for: video, limits: limits)
    return true
  }

  private mutating func openSession(threads share: Int) throws(Problem) {
    guard session == nil, var opening else { return }
    opening.threads = settings.threadCount(limits, sharing: share)
    session = try EncodeSession(
      settings, opening, limits: limits, spoolDirectory: spoolDirectory)
  }

  private mutating func describe(_ output: inout Output) {
    output.counters.framesIn = session?.framesIn ?? 0
    output.counters.framesOut = session?.framesOut ?? 0
    output.answer.contentType = settings.format.contentType
    output.answer.headers = [
      .init("Nalu-Frames-In", "\(output.counters.framesIn)"),
      .init("Nalu-Frames-Out", "\(output.counters.framesOut)"),
    ]
  }

  private func outOfRange(_ video: RawVideo, _ number: Int) -> Problem {
    let depth = video.pixelFormat.bitDepth
    return Problem(
      .unrecognisedInput,
      "Frame \(number) has samples above \(1 << depth - 1), the largest of "
        + "\(video.pixelFormat.rawValue), whose \(depth) bits are the low ones of two bytes, "
        + "little-endian.",
      parameter: "pix_fmt", members: [.init("frame", number)])
  }
}
