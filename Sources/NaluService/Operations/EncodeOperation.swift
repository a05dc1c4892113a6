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
  private var encoder: VideoEncoder?
  /// The container, open from the first access unit on.
  private var writer: MediaWriter?
  private var phase = Phase.reading
  private var counters = Counters()
  private var bitrateChanges: ArraySlice<EncodeSettings.BitrateChange>
  private var forcedKeyframes: ArraySlice<Int>

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
    bitrateChanges = settings.bitrateChanges.sorted { $0.frame < $1.frame }[...]
    forcedKeyframes = Set(settings.forcedKeyframes).sorted()[...]
  }

  package var blockSize: Int { reader.blockSize }

  package var isExpensive: Bool { phase != .delivering && phase != .finished }

  package mutating func push(_ block: Block) throws(Problem) {
    try reader.push(block)
    if encoder == nil, let video = reader.video, let contentLength, !reader.isY4M {
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
      let frame = try reader.next()
      try readHeader()
      if let frame {
        try encode(frame, into: &output.bytes)
        return .again
      }
      guard phase == .ended else { return .needsInput }
      try reader.checkEnd()
      try finish()
      return .again
    case .flushing:
      if try receive(into: &output.bytes) { return .again }
      guard counters.framesOut == counters.framesIn else { throw .encoderFailed }
      // Its threads and pictures are not needed while the answer is read.
      encoder = nil
      try writer?.finish()
      phase = .delivering
      return .again
    case .delivering:
      if let length = writer?.length {
        output.answer.start = .whenReady
        output.answer.length = length
      }
      guard try writer?.take(into: &output.bytes) ?? true else { return .again }
      writer = nil
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
      throw tooManyFrames(limits)
    }
  }

  private mutating func encode(
    _ raw: RawFrameReader.RawFrame, into bytes: inout [UInt8]
  ) throws(Problem) {
    guard let video = reader.video else { return }
    guard counters.framesIn < limits.maxFrames else { throw Self.tooManyFrames(limits) }
    try openEncoder()
    let number = counters.framesIn
    if let change = bitrateChanges.first, change.frame == number {
      bitrateChanges.removeFirst()
      encoder?.changeBitrate(to: change.bitrate)
    }
    let isForced = forcedKeyframes.first == number
    if isForced { forcedKeyframes.removeFirst() }
    do throws(CodecError) {
      let frame = try Frame(
        over: raw.block, at: raw.offset, format: video.pixelFormat, width: video.width,
        height: video.height)
      try encoder?.send(frame, forceKeyframe: isForced)
    } catch {
      throw error.isSampleOutOfRange ? outOfRange(video, number) : .encoderFailed
    }
    counters.framesIn += 1
    while try receive(into: &bytes) {}
  }

  /// Checks what a Y4M header says as soon as it is there.
  private mutating func readHeader() throws(Problem) {
    guard opening == nil, let video = reader.video else { return }
    opening = try settings.completed(by: video).encoderSettings(for: video, limits: limits)
  }

  private mutating func openEncoder() throws(Problem) {
    guard encoder == nil, let opening else { return }
    do throws(CodecError) {
      encoder = try VideoEncoder(opening)
    } catch {
      throw .encoderFailed
    }
  }

  private mutating func finish() throws(Problem) {
    do throws(CodecError) {
      try encoder?.finish()
    } catch {
      throw .encoderFailed
    }
    phase = .flushing
  }

  /// Appends the next access unit if there is one, and answers whether there was.
  private mutating func receive(into bytes: inout [UInt8]) throws(Problem) -> Bool {
    guard settings.format.container == nil else { return try receiveForContainer(into: &bytes) }
    guard try receiveUnit(into: &bytes) != nil else { return false }
    return true
  }

  private mutating func receiveUnit(
    into bytes: inout [UInt8]
  ) throws(Problem) -> VideoEncoder.AccessUnit? {
    do throws(CodecError) {
      guard case .accessUnit(let unit) = try encoder?.receive(into: &bytes) else { return nil }
      counters.framesOut += 1
      return unit
    } catch {
      throw .encoderFailed
    }
  }

  private mutating func receiveForContainer(into bytes: inout [UInt8]) throws(Problem) -> Bool {
    var sample: [UInt8] = []
    guard let opening, let unit = try receiveUnit(into: &sample),
      let layout = opening.framing.layout(of: sample.span)
    else { return false }
    if writer == nil {
      writer = try MediaWriter(
        settings.format, firstAccessUnit: sample, layout, frameRate: opening.frameRate,
        repeatsParameterSets: opening.repeatsParameterSets, spoolDirectory: spoolDirectory)
    }
    try writer?.write(
      sample, layout,
      SampleTiming(
        presentation: unit.presentation, decoding: unit.decoding, duration: 1,
        isKeyframe: unit.isKeyframe))
    _ = try writer?.take(into: &bytes)
    return true
  }

  private func describe(_ output: inout Output) {
    output.counters = counters
    output.answer.contentType = settings.format.contentType
    output.answer.headers = [
      .init("Nalu-Frames-In", "\(counters.framesIn)"),
      .init("Nalu-Frames-Out", "\(counters.framesOut)"),
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

  private static func tooManyFrames(_ limits: Limits) -> Problem {
    Problem(
      .tooManyFrames, "The body holds more than max_frames, \(limits.maxFrames) frames.",
      members: [.init("limit", limits.maxFrames)])
  }
}

extension Problem {
  /// libx264 refused what the checks let pass; the log has its words.
  fileprivate static var encoderFailed: Problem {
    Problem(.internal, "The encoder failed.")
  }
}
