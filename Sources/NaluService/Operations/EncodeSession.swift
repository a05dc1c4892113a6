internal import Codec
internal import Platform

/// Frames in; access units out, bare or in a container.
struct EncodeSession: ~Copyable, Sendable {
  /// What a container is told beside what the stream itself says.
  struct Presentation: Sendable {
    /// Seconds per tick of the times; `nil`: a frame is a tick.
    var timeBase: Rational?
    /// Ticks that are added to all times.
    var offset = 0
    var displayMatrix: [Int32]?
    var audio: [MuxerTrack] = []
  }

  let opening: VideoEncoder.Settings
  private let format: OutputFormat
  private let limits: Limits
  private let spoolDirectory: SpoolDirectory
  private let presentation: Presentation
  private var encoder: VideoEncoder?
  /// The container, open from the first access unit on.
  private var writer: MediaWriter?
  private var bitrateChanges: ArraySlice<EncodeSettings.BitrateChange>
  private var forcedKeyframes: ArraySlice<Int>
  /// How long the frames in the encoder are shown, by their times.
  private var durations: [Int: Int] = [:]
  /// When the last frame that came in ends, and the first one that came out is shown and decoded.
  private var end = 0
  private var first: (presentation: Int, decoding: Int)?
  private var isEnding = false
  private(set) var framesIn = 0
  private(set) var framesOut = 0
  /// When the last access unit is decoded, in ticks; `nil` before the first.
  private(set) var decoded: Int?

  /// Opens the encoder.
  ///
  /// - Parameters:
  ///   - settings: What was asked for.
  ///   - opening: What the encoder is opened with.
  ///   - presentation: What a container is told.
  ///   - limits: Bound the frames.
  ///   - spoolDirectory: Where a container waits that must be complete before it is sent.
  /// - Throws: When libav refuses.
  init(
    _ settings: EncodeSettings, _ opening: VideoEncoder.Settings,
    _ presentation: Presentation = Presentation(), limits: Limits, spoolDirectory: SpoolDirectory
  ) throws(Problem) {
    let encoder: VideoEncoder
    do throws(CodecError) {
      encoder = try VideoEncoder(opening)
    } catch {
      throw .encoderFailed
    }
    self.encoder = consume encoder
    self.opening = opening
    format = settings.format
    self.limits = limits
    self.spoolDirectory = spoolDirectory
    self.presentation = presentation
    bitrateChanges = settings.bitrateChanges.sorted { $0.frame < $1.frame }[...]
    forcedKeyframes = Set(settings.forcedKeyframes).sorted()[...]
  }

  /// Takes the next frame in output order, and appends what comes of it.
  ///
  /// - Parameters:
  ///   - frame: As the settings say.
  ///   - time: When it is shown, in ticks, where these are no frames.
  ///   - duration: How long it is shown, in ticks.
  ///   - bytes: Gets what is ready.
  /// - Throws: `too-many-frames`, or what libav says.
  mutating func encode(
    _ frame: consuming Frame, at time: Int? = nil, lasting duration: Int = 1,
    into bytes: inout [UInt8]
  ) throws(Problem) {
    guard framesIn < limits.maxFrames else { throw .tooManyFrames(limits) }
    let number = framesIn
    if let change = bitrateChanges.first, change.frame == number {
      bitrateChanges.removeFirst()
      encoder?.changeBitrate(to: change.bitrate)
    }
    let isForced = forcedKeyframes.first == number
    if isForced { forcedKeyframes.removeFirst() }
    if let time, format.container != nil { durations[time] = duration }
    end = (time ?? number) + duration
    do throws(CodecError) {
      try encoder?.send(frame, at: time, forceKeyframe: isForced)
    } catch {
      throw .encoderFailed
    }
    framesIn += 1
    while try receive(into: &bytes) {}
  }

  /// No frame follows.
  mutating func finish() throws(Problem) {
    isEnding = true
    do throws(CodecError) {
      try encoder?.finish()
    } catch {
      throw .encoderFailed
    }
  }

  /// Appends the next access unit if there is one, and answers whether there was.
  mutating func receive(into bytes: inout [UInt8]) throws(Problem) -> Bool {
    guard format.container != nil else { return try receiveUnit(into: &bytes) != nil }
    var sample: [UInt8] = []
    guard let unit = try receiveUnit(into: &sample),
      let layout = opening.framing.layout(of: sample.span)
    else { return false }
    try openWriter(sample, layout)
    let timing = timing(of: unit)
    try writer?.write(sample, layout, timing)
    _ = try writer?.take(into: &bytes)
    return true
  }

  /// When an access unit is decoded and shown.
  private mutating func timing(of unit: VideoEncoder.AccessUnit) -> SampleTiming {
    var timing = SampleTiming(
      presentation: unit.presentation, decoding: unit.decoding,
      duration: durations.removeValue(forKey: unit.presentation) ?? 1,
      isKeyframe: unit.isKeyframe)
    let first = first ?? (unit.presentation, unit.decoding)
    self.first = first
    if isEnding, framesOut == framesIn {
      // Where durations count from one decoding to the next, all take as long as what is shown; and
      // none reaches beyond the end, when it is counted from when it is shown.
      let lead = first.presentation - first.decoding
      timing.decoding = max(unit.decoding, unit.presentation - lead)
      timing.duration = max(1, end - lead - timing.decoding)
    }
    timing.presentation += presentation.offset
    timing.decoding += presentation.offset
    return timing
  }

  private mutating func openWriter(
    _ sample: [UInt8], _ layout: AccessUnitLayout
  ) throws(Problem) {
    guard writer == nil else { return }
    writer = try MediaWriter(
      format, firstAccessUnit: sample, layout, frameRate: opening.frameRate, presentation,
      repeatsParameterSets: opening.repeatsParameterSets,
      spoolDirectory: spoolDirectory)
  }

  private mutating func receiveUnit(
    into bytes: inout [UInt8]
  ) throws(Problem) -> VideoEncoder.AccessUnit? {
    do throws(CodecError) {
      guard case .accessUnit(let unit) = try encoder?.receive(into: &bytes) else { return nil }
      framesOut += 1
      decoded = unit.decoding + presentation.offset
      return unit
    } catch {
      throw .encoderFailed
    }
  }

  /// Writes a frame of sound; there must have been an access unit.
  mutating func write(sound: SoundFrame, into bytes: inout [UInt8]) throws(Problem) {
    try writer?.write(sound.bytes.span, sound.timing, track: sound.track)
    _ = try writer?.take(into: &bytes)
  }

  /// Everything has been received: ends the container.
  mutating func close() throws(Problem) {
    guard framesOut == framesIn else { throw .encoderFailed }
    // Its threads and pictures are not needed while the answer is read.
    encoder = nil
    try writer?.finish()
  }

  /// Appends the next piece of what waited for the end; true when everything is out.
  mutating func deliver(into output: inout Output) throws(Problem) -> Bool {
    if let length = writer?.length {
      output.answer.start = .whenReady
      output.answer.length = length
    }
    guard try writer?.take(into: &output.bytes) ?? true else { return false }
    writer = nil
    return true
  }
}

extension Problem {
  /// libx264 refused what the checks let pass; the log has its words.
  static var encoderFailed: Problem {
    Problem(.internal, "The encoder failed.")
  }

  static func tooManyFrames(_ limits: Limits) -> Problem {
    Problem(
      .tooManyFrames, "There are more than max_frames, \(limits.maxFrames) frames.",
      members: [.init("limit", limits.maxFrames)])
  }
}
