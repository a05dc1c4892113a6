internal import Container
internal import H264
internal import Platform

/// Turns the NAL units of a stream, one after another, into its report.
///
/// In the forms of lines the memory does not grow with the stream; in `json` by a small record for
/// each access unit and frame.
struct StreamReport: Sendable {
  /// Units that wait for their access unit, or for its end, before they are written all the same.
  static let maxHeldUnits = 4096
  static let maxWaitingBytes = 1 << 20
  static let maxHeldBytes = 4 << 20

  let settings: InspectSettings
  let wants: Wants
  var format = MediaFormat.annexB
  var form: ReportForm
  var recognition = InputRecognition()
  var findings = FindingLog()
  var totals = ReportTotals()

  // What is read.
  var rbsp = RBSP()
  var slice = SliceHeader()
  var record = SyntaxRecord()
  /// Where details of a unit are written before they get an array of their size.
  var details = JSONWriter()
  var sets = ParameterSets()
  var catalog = ParameterSetCatalog()
  /// Changes of the set of each id, so that a cached one can be told from the one in force.
  var spsVersions = [Int](repeating: 0, count: 32)
  /// Entries whose scaling lists wait for the sequence parameter set of each id.
  var guessedPPS = [[Int]](repeating: [], count: 32)
  var missingSets: Set<Int> = []
  /// The picture parameter set of the last data partition A.
  var partitionPPS = -1

  // Access units and pictures.
  var tracker = AccessUnitTracker()
  var waiting: [WaitingUnit] = []
  var waitingBytes = 0
  /// Units of the open access unit that wait for its end.
  var held: [UnitRecord] = []
  var heldUnitBytes = 0
  var accessUnit: AccessUnitRecord?
  var active: ActiveSPS?
  var orderCount = PictureOrderCount()
  var frameNumber = FrameNumber()
  var fieldPairing = FieldPairing()
  var frame: FrameInProgress?
  var order: OutputOrder
  var outputs: [OutputFrame] = []
  var groups = GroupCollector()
  var currentGroup: Int?
  var meter = BitRateMeter()

  // The container.
  var container = ContainerProgress()
  /// Bytes of the stream in the container.
  var streamBytes = 0

  // What is kept for the end of a `json` report.
  var accessUnits = RecordList<AccessUnitRecord>()
  var outputIndexes = RecordList<Int32>()
  var groupRecords = RecordList<GroupRecord>()
  /// Access units of frames whose turn of output has not come, in a form of lines.
  var unordered: [AccessUnitRecord] = []

  init(_ settings: InspectSettings) {
    self.settings = settings
    wants = Wants(settings)
    form = ReportForm(settings)
    // Positions over the whole stream are for those who see them.
    let keepsOrder = settings.format == .json && (wants.accessUnits || wants.groups)
    order =
      keepsOrder
      ? .wholePeriods(PeriodSorter()) : .bumping(DecodedPictureBuffer())
  }

  /// A NAL unit that may belong to the access unit of the next slice or to the open one.
  struct WaitingUnit: Sendable {
    var record: UnitRecord
    var isListed: Bool
    /// The bytes of an SEI NAL unit: read once the sequence parameter set is known.
    var sei: [UInt8] = []
  }

  /// Takes the next unit, of which `bytes` are the kept ones; `contained`: it is in a container.
  mutating func add(
    _ extent: NALUnitExtent, _ bytes: Span<UInt8>, contained: ContainedUnit? = nil
  ) throws(Problem) {
    let place = UnitPlace(index: totals.units, offset: contained?.offset ?? extent.offset)
    guard extent.size > 0 else {
      let hasLength = contained?.lengthSize ?? 0 > 0
      note(
        .warning, .emptyNALUnit,
        hasLength
          ? "A NAL unit has a length of 0." : "A start code has no NAL unit behind it.",
        UnitPlace(index: nil, offset: place.offset))
      recognition.add(extent, bytes, .none)
      return
    }
    let header = NALUnitHeader(bytes)
    totals.units += 1
    totals.unitsByType[Int(header.type.rawValue)] += 1
    noteDefects(of: extent, header, place)

    var unit = UnitRecord(extent, contained, header, index: totals.units - 1)
    let isListed = form.selects(header.type)
    if isListed { totals.listedUnits += 1 }
    try checkRecordCount()
    var evidence = InputRecognition.Evidence.none
    var placement: AccessUnitTracker.Slice?
    switch header.type {
    case .nonIDRSlice, .idrSlice, .partitionA, .auxiliarySlice, .sliceExtension,
      .depthSliceExtension:
      (placement, evidence) = readSlice(&unit, header, bytes, place, isListed: isListed)
    case .partitionB, .partitionC, .prefix, .accessUnitDelimiter:
      readSupplement(&unit, header, bytes, place, isListed: isListed)
    case .sps, .pps, .subsetSPS, .spsExtension, .depthParameterSet:
      evidence = readParameterSet(header, extent, bytes, place)
    default:
      break
    }
    if isListed { describe(&unit, header) }
    recognition.add(extent, bytes, evidence)
    forgetLargeBuffers()

    let keepsSEI = header.type == .sei
    switch tracker.place(header.type, placement) {
    case .waits:
      var waiter = WaitingUnit(record: unit, isListed: isListed)
      if keepsSEI { waiter.sei = Array(copying: bytes) }
      waiting.append(waiter)
      waitingBytes += waiter.sei.count
      if waiting.count > Self.maxHeldUnits || waitingBytes > Self.maxWaitingBytes {
        releaseWaiting()
      }
    case .joins:
      joinWaiting()
      if keepsSEI { readSEI(Array(copying: bytes), &unit, isListed: isListed) }
      join(&unit, isListed: isListed)
    case .opens:
      openAccessUnit(with: unit, header, hasSets: (placement?.picture.spsID ?? -1) >= 0)
      join(&unit, isListed: isListed)
    }
  }

  /// One unit of the largest kind would have every job hold megabytes.
  mutating func forgetLargeBuffers() {
    if record.isLarge { record = SyntaxRecord() }
    if details.bytes.capacity > 1 << 16 { details = JSONWriter() }
  }

  /// Refuses a document of more records than it may have; lists of other forms need no memory.
  private func checkRecordCount() throws(Problem) {
    guard settings.format == .json else { return }
    let limit = settings.maxNALUnits
    let accessUnits = wants.accessUnits || wants.groups ? totals.accessUnits : 0
    guard totals.listedUnits > limit || accessUnits > limit else { return }
    throw Problem(
      .tooManyNALUnits,
      "A json report lists up to \(limit) NAL units or access units (max_nal_units); ndjson and csv "
        + "have no limit.", members: [.init("limit", limit)])
  }

  /// Bytes of memory that records take, and the text that is not handed on yet.
  var heldBytes: Int {
    let keepsRecords = settings.format == .json && (wants.accessUnits || wants.groups)
    return form.pendingCount + heldUnitBytes + catalog.heldBytes
      + container.entries.count * MemoryLayout<ContainerEntry>.stride
      + (keepsRecords ? totals.accessUnits * MemoryLayout<AccessUnitRecord>.stride : 0)
  }

  /// No unit follows: `scanned` bytes were all.
  mutating func finish() {
    closeAccessUnit()
    finishFrame()
    releaseWaiting()
    flushGuesses()
    order.finish(to: &outputs)
    deliverOutputs()
    deliverGroups(atEnd: true)
    checkMeasuredBitRate()
    checkTracks()
    closeFindings()
  }
}

/// What settings ask for, at hand for every unit.
struct Wants: Sendable {
  let sliceHeaders: Bool
  let sei: Bool
  let accessUnits: Bool
  let groups: Bool

  init(_ settings: InspectSettings) {
    let isTable = settings.format == .csv
    sliceHeaders = settings.include.contains(.sliceHeaders) && !isTable
    sei = settings.include.contains(.sei) && !isTable
    accessUnits = settings.include.contains(.accessUnits)
    groups = settings.include.contains(.gops)
  }
}

/// Which NAL unit a finding is about.
struct UnitPlace: Equatable, Sendable {
  /// Nil for one that is not listed.
  let index: Int?
  let offset: Int

  init(index: Int?, offset: Int) {
    self.index = index
    self.offset = offset
  }

  init(_ unit: UnitRecord) {
    self.init(index: unit.index, offset: unit.offset)
  }
}

extension UnitRecord {
  init(
    _ extent: NALUnitExtent, _ contained: ContainedUnit?, _ header: NALUnitHeader, index: Int
  ) {
    let lengthSize = contained?.lengthSize ?? 0
    self.init(
      index: index, offset: contained?.offset ?? extent.offset,
      start: contained?.start ?? extent.start, streamOffset: extent.offset, size: extent.size,
      startCodeSize: lengthSize > 0 ? 0 : extent.startCodeSize, lengthSize: lengthSize,
      trailingZeroBytes: extent.trailingZeroBytes, refIDC: header.refIDC, type: header.type)
  }
}

extension [UInt8] {
  init(copying bytes: Span<UInt8>) {
    self.init()
    append(copying: bytes)
  }
}

extension StreamReport {
  /// Something else than zero bytes precedes the first start code.
  mutating func noteLeadingData(_ count: Int) {
    guard count > 0 else { return }
    recognition.noteLeadingData()
    note(
      .warning, .dataOutsideNALUnits, "\(count) bytes precede the first start code.",
      UnitPlace(index: nil, offset: 0))
  }
}
