internal import Codec
internal import Container

/// The sound that goes beside the video: a part of its own, that of the container, or none.
struct RemuxSound: ~Copyable, Sendable {
  /// The part `audio`.
  private var part: SoundPart?
  private(set) var hasPart = false
  private var container: ContainerSound?
  private var pending: SoundFrame?
  /// What a muxer is told of it.
  private(set) var tracks: [MuxerTrack] = []
  /// What the tracks hold.
  private(set) var names: [String] = []
  private(set) var notes: [String] = []
  /// Indices in the container.
  private(set) var kept: [Int] = []
  /// Some of the container's sound is missing, as far as it was read.
  private(set) var isDamaged = false

  /// The sound is that of the container.
  var isOfContainer: Bool { container != nil || isDamaged }

  /// Takes the part `audio`.
  mutating func take(_ spool: consuming Spool) {
    part = SoundPart(spool)
    hasPart = true
  }

  /// Bytes of memory that the description of the container's tracks takes.
  private(set) var heldBytes = 0

  /// Checks more of the part; true when there is no more, or no part.
  mutating func check() throws(Problem) -> Bool { try part?.check() ?? true }

  /// Finds out what there is, and gets ready to give it out.
  mutating func open(
    _ intake: borrowing MediaIntake, _ source: RemuxSource, _ settings: RemuxSettings,
    _ limits: Limits
  ) throws(Problem) {
    if let track = part?.track {
      tracks = [track]
      names = ["aac"]
    } else if settings.sound == .copy, let upload = intake.upload, let format = intake.format {
      try openContainer(
        upload, format, intake.tracks, intake.soundParts, source.origin, settings, limits)
    }
    isDamaged = container?.isDamaged ?? false
    if tracks.isEmpty {
      part = nil
      container = nil
      heldBytes = 0
    }
    pending = try read()
  }

  private mutating func openContainer(
    _ upload: SpooledUpload, _ format: MediaFormat, _ known: [Track], _ parts: SoundParts,
    _ origin: Double, _ settings: RemuxSettings, _ limits: Limits
  ) throws(Problem) {
    var indices = parts.origins(of: known)
    guard !indices.isEmpty else { return }
    guard settings.format.container != nil else {
      notes.append("\(settings.format.rawValue) has no room for the sound of the input")
      return
    }
    if settings.format == .flv, indices.count > 1 {
      notes.append("flv has room for one of the \(indices.count) tracks of sound")
      indices = [indices.first { settings.format.carries(known[$0].kind) } ?? indices[0]]
    }
    let misfits = indices.map { known[$0].kind }.filter { !settings.format.carries($0) }
    guard misfits.isEmpty else { throw settings.format.cannotCarry(misfits) }
    let sound = try ContainerSound(
      { () throws(Problem) in try Demuxer.open(upload, format, limits) }, format, tracks: indices,
      parts, origin: origin)
    tracks = sound.muxerTracks
    names = indices.map { known[$0].kind.name }
    kept = indices + parts.parts(of: indices)
    if let note = parts.note { notes.append(note) }
    heldBytes = sound.heldBytes
    container = consume sound
  }

  /// The next piece of sound, if it is due before `seconds`; nil for `seconds`: no video follows.
  mutating func next(before seconds: Double?) throws(Problem) -> SoundFrame? {
    guard let frame = pending, frame.seconds <= seconds ?? .infinity else { return nil }
    pending = try read()
    return frame
  }

  private mutating func read() throws(Problem) -> SoundFrame? {
    if part != nil { return try part?.next() }
    let frame = try container?.next()
    if container?.isDamaged == true { isDamaged = true }
    return frame
  }
}

extension Problem {
  /// The problem of a format that cannot hold the tracks, of which these are sound.
  func naming(_ names: [String]) -> Problem {
    var named = self
    // Every format takes AAC.
    let others = names.filter { $0 != "aac" }
    let found = others.isEmpty ? "aac" : others.joined(separator: ", ")
    named.detail += " The sound is \(found); audio=none leaves it out."
    return named
  }
}

extension Track.Kind {
  /// The name of the codec.
  var name: String {
    switch self {
    case .h264: "h264"
    case .aac: "aac"
    case .other("none"): "of an unknown codec"
    case .other(let name): name
    }
  }
}
