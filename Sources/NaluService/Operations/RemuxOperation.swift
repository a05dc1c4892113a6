internal import Codec
package import Platform

/// H.264 in any form in; the same access units in another form out, with sound beside them.
///
/// The upload is spooled and scanned, so that all that can be wrong with it is known before the first
/// byte of the answer; then each step writes some samples, or hands out a piece of a file that had
/// to be complete first.
package struct RemuxOperation: Operation, ~Copyable {
  private let settings: RemuxSettings
  private let limits: Limits
  private let spoolDirectory: SpoolDirectory
  private var intake: MediaIntake
  /// The part `audio`, while it comes.
  private var soundUpload: Spool?
  private var phase = Phase.receiving
  private var sound = RemuxSound()
  private var source: RemuxSource?
  private var writer: MediaWriter?
  private var writtenHeldBytes = 0
  private var counters = Counters()
  private var notes: [String] = []
  private var soundCount = SoundCount()

  private enum Phase {
    case receiving, checkingSound, opening, writing, delivering, finished
  }

  /// Bytes and samples of one step.
  private static let stepSize = 1 << 20
  private static let stepSamples = 256

  /// - Parameters:
  ///   - settings: What was asked for.
  ///   - limits: What is allowed.
  ///   - spoolDirectory: Where the upload, and a result that must be complete, wait.
  ///   - file: Has all that will be pushed, so that it need not be kept.
  package init(
    _ settings: RemuxSettings, limits: Limits, spoolDirectory: SpoolDirectory,
    file: StoredFile? = nil
  ) {
    self.settings = settings
    self.limits = limits
    self.spoolDirectory = spoolDirectory
    intake = MediaIntake(
      limits: limits, spoolDirectory: spoolDirectory, lengthPrefix: settings.lengthPrefix,
      isForDecoder: false, file: file, listsSamples: settings.format.hasConfiguration)
  }

  package var blockSize: Int { MediaIntake.blockSize }

  /// Nothing is decoded or encoded.
  package var isExpensive: Bool { false }

  package var heldBytes: Int {
    intake.heldBytes + sound.heldBytes + writtenHeldBytes
      + soundCount.heldBytes(settings.format)
  }

  package mutating func push(_ block: Block) throws(Problem) {
    intake.push(block)
  }

  package mutating func pushSecond(_ block: Block) throws(Problem) {
    guard settings.sound == .copy else {
      throw .conflict("audio", "audio=none leaves out the part audio that is sent along.")
    }
    guard settings.format.container != nil else {
      throw .conflict("format", "\(settings.format.rawValue) has no room for sound.")
    }
    if soundUpload == nil { soundUpload = Spool(in: spoolDirectory) }
    try soundUpload?.append(block.span)
  }

  package mutating func endOfInput() throws(Problem) {
    try intake.endOfInput()
  }

  package mutating func step(into output: inout Output) throws(Problem) -> Step {
    defer { output.counters = counters }
    switch phase {
    case .receiving:
      let step = try intake.step()
      guard step == .finished else { return step }
      if let spool = soundUpload.take() { sound.take(spool) }
      phase = .checkingSound
    case .checkingSound:
      if try sound.check() { phase = .opening }
    case .opening:
      try open(&output)
      phase = .writing
    case .writing:
      try write(into: &output)
    case .delivering:
      guard try deliver(into: &output) else { return .again }
      writer = nil
      source = nil
      phase = .finished
      return .finished
    case .finished:
      return .finished
    }
    return .again
  }

  // MARK: The parts of the work

  private mutating func open(_ output: inout Output) throws(Problem) {
    guard var index = intake.index else { return }
    if !hasSound { index.beginWithFirstFrame() }
    let source = try RemuxSource(index, intake.stream, intake.samples, settings)
    try sound.open(intake, source, settings, limits)
    intake.dropUpload()
    do throws(Problem) {
      writer = try MediaWriter(
        settings.format, video: source.video, parameterSets: source.parameterSets,
        audio: sound.tracks, samples: intake.samples, spoolDirectory: spoolDirectory)
    } catch {
      throw sound.tracks.isEmpty ? error : error.naming(sound.names)
    }
    writer?.edits = source.edits
    output.answer.contentType = settings.format.contentType
    output.answer.start = .whenReady
    output.answer.headers = [.init("Nalu-Frames-Out", "\(source.frameCount)")]
    notes = source.notes + sound.notes + (sound.isDamaged ? [SoundCount.damageNote] : [])
    if let note = leftOut { notes.append(note) }
    if !notes.isEmpty {
      output.answer.headers.append(.init("Nalu-Note", notes.joined(separator: "; ")))
    }
    // Only at the end it is known whether all sound could be read.
    if sound.isOfContainer, !settings.format.isPatched {
      output.answer.trailerNames = ["Nalu-Note"]
    }
    counters.framesIn = source.frameCount
    self.source = source
  }

  /// There may be sound beside the video, whose times count.
  private var hasSound: Bool {
    if settings.sound == .none || settings.format.container == nil { return false }
    return sound.hasPart || intake.tracks.contains(where: \.isAudio)
  }

  /// Tracks of the input that nobody asked to leave out.
  private var leftOut: String? {
    let tracks = intake.tracks
    var known = sound.kept + intake.videoParts
    // What is said of sound is said elsewhere.
    if sound.hasPart || settings.sound == .none || settings.format.container == nil {
      known += tracks.indices.filter { tracks[$0].isAudio }
    }
    return LeftOut.note(tracks, kept: known, video: intake.videoTrack)
  }

  private mutating func write(into output: inout Output) throws(Problem) {
    var size = 0
    var samples = 0
    while size < Self.stepSize, samples < Self.stepSamples {
      samples += 1
      let time = source?.nextTime
      if let frame = try sound.next(before: time) {
        try soundCount.add(frame, limits)
        size += frame.bytes.count
        try writer?.write(frame.bytes.span, frame.timing, track: frame.track)
      } else if time != nil {
        size += try writeFrame()
      } else {
        try writer?.finish()
        if sound.isDamaged, !notes.contains(SoundCount.damageNote) { noteDamage(&output) }
        // Its file need not be there twice.
        intake = MediaIntake(limits: limits, spoolDirectory: spoolDirectory)
        phase = .delivering
        break
      }
    }
    writtenHeldBytes = writer?.heldBytes ?? 0
    if phase == .writing { _ = try writer?.take(into: &output.bytes) }
  }

  private mutating func noteDamage(_ output: inout Output) {
    guard settings.format.isPatched else {
      output.answer.trailers = [.init("Nalu-Note", SoundCount.damageNote)]
      return
    }
    // The answer has not begun.
    output.answer.headers.removeAll { $0.name == "Nalu-Note" }
    notes.append(SoundCount.damageNote)
    output.answer.headers.append(.init("Nalu-Note", notes.joined(separator: "; ")))
  }

  private mutating func writeFrame() throws(Problem) -> Int {
    if let (sample, timing) = try source?.nextSample() {
      guard try writer?.write(sample, timing) == true else {
        throw Problem(.internal, "The input cannot be read any more.")
      }
      counters.framesOut += 1
      return sample.size
    }
    guard let frame = try source?.next(intake.stream) else { return 0 }
    try writer?.write(frame.bytes, AccessUnitLayout.annexB(frame.bytes.span), frame.timing)
    counters.framesOut += 1
    return frame.bytes.count
  }

  private mutating func deliver(into output: inout Output) throws(Problem) -> Bool {
    output.answer.length = writer?.length
    return try writer?.take(into: &output.bytes) ?? true
  }
}
