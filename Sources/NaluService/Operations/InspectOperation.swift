internal import H264
package import Platform

/// H.264 in, a report on every NAL unit out (`POST /inspect`).
///
/// The stream is scanned as it arrives. What is known of it is written at once; the answer holds
/// back until the input is recognised, so that other data is a problem and not half a report.
package struct InspectOperation: ~Copyable, Operation {
  private var scanner = StartCodeScanner(search: vectorSearch)
  private var report: StreamReport
  private var block: Block?
  private var size = 0
  private var isEnded = false
  private var tail: ReportTail?
  private var hasAnnounced = false
  /// The first NAL unit was found.
  private var hasBegun = false

  package init(_ settings: InspectSettings) {
    report = StreamReport(settings)
  }

  package var blockSize: Int { 256 << 10 }
  package var isExpensive: Bool { false }

  package var heldBytes: Int { report.heldBytes }

  package mutating func push(_ block: Block) throws(Problem) {
    if size == 0, let name = ContainerSignature.name(of: block.span) {
      throw Problem(
        .unrecognisedInput, "The body is \(name), not an H.264 byte stream (Annex B).")
    }
    size += block.count
    self.block = block
  }

  package mutating func endOfInput() throws(Problem) {
    guard size > 0 else { throw Problem(.emptyBody, "There is nothing to inspect.") }
    isEnded = true
  }

  package mutating func step(into output: inout Output) throws(Problem) -> Step {
    if !hasAnnounced {
      hasAnnounced = true
      output.answer.contentType = report.form.contentType
      output.answer.start = .whenReady
    }
    if let scanned = block {
      block = nil
      try scan(scanned.span)
      if report.recognition.isRecognised {
        report.form.movePending(to: &output.bytes)
      } else if report.form.pendingCount > Self.maxHeldBack {
        throw notRecognised
      }
      return isEnded ? .again : .needsInput
    }
    guard isEnded else { return .needsInput }
    if tail == nil { tail = try finishScan() }
    guard var rest = tail else { return .finished }
    let isMore = report.write(&rest)
    tail = rest
    report.form.movePending(to: &output.bytes)
    output.counters.framesIn = report.totals.frames
    return isMore ? .again : .finished
  }

  private mutating func scan(_ chunk: Span<UInt8>) throws(Problem) {
    var position = 0
    while let unit = scanner.next(in: chunk, from: &position) {
      try add(unit, in: chunk)
    }
  }

  private mutating func add(_ unit: NALUnitExtent, in chunk: Span<UInt8>) throws(Problem) {
    if !hasBegun {
      hasBegun = true
      report.noteLeadingData(scanner.bytesBeforeFirstUnit)
    }
    switch unit.place {
    case .chunk(let range):
      try report.add(unit, chunk.extracting(range))
    case .carried:
      let carried = scanner.carried
      try report.add(unit, carried.span)
    }
  }

  /// More of a report than this does not wait for the input to be recognised.
  private static let maxHeldBack = 4 << 20

  private mutating func finishScan() throws(Problem) -> ReportTail {
    if let unit = scanner.finish() { try add(unit, in: Span()) }
    guard report.recognition.isRecognised else { throw notRecognised }
    report.finish()
    return ReportTail(
      source: ReportTail.Source(
        size: size, leadingZeroBytes: scanner.leadingZeroBytes,
        trailingZeroBytes: scanner.trailingZeroBytes))
  }

  private var notRecognised: Problem {
    let detail =
      report.recognition.looksLikeH265
      ? "The NAL units are those of H.265, not of H.264."
      : report.totals.units == 0
        ? "There is no start code in the body."
        : "No NAL unit of type 1, 5, 7 or 8 makes sense."
    return Problem(.unrecognisedInput, detail)
  }
}
