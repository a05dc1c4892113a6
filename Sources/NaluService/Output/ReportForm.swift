internal import H264

/// Writes the parts of a report in the form asked for, as they become known.
struct ReportForm: Sendable {
  private let format: InspectSettings.Format
  private let types: Set<UInt8>?
  private let range: Range<Int>
  private let listsUnits: Bool
  private var writer = JSONWriter()
  /// NAL units of the wanted types so far.
  private var matchingUnits = 0
  private var hasBegun = false
  /// Rows have the columns of a stream in a container.
  var hasTimes = false

  init(_ settings: InspectSettings) {
    format = settings.format
    types = settings.nalUnitTypes
    let first = max(0, settings.first)
    let (end, overflow) = first.addingReportingOverflow(max(0, settings.limit ?? Int.max))
    range = first..<(overflow ? Int.max : end)
    listsUnits = settings.listsUnits
  }

  var contentType: String {
    switch format {
    case .json: "application/json"
    case .ndjson: "application/x-ndjson"
    case .csv: "text/csv"
    }
  }

  /// Bytes that are written and not taken yet.
  var pendingCount: Int { writer.bytes.count }

  /// Moves the pending bytes to the end of `output`.
  mutating func movePending(to output: inout [UInt8]) {
    writer.moveBytes(to: &output)
  }

  /// Whether the next NAL unit, of that type, is to be listed.
  mutating func selects(_ type: NALUnitType) -> Bool {
    guard listsUnits, types?.contains(type.rawValue) ?? true else { return false }
    defer { matchingUnits += 1 }
    return range.contains(matchingUnits)
  }

  // MARK: Parts

  mutating func unit(_ unit: UnitRecord) {
    begin()
    switch format {
    case .csv:
      row(unit)
    case .json:
      writer.beginObject()
      writer.members(unit)
      writer.endObject()
    case .ndjson:
      line("nal_unit") { $0.members(unit) }
    }
  }

  /// Writes one object of the report in the line-by-line form; does nothing in the others.
  mutating func line(_ kind: String, _ write: (inout JSONWriter) -> Void) {
    guard format == .ndjson else { return }
    begin()
    writer.beginObject()
    writer.member("kind", kind)
    write(&writer)
    writer.endObject()
    writer.newLine()
  }

  /// Writes a member of the document in `json`; does nothing in the others.
  mutating func section(_ name: String, _ write: (inout JSONWriter) -> Void) {
    guard format == .json else { return }
    endUnits()
    writer.key(name)
    write(&writer)
  }

  /// Goes on with a section.
  mutating func more(_ write: (inout JSONWriter) -> Void) {
    write(&writer)
  }

  mutating func end() {
    begin()
    guard format == .json else { return }
    endUnits()
    writer.endObject()
    writer.newLine()
  }

  // MARK: Frame

  private mutating func begin() {
    guard !hasBegun else { return }
    hasBegun = true
    switch format {
    case .json:
      writer.beginObject()
      if listsUnits {
        writer.key("nal_units")
        writer.beginArray()
        unitsAreOpen = true
      }
    case .csv:
      writer.literal(hasTimes ? Self.columns + ",length_size,pts,dts" : Self.columns)
      writer.newLine()
    case .ndjson:
      break
    }
  }

  private var unitsAreOpen = false

  private mutating func endUnits() {
    begin()
    if unitsAreOpen { writer.endArray() }
    unitsAreOpen = false
  }

  private static let columns =
    "index,offset,start_code_size,size,nal_ref_idc,nal_unit_type,name,access_unit,keyframe,slice,"
    + "slice_qp"

  private mutating func optional(_ number: Int?) {
    if let number { writer.value(number) } else { writer.literal("") }
  }

  private mutating func row(_ unit: UnitRecord) {
    writer.value(unit.index)
    writer.value(unit.offset)
    if unit.lengthSize > 0 { writer.literal("") } else { writer.value(unit.startCodeSize) }
    writer.value(unit.size)
    writer.value(unit.refIDC)
    writer.value(Int(unit.type.rawValue))
    writer.literal(unit.type.name)
    optional(unit.accessUnit)
    writer.value(unit.isKeyframe)
    writer.literal(unit.slice?.name ?? "")
    optional(unit.sliceQP)
    if hasTimes {
      optional(unit.lengthSize > 0 ? unit.lengthSize : nil)
      optional(unit.times?.pts)
      optional(unit.times?.dts)
    }
    writer.newLine()
  }
}
