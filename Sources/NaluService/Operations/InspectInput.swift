internal import Container
internal import H264
internal import Platform

/// What an inspection reads: a byte stream, or a container once its first bytes have shown which.
struct InspectInput: Sendable {
  private let lengthPrefix: LengthPrefixSettings
  private let limits: ContainerLimits
  private var configuration: AVCConfigurationRecord?
  /// The upload so far, while it is too short to be taken for something.
  private(set) var unread: [UInt8] = []
  private var isDecided = false
  private var scanner = StartCodeScanner(search: vectorSearch)
  private var reader: ContainerReader?
  /// The first NAL unit of a byte stream was found.
  private var hasBegun = false
  /// Bytes so far.
  private(set) var size = 0

  init(_ settings: InspectSettings) {
    lengthPrefix = settings.lengthPrefix
    limits = settings.containerLimits
  }

  /// Reads the next bytes of the upload from `position` on, 0 at first, unless there is much of the
  /// report to hand on; true when all are read.
  mutating func read(
    _ chunk: Span<UInt8>, from position: inout Int, into report: inout StreamReport
  ) throws(Problem) -> Bool {
    if position == 0 { size += chunk.count }
    if isDecided { return try scan(chunk, from: &position, &report) }
    if unread.isEmpty, chunk.count >= InputForm.headBytes {
      try decide(chunk, &report)
      return try scan(chunk, from: &position, &report)
    }
    unread.append(copying: chunk)
    if unread.count >= InputForm.headBytes { try readHead(&report) }
    return true
  }

  private mutating func readHead(_ report: inout StreamReport) throws(Problem) {
    let bytes = unread
    unread = []
    try decide(bytes.span, &report)
    var position = 0
    while try !scan(bytes.span, from: &position, &report) {}
  }

  private mutating func decide(
    _ head: Span<UInt8>, _ report: inout StreamReport
  ) throws(Problem) {
    isDecided = true
    let form = try InputForm(of: head, lengthPrefix)
    if form.format != .annexB {
      reader = ContainerReader(
        form.format, lengthSize: form.lengthSize, limits, search: vectorSearch)
    }
    configuration = form.configuration
    if let configuration { try report.take(configuration, at: 0) }
    report.format = form.format
    report.recognition.hasLengths = form.format == .avcc
    report.form.hasTimes = reader != nil
  }

  private mutating func scan(
    _ chunk: Span<UInt8>, from position: inout Int, _ report: inout StreamReport
  ) throws(Problem) -> Bool {
    if reader != nil { return try scanContainer(chunk, from: &position, &report) }
    var units = 0
    while let unit = scanner.next(in: chunk, from: &position) {
      try add(unit, in: chunk, &report)
      units += 1
      let isMuch = units == Self.unitsAStep || report.form.pendingCount > Self.enough
      if isMuch, report.recognition.isRecognised { return false }
    }
    position = 0
    return true
  }

  private mutating func scanContainer(
    _ chunk: Span<UInt8>, from position: inout Int, _ report: inout StreamReport
  ) throws(Problem) -> Bool {
    while position < chunk.count {
      let end = min(chunk.count, position + Self.pieceBytes)
      try reader?.read(chunk.extracting(position..<end), into: &report)
      if reader?.hasH264 == true { report.recognition.accept() }
      position = end
      if report.form.pendingCount > Self.enough, report.recognition.isRecognised,
        end < chunk.count
      {
        return false
      }
    }
    position = 0
    return true
  }

  /// A container is read in pieces of so many bytes.
  private static let pieceBytes = 64 << 10
  /// Bytes of a report after which a step ends: tiny NAL units make hundreds of times as many.
  private static let enough = 1 << 20
  /// Units after which a step ends: a block may have 65,536 that are parameter sets.
  private static let unitsAStep = 4096

  private mutating func add(
    _ unit: NALUnitExtent, in chunk: Span<UInt8>, _ report: inout StreamReport
  ) throws(Problem) {
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

  // MARK: After the upload

  /// Bytes of memory that sample tables take.
  var heldBytes: Int { reader?.heldBytes ?? 0 }

  /// The last bytes read, and those that follow, are needed once more.
  var needsWholeUpload: Bool { reader?.needsWholeUpload ?? false }

  /// No more bytes come.
  mutating func end(_ report: inout StreamReport) throws(Problem) {
    if !isDecided { try readHead(&report) }
  }

  /// What is to be read again before the end can be written; nil when nothing is.
  mutating func wanted() -> Range<Int>? { reader?.wanted(of: size) }

  /// Reads bytes again.
  mutating func reread(
    _ bytes: Span<UInt8>, at offset: Int, into report: inout StreamReport
  ) throws(Problem) {
    try reader?.reread(bytes, at: offset, into: &report)
  }

  /// Completes the report; what is to be said of the source.
  mutating func finish(_ report: inout StreamReport) throws(Problem) -> ReportTail.Source {
    try reader?.finish(into: &report)
    if let unit = scanner.finish() { try add(unit, in: Span(), &report) }
    report.container.tracks = reader?.tracks ?? []
    guard report.recognition.isRecognised else { throw notRecognised(report) }
    report.finish()
    var source = ReportTail.Source(
      size: size, leadingZeroBytes: scanner.leadingZeroBytes,
      trailingZeroBytes: scanner.trailingZeroBytes)
    source.reader = reader
    source.configuration = configuration
    return source
  }

  /// Why the input is none.
  func notRecognised(_ report: StreamReport) -> Problem {
    if let reader, reader.format != .avcc {
      if reader.mp4?.file.hasMovie == false { return .movieMissing }
      let codecs = reader.tracks.map { $0.codec ?? $0.codecTag.map(shown) ?? $0.kind.rawValue }
      let others = codecs.isEmpty ? "" : ": \(codecs.prefix(8).joined(separator: ", "))"
      return Problem(
        .unrecognisedInput, "The body is \(reader.format.title) without an H.264 track\(others).")
    }
    return report.recognition.problem(units: report.totals.units)
  }
}
