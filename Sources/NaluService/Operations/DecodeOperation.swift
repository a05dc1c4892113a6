internal import Codec
package import Platform

/// H.264 in; images, raw frames or digests out.
///
/// The upload is spooled; a byte stream is scanned while it comes, a container when it is complete.
/// Then each step decodes one access unit or writes one frame.
package struct DecodeOperation: Operation, ~Copyable {
  private let settings: DecodeSettings
  private let limits: Limits
  private var intake: MediaIntake
  private var phase = Phase.receiving
  private var player: DecodePlayer?
  private var sink: DecodeSink?
  package private(set) var isLarge = false

  private enum Phase {
    case receiving, decoding, finishing, finished
  }

  /// Checks the settings.
  package init(
    _ settings: DecodeSettings, limits: Limits, spoolDirectory: SpoolDirectory
  ) throws(Problem) {
    try settings.check(limits)
    self.settings = settings
    self.limits = limits
    intake = MediaIntake(
      limits: limits, spoolDirectory: spoolDirectory, lengthPrefix: settings.lengthPrefix)
  }

  package var blockSize: Int { MediaIntake.blockSize }

  /// The decoder is opened when the upload is complete and worth it.
  package var isExpensive: Bool { phase == .decoding || phase == .finishing }

  package var heldBytes: Int { intake.heldBytes }

  package mutating func push(_ block: Block) throws(Problem) {
    intake.push(block)
  }

  package mutating func endOfInput() throws(Problem) {
    try intake.endOfInput()
  }

  package mutating func step(into output: inout Output) throws(Problem) -> Step {
    switch phase {
    case .receiving:
      let step = try intake.step()
      guard step == .finished else { return step }
      try prepare(&output)
      phase = .decoding
      return .again
    case .decoding:
      try decode(into: &output)
      return .again
    case .finishing:
      return try finish(into: &output)
    case .finished:
      return .finished
    }
  }

  /// The scan is over: opens what decodes.
  private mutating func prepare(_ output: inout Output) throws(Problem) {
    guard let index = intake.index else { return }
    intake.dropUpload()
    if let damage = index.damage, settings.onError == .fail {
      throw Problem(
        .undecodable, "The container is damaged or ends before its time. \(damage.message)",
        members: damage.offset.map { [.init("offset", $0)] } ?? [])
    }
    let targets = try DecodeTargets(settings.selection, in: index)
    let threads = limits.threads(sharedBy: output.codecsInUse)
    isLarge = PictureWork(index, settings, factor: settings.workFactor).isLarge
    sink = try DecodeSink(settings, index, limits, threads: threads)
    player = try DecodePlayer(index, targets, settings, limits, threads: threads)
    output.answer.contentType = settings.contentType
    output.answer.start = settings.isStreamed ? .whenReady : .whenComplete
    if settings.isStreamed {
      output.answer.trailerNames = [
        "Nalu-Frames-Out", "Nalu-Frames-Skipped", "Nalu-Decode-Errors",
      ]
    }
    let notes = [index.extension?.rawValue, index.elsewhereNote].compactMap(\.self)
    if !notes.isEmpty {
      output.answer.headers.append(.init("Nalu-Note", notes.joined(separator: "; ")))
    }
  }

  private mutating func decode(into output: inout Output) throws(Problem) {
    let frame = try player?.step(intake.stream)
    output.counters.framesIn = player?.sent ?? 0
    output.counters.decodeErrors = player?.errors ?? 0
    if let frame {
      let entry = frame.number
      try sink?.write(
        frame, number: player?.number ?? 0,
        isMonochrome: player?.index.entries[entry].flags.contains(.monochrome) ?? false,
        into: &output)
      output.counters.framesOut = sink?.framesOut ?? 0
    }
    if player?.isFinished == true { phase = .finishing }
  }

  private mutating func finish(into output: inout Output) throws(Problem) -> Step {
    let errors = player?.errors ?? 0
    let skipped = player?.skipped ?? 0
    let frames = sink?.framesOut ?? 0
    guard frames > 0 else { throw .nothingToShow(errors: errors, skipped: skipped) }
    let comment = "frames \(frames), skipped \(skipped), decode errors \(errors)"
    guard try sink?.finish(comment: comment, into: &output) ?? true else { return .again }
    output.answer.trailers = [
      .init("Nalu-Frames-Out", "\(frames)"), .init("Nalu-Frames-Skipped", "\(skipped)"),
      .init("Nalu-Decode-Errors", "\(errors)"),
    ]
    phase = .finished
    // The pictures are not needed while the answer is read.
    player = nil
    sink = nil
    return .finished
  }
}

extension DecodeSettings {
  package var contentType: String {
    switch (format, packing) {
    case (.png, nil): "image/png"
    case (.jpeg, nil): "image/jpeg"
    case (.png, .zip), (.jpeg, .zip): "application/zip"
    case (.png, .tar), (.jpeg, .tar): "application/x-tar"
    case (.yuv, _): "application/octet-stream"
    case (.y4m, _): "video/x-yuv4mpeg"
    case (.framemd5, _): "text/plain; charset=utf-8"
    }
  }

  /// The answer begins before it is complete.
  fileprivate var isStreamed: Bool { !format.isImage || packing != nil }
}

extension Problem {
  static func nothingToShow(errors: Int, skipped: Int) -> Problem {
    let reason =
      skipped > 0
      ? "\(skipped) precede the first IDR picture or completed recovery point"
      : "all are damaged"
    return Problem(
      .undecodable, "No picture could be shown; \(reason).",
      members: [.init("decode_errors", errors), .init("frames_skipped", skipped)])
  }
}
