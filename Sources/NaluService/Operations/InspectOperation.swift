package import Platform

/// H.264 in, a report on every NAL unit out (`POST /inspect`).
///
/// The stream is scanned as it arrives. What is known of it is written at once; the answer holds
/// back until the input is recognised, so that other data is a problem and not half a report.
package struct InspectOperation: ~Copyable, Operation {
  private var input: InspectInput
  private var report: StreamReport
  private var block: Block?
  /// The index in the block to go on from.
  private var position = 0
  private var isEnded = false
  private var tail: ReportTail?
  private var hasAnnounced = false
  /// The upload from ``spoolStart`` on, where its parts are not in the order they are needed in.
  private var spool: Spool
  private var spoolStart: Int?

  package init(_ settings: InspectSettings, spoolDirectory: SpoolDirectory) {
    report = StreamReport(settings)
    input = InspectInput(settings)
    spool = Spool(in: spoolDirectory)
  }

  package var blockSize: Int { 1 << 20 }
  package var isExpensive: Bool { false }

  package var heldBytes: Int { report.heldBytes + input.heldBytes }

  package mutating func push(_ block: Block) throws(Problem) {
    self.block = block
  }

  package mutating func endOfInput() throws(Problem) {
    guard input.size > 0 || block != nil else {
      throw Problem(.emptyBody, "There is nothing to inspect.")
    }
    isEnded = true
  }

  package mutating func step(into output: inout Output) throws(Problem) -> Step {
    if !hasAnnounced {
      hasAnnounced = true
      output.answer.contentType = report.form.contentType
      output.answer.start = .whenReady
    }
    if let scanned = block {
      let isDone = try scan(scanned.span)
      if isDone { block = nil }
      try takePending(into: &output)
      return isEnded || !isDone ? .again : .needsInput
    }
    guard isEnded else { return .needsInput }
    guard var rest = tail else {
      try finishScan()
      try takePending(into: &output)
      return .again
    }
    let isMore = report.write(&rest)
    tail = rest
    try takePending(into: &output)
    output.counters.framesIn = report.totals.frames
    return isMore ? .again : .finished
  }

  /// Reads the rest of a block; true when that is done.
  private mutating func scan(_ chunk: Span<UInt8>) throws(Problem) -> Bool {
    let unread = input.unread
    guard try input.read(chunk, from: &position, into: &report) else { return false }
    guard input.needsWholeUpload else { return true }
    try beginSpool(with: unread, before: chunk.count)
    try spool.append(chunk)
    return true
  }

  /// Keeps bytes that were put off until the input was told by them, and that `count` more follow.
  private mutating func beginSpool(with unread: [UInt8], before count: Int) throws(Problem) {
    guard spoolStart == nil else { return }
    spoolStart = input.size - count - unread.count
    try spool.append(unread.span)
  }

  /// More of a report than this does not wait for the input to be recognised.
  private static let maxHeldBack = 4 << 20

  /// Reads again what comes next, or completes the report.
  private mutating func finishScan() throws(Problem) {
    let unread = input.unread
    try input.end(&report)
    if input.needsWholeUpload { try beginSpool(with: unread, before: 0) }
    if let wanted = input.wanted(), let start = spoolStart, wanted.lowerBound >= start {
      let count = wanted.count
      var bytes: [UInt8] = []
      try bytes.append(addingCapacity: count) {
        (room: inout OutputSpan<UInt8>) throws(Problem) in
        try spool.read(at: wanted.lowerBound - start, into: &room)
      }
      try input.reread(bytes.span, at: wanted.lowerBound, into: &report)
    } else {
      tail = ReportTail(source: try input.finish(&report))
    }
  }

  private mutating func takePending(into output: inout Output) throws(Problem) {
    if report.recognition.isRecognised {
      report.form.movePending(to: &output.bytes)
    } else if report.form.pendingCount > Self.maxHeldBack {
      throw input.notRecognised(report)
    }
  }
}
