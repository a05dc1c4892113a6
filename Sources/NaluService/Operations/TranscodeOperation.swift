internal import Codec
internal import Container
package import Platform

/// H.264 in, H.264 out: decoded and encoded anew.
///
/// The upload is taken in as for a decode. Then each step decodes one access unit, or encodes one
/// frame; audio goes along.
package struct TranscodeOperation: Operation, ~Copyable {
  private let settings: TranscodeSettings
  private let limits: Limits
  private let spoolDirectory: SpoolDirectory
  private var intake: MediaIntake
  private var phase = Phase.receiving
  /// Of the decoder, and of the encoder unless the client says how many.
  private var threads = 1
  private var plan: TranscodePlan?
  private var player: DecodePlayer?
  private var shape: TranscodeShape?
  private var pacer: FramePacer?
  private var session: EncodeSession?
  private var sound: ContainerSound?
  /// What it holds in memory.
  private var soundBytes = 0
  /// Of the sound, in seconds from the beginning of the result.
  private var soundRange = -Double.infinity..<Double.infinity
  private var waitingSound: SoundFrame?
  private var soundCount = SoundCount()
  private var isSoundDamaged = false
  /// The container lacks something, which counts as an error already.
  private var isDamaged = false
  private var framesIn = 0
  private var skipped = 0
  private var errors = 0
  private var notes: [String] = []
  package private(set) var isLarge = false

  /// How often the frames may be repeated, on average: an hour at 25 a second.
  private static let mostRepeats = 90_000

  private enum Phase {
    case receiving, coding, flushing, delivering, finished
  }

  /// Checks the settings.
  package init(
    _ settings: TranscodeSettings, limits: Limits, spoolDirectory: SpoolDirectory
  ) throws(Problem) {
    try settings.check(limits)
    self.settings = settings
    self.limits = limits
    self.spoolDirectory = spoolDirectory
    intake = MediaIntake(
      limits: limits, spoolDirectory: spoolDirectory, lengthPrefix: settings.lengthPrefix)
  }

  package var blockSize: Int { MediaIntake.blockSize }

  /// The decoder is opened when the upload is complete and worth it, the encoder soon after.
  package var isExpensive: Bool { phase == .coding || phase == .flushing }

  package var heldBytes: Int {
    intake.heldBytes + soundBytes + soundCount.heldBytes(settings.encode.format)
  }

  package mutating func push(_ block: Block) throws(Problem) {
    intake.push(block)
  }

  package mutating func endOfInput() throws(Problem) {
    try intake.endOfInput()
  }

  package mutating func step(into output: inout Output) throws(Problem) -> Step {
    defer { describe(&output) }
    switch phase {
    case .receiving:
      let step = try intake.step()
      guard step == .finished else { return step }
      try prepare(&output)
      phase = .coding
      return .again
    case .coding:
      try code(into: &output)
      return .again
    case .flushing:
      if try session?.receive(into: &output.bytes) ?? false {
        try copySound(isLast: false, into: &output.bytes)
        return .again
      }
      try copySound(isLast: true, into: &output.bytes)
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

  /// The scan is over: decides what is encoded, and opens what decodes.
  private mutating func prepare(_ output: inout Output) throws(Problem) {
    guard var index = intake.index else { return }
    if !wantsSound || !intake.tracks.contains(where: \.isAudio) { index.beginWithFirstFrame() }
    let plan = try TranscodePlan(index, settings)
    threads = limits.threads(sharedBy: output.codecsInUse)
    isLarge =
      PictureWork(index, settings.decode, factor: settings.encode.preset.workFactor).isLarge
    var decode = settings.decode
    // Where numbers are counted on the way, frames are told by their times.
    if index.isReliable { decode.frames = .numbers([plan.numbers]) }
    player = try DecodePlayer(
      index, DecodeTargets(decode.selection, in: index), decode, limits, threads: threads)
    pacer = FramePacer(plan.pace)
    if case .constant = plan.pace {
      // A wrong time would have a frame repeated for hours.
      let ticks = plan.endTicks - plan.ticks(ofFrame: plan.numbers.lowerBound)
      guard ticks <= limits.maxFrames else { throw .tooManyFrames(limits) }
      guard ticks / plan.numbers.count <= Self.mostRepeats else { throw .tooManyRepeats }
    }
    isDamaged = index.damage != nil
    if let base = index.extension { notes.append(base.rawValue) }
    if let note = index.elsewhereNote { notes.append(note) }
    self.plan = plan
    try findSound(index, plan)
    intake.dropUpload()
    output.answer.start = settings.encode.format.isPatched ? .whenComplete : .whenReady
    if !settings.encode.format.isPatched {
      output.answer.trailerNames = [
        "Nalu-Frames-In", "Nalu-Frames-Out", "Nalu-Frames-Skipped", "Nalu-Decode-Errors",
      ]
    }
  }

  private var wantsSound: Bool {
    settings.audio != TranscodeSettings.Audio.none && settings.encode.format.container != nil
  }

  private mutating func findSound(_ index: DecodeIndex, _ plan: TranscodePlan) throws(Problem) {
    guard wantsSound, let upload = intake.upload, let format = intake.format
    else {
      let tracks = intake.tracks
      return noteLeftOut(kept: tracks.indices.filter { tracks[$0].isAudio })
    }
    let tracks = intake.tracks
    let parts = intake.soundParts
    let audio = parts.origins(of: tracks)
    let carried = audio.first { settings.encode.format.carries(tracks[$0].kind) }
    noteLeftOut(kept: carried.map { [$0] + parts.parts(of: [$0]) } ?? [])
    guard let carried else {
      guard settings.audio != .copy || audio.isEmpty else {
        throw settings.encode.format.cannotCarry(audio.map { tracks[$0].kind })
      }
      return
    }
    let unit = plan.timing.timeBase.doubleValue
    let begin = (Double(index.timeline?.origin ?? 0) + Double(plan.origin)) * unit
    let origin = begin - plan.delay
    let found = try ContainerSound(
      { () throws(Problem) in try Demuxer.open(upload, format, limits) }, format,
      tracks: [carried], parts, origin: origin)
    if found.isDamaged { noteSoundDamage() }
    guard !found.muxerTracks.isEmpty else { return }
    soundBytes = found.heldBytes
    if let note = parts.note { notes.append(note) }
    sound = consume found
    let first = settings.start.map { $0 > 0 } == true ? 0 : -Double.infinity
    let last = settings.duration.map {
      Double(plan.timing.starts[plan.numbers.lowerBound] - plan.origin) * unit + $0 + plan.delay
    }
    soundRange = first..<max(first, last ?? .infinity)
  }

  /// Says what of the container is not wanted, or has no place.
  private mutating func noteLeftOut(kept: [Int]) {
    let known = kept + intake.videoParts
    if let note = LeftOut.note(intake.tracks, kept: known, video: intake.videoTrack) {
      notes.append(note)
    }
  }

  // MARK: Frames

  private mutating func code(into output: inout Output) throws(Problem) {
    if let paced = try pop() {
      try encode(paced, into: &output.bytes)
      return
    }
    guard pacer?.isOver == false else {
      // The pictures are not needed any more.
      player = nil
      try session?.finish()
      phase = .flushing
      return
    }
    try decode()
    skipped = player?.skipped ?? 0
    errors = player?.errors ?? 0
  }

  private mutating func pop() throws(Problem) -> FramePacer.PacedFrame? {
    do throws(CodecError) { return try pacer?.pop() } catch { throw .decoderFailed }
  }

  private mutating func decode() throws(Problem) {
    guard let plan else { return }
    if let frame = try player?.step(intake.stream) {
      let number = player?.index.number(of: frame.number) ?? 0
      if plan.numbers.contains(number) {
        framesIn += 1
        try openShape(frame, plan)
        guard let shaped = try shape?.shape(frame) else { return }
        try openSession(plan, firstTick: plan.ticks(ofFrame: number))
        pacer?.push(shaped, at: plan.ticks(ofFrame: number))
      }
    }
    guard player?.isFinished == true else { return }
    guard framesIn > 0 else {
      let errors = player?.errors ?? 0
      let skipped = player?.skipped ?? 0
      throw .nothingToShow(errors: errors, skipped: skipped)
    }
    pacer?.finish(at: plan.endTicks)
  }

  private mutating func openShape(
    _ frame: borrowing Frame, _ plan: TranscodePlan
  ) throws(Problem) {
    guard shape == nil, let index = player?.index else { return }
    shape = try TranscodeShape(frame, index, settings, frameRate: plan.frameRate, limits)
  }

  private mutating func openSession(_ plan: TranscodePlan, firstTick: Int) throws(Problem) {
    guard session == nil, let settings = shape?.settings, let video = shape?.video else { return }
    var opening = try settings.encoderSettings(for: video, limits: limits)
    opening.threads = settings.threadCount(limits, sharing: threads)
    var presentation = EncodeSession.Presentation()
    switch plan.pace {
    case .constant:
      presentation.offset = firstTick
    case .variable(let base):
      opening.timeBase = base
      presentation.timeBase = base
    }
    presentation.displayMatrix = shape?.displayMatrix
    presentation.audio = sound?.muxerTracks ?? []
    session = try EncodeSession(
      settings, opening, presentation, limits: limits, spoolDirectory: spoolDirectory)
  }

  private mutating func encode(
    _ paced: consuming FramePacer.PacedFrame, into bytes: inout [UInt8]
  ) throws(Problem) {
    let (time, duration) = (paced.time, paced.duration)
    if case .variable = plan?.pace {
      try session?.encode(paced.frame, at: time, lasting: duration, into: &bytes)
    } else {
      try session?.encode(paced.frame, into: &bytes)
    }
    try copySound(isLast: false, into: &bytes)
  }

  // MARK: Sound

  /// Writes the sound that begins before the last access unit is decoded, or all of it.
  private mutating func copySound(isLast: Bool, into bytes: inout [UInt8]) throws(Problem) {
    guard let decoded = session?.decoded, let plan else { return }
    let limit = isLast ? Double.infinity : Double(decoded) * plan.tick
    while let frame = try nextSound() {
      guard frame.seconds < soundRange.upperBound else {
        sound = nil
        return
      }
      guard frame.seconds < limit else {
        waitingSound = frame
        return
      }
      if frame.seconds < soundRange.lowerBound { continue }
      try soundCount.add(frame, limits)
      try session?.write(sound: frame, into: &bytes)
    }
  }

  private mutating func nextSound() throws(Problem) -> SoundFrame? {
    if let frame = waitingSound.take() { return frame }
    let frame = try sound?.next()
    if sound?.isDamaged == true { noteSoundDamage() }
    return frame
  }

  private mutating func noteSoundDamage() {
    guard !isSoundDamaged else { return }
    isSoundDamaged = true
    notes.append(SoundCount.damageNote)
  }

  // MARK: What is said of it

  private mutating func describe(_ output: inout Output) {
    let framesOut = session?.framesOut ?? 0
    output.counters.framesIn = framesIn
    output.counters.framesOut = framesOut
    output.answer.contentType = settings.encode.format.contentType
    output.answer.headers =
      notes.isEmpty ? [] : [.init("Nalu-Note", notes.joined(separator: "; "))]
    let errors = errors + (isSoundDamaged && !isDamaged ? 1 : 0)
    output.counters.decodeErrors = errors
    output.answer.trailers = [
      .init("Nalu-Frames-In", "\(framesIn)"), .init("Nalu-Frames-Out", "\(framesOut)"),
      .init("Nalu-Frames-Skipped", "\(skipped)"), .init("Nalu-Decode-Errors", "\(errors)"),
    ]
  }
}

extension Problem {
  fileprivate static var tooManyRepeats: Problem {
    Problem(
      .tooManyFrames,
      "The frames would have to be repeated for hours: the times of the input make no sense, or "
        + "fps is far too high.", parameter: "fps")
  }
}
