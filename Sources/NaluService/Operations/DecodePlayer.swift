internal import Codec
internal import H264
internal import Platform

/// Decodes the wanted frames of a spooled stream, and as little else as it can.
///
/// Where the scan knows the number of every frame, decoding starts at the keyframe before the next
/// wanted frame and stops after the last. Elsewhere it goes from the beginning and counts.
struct DecodePlayer: ~Copyable {
  let index: DecodeIndex
  private let targets: DecodeTargets
  private let failsOnError: Bool
  private var decoderSettings: VideoDecoder.Settings
  private var decoder: VideoDecoder
  /// The entry that is sent next.
  private var position = 0
  /// The decoder has been told that nothing follows.
  private var isDraining = false
  /// The number of the next frame that comes out, where numbers are counted.
  private var nextNumber = 0
  /// The next number wanted; `nil`: none is.
  private var wanted: Int?
  /// Frames before this number are not right, because decoding began at a later keyframe.
  private var firstRight = 0
  /// The wanted frame that `jump` has looked ahead for.
  private var jumpedFor: Int?
  /// Parameter sets were sent that were in force at the last start.
  private var isStarted = false
  private var unsent: [UInt8]?
  private var held: Frame?

  private(set) var isFinished = false
  /// The number of the frame that `step` gave.
  private(set) var number = 0
  private var damages = 0
  private var lost = 0
  /// A decoder with several threads has reported an error.
  private var hasFailed = false
  /// Pictures that the decoder has taken.
  private(set) var sent = 0
  private var received = 0
  private var lastOrder = -1

  init(
    _ index: DecodeIndex, _ targets: DecodeTargets, _ settings: DecodeSettings, _ limits: Limits,
    threads: Int
  ) throws(Problem) {
    var opening = VideoDecoder.Settings()
    opening.reorderDepth = index.reorderDepth
    opening.maxPixels = limits.maxFramePixels
    opening.appliesCropping = settings.appliesCropping
    // Only where it can start over when there is damage, and where it pays.
    opening.threads =
      index.isReliable && !settings.selection.isSingle ? threads : 1
    opening.showsUnrecovered = index.isReliable
    decoder = try Self.open(opening)
    decoderSettings = opening
    self.index = index
    self.targets = targets
    failsOnError = settings.onError == .fail
    wanted = targets.first(atOrAfter: 0)
  }

  /// Pictures that were decoded and could not be shown, because they precede the first IDR picture
  /// or completed recovery point.
  var skipped: Int { index.picturesWithoutParameterSets + (startsWithIDR ? 0 : missing) }

  /// Pictures that are damaged, or lost to damage, and one for a container that lacks something.
  var errors: Int {
    damages + (startsWithIDR ? missing : 0) + (index.damage == nil ? 0 : 1)
  }

  /// Frames that should have come out and did not, other than those of which libavcodec said so.
  private var missing: Int {
    // Where decoding jumped, only the wanted frames were waited for.
    if index.isReliable { return 0 }
    return max(0, (isDraining ? sent : lastOrder + 1) - received - lost)
  }

  private var startsWithIDR: Bool { index.entries[0].flags.contains(.idr) }

  /// Receives a frame out of the byte stream, or sends one; the frame, if it is wanted. A problem has
  /// its place in the upload.
  mutating func step(_ spool: borrowing Spool) throws(Problem) -> Frame? {
    do throws(Problem) {
      return try stepInStream(spool)
    } catch {
      throw index.timeline?.placed(error) ?? error
    }
  }

  private mutating func stepInStream(_ spool: borrowing Spool) throws(Problem) -> Frame? {
    guard wanted != nil else {
      isFinished = true
      return nil
    }
    if let frame = try receive() {
      if try startsOver() { return nil }
      return try look(at: frame)
    }
    if try startsOver() { return nil }
    if decoder.isFinished { return try endRun() }
    if !isDraining { try send(spool) }
    return nil
  }
}

// MARK: Out of the decoder

extension DecodePlayer {
  private static func open(_ settings: VideoDecoder.Settings) throws(Problem) -> VideoDecoder {
    do throws(CodecError) { return try VideoDecoder(settings) } catch { throw .decoderFailed }
  }

  /// Several threads are good for intact streams only: with the first sign of damage, decoding goes
  /// back to the next frame that is wanted and on with one thread.
  private mutating func startsOver() throws(Problem) -> Bool {
    guard decoderSettings.threads > 1, hasFailed || decoder.hasComplaints,
      let expected = wanted,
      let entry = index.entry(shownAt: expected)
    else { return false }
    decoderSettings.threads = 1
    decoder = try Self.open(decoderSettings)
    damages = 0
    lost = 0
    jumpedFor = nil
    unsent = nil
    restart(at: index.start(for: entry))
    return true
  }

  private mutating func receive() throws(Problem) -> Frame? {
    do throws(CodecError) {
      return try decoder.receive()
    } catch {
      try note(error)
      return nil
    }
  }

  /// Numbers a frame, and gives it back if it is wanted.
  private mutating func look(at frame: consuming Frame) throws(Problem) -> Frame? {
    let entry = frame.number
    guard index.entries.indices.contains(entry) else { return nil }
    let order = index.entries[entry].order
    guard order >= firstRight else { return nil }
    received += 1
    lastOrder = max(lastOrder, order)
    if frame.isDamaged { try noteError(at: entry) }
    if index.entries[entry].flags.contains(.hidden) { return nil }
    let current = index.isReliable ? index.number(of: entry) : nextNumber
    nextNumber = current + 1
    if targets.isLast {
      number = current
      held = consume frame
      return nil
    }
    guard let expected = wanted, current >= expected else { return nil }
    // A frame that should have come before is lost.
    wanted = current > expected ? targets.first(atOrAfter: current) : expected
    guard wanted == current else { return nil }
    wanted = targets.first(atOrAfter: current + 1)
    if targets.areKeyframes, !index.isKeyframe(entry) { return nil }
    number = current
    return frame
  }

  /// Everything that was sent has come out.
  private mutating func endRun() throws(Problem) -> Frame? {
    if index.isReliable, let expected = wanted, expected < index.frameCount {
      // Either the run was drained early because the next wanted frame lies behind a later
      // keyframe, or the frame did not come out.
      if let entry = index.entry(shownAt: expected), entry < position {
        wanted = targets.first(atOrAfter: expected + 1)
      } else if let entry = index.entry(shownAt: expected) {
        restart(at: index.start(for: entry))
      }
      return nil
    }
    if !index.isReliable, received > 0 { try targets.check(count: nextNumber) }
    wanted = nil
    isFinished = true
    return held.take()
  }

  private mutating func restart(at entry: Int) {
    decoder.reset()
    isDraining = false
    isStarted = false
    position = entry
    let isIDR = index.entries[entry].flags.contains(.idr)
    firstRight = isIDR ? 0 : index.entries[entry].order
  }

  private mutating func note(_ error: CodecError) throws(Problem) {
    guard error.isDamagedData else { throw .decoderFailed }
    // Of what several threads say, only that there is damage counts.
    if decoderSettings.threads > 1 {
      hasFailed = true
      return
    }
    let entry = max(0, position - 1)
    guard index.entries[entry].order >= firstRight else { return }
    lost += 1
    try noteError(at: entry)
  }

  private mutating func noteError(at entry: Int) throws(Problem) {
    damages += 1
    guard failsOnError else { return }
    throw Problem(
      .undecodable, "The picture that begins at this byte offset is damaged.",
      members: [.init("offset", index.entries[entry].offset)])
  }
}

// MARK: Into the decoder

extension DecodePlayer {
  /// Sends the next frame, or says that there is none.
  private mutating func send(_ spool: borrowing Spool) throws(Problem) {
    if unsent == nil {
      jump()
      skipUselessFrames()
      guard position < index.entries.count, !isRunDone else {
        isDraining = true
        do throws(CodecError) { try decoder.finish() } catch { try note(error) }
        return
      }
      unsent = try DecodeAccessUnits(index: index).read(position, isFirst: !isStarted, spool)
      if isStarted, index.entries[position].flags.contains(.afterGap) {
        try noteError(at: position)
      }
    }
    guard let bytes = unsent else { return }
    do throws(CodecError) {
      guard try decoder.send(bytes.span, number: position) else { return }
      took()
    } catch {
      took()
      try note(error)
    }
  }

  private mutating func took() {
    unsent = nil
    isStarted = true
    sent += 1
    position += 1
  }

  /// What precedes the keyframe at which decoding began, and nothing refers to, would only fail.
  private mutating func skipUselessFrames() {
    while position < index.entries.count, index.entries[position].flags.contains(.disposable),
      index.entries[position].order < firstRight
    {
      position += 1
    }
  }

  /// All that is needed for the next wanted frame was sent, and what follows is of no use.
  private var isRunDone: Bool {
    guard index.isReliable, let expected = wanted,
      let entry = index.entry(shownAt: expected), entry < position
    else { return false }
    guard let following = targets.first(atOrAfter: expected + 1),
      let next = index.entry(shownAt: following)
    else { return true }
    return index.start(for: next, notBefore: position) > position
  }

  /// Moves ahead to the keyframe before the next wanted frame.
  private mutating func jump() {
    guard index.isReliable, let expected = wanted,
      expected != jumpedFor, let entry = index.entry(shownAt: expected), entry >= position
    else { return }
    jumpedFor = expected
    let start = index.start(for: entry, notBefore: position)
    if start > position { restart(at: start) }
  }
}

extension Problem {
  /// libavcodec refused for another reason than the stream; the log has its words.
  static var decoderFailed: Problem { Problem(.internal, "The decoder failed.") }
}
