import NaluService
import Testing

/// A stream that must give a finding.
struct Damage: CustomTestStringConvertible, Sendable {
  var code: String
  var severity: String
  var nalUnit: Int?
  var element: String?
  var bit: Int?
  var stream: [UInt8]

  var testDescription: String { code }

  init(
    _ code: String, _ severity: String, unit: Int? = nil, element: String? = nil,
    bit: Int? = nil, _ stream: [UInt8]
  ) {
    self.code = code
    self.severity = severity
    nalUnit = unit
    self.element = element
    self.bit = bit
    self.stream = stream
  }
}

@Suite struct InspectFindingTests {
  private static func idr(_ stream: inout StreamBuilder) {
    stream.add(2, frameNum: 0, lsb: 0, idr: true)
  }

  private static func stream(
    _ sequence: StreamBuilder.Sequence = StreamBuilder.Sequence(),
    _ build: (inout StreamBuilder) -> Void
  ) -> [UInt8] {
    StreamBuilder.stream(sequence, build)
  }

  /// One picture after a changed sequence parameter set.
  private static func picture(
    _ change: (inout StreamBuilder.Sequence) -> Void
  ) -> [UInt8] {
    var sequence = StreamBuilder.Sequence()
    change(&sequence)
    return stream(sequence) { idr(&$0) }
  }

  /// A stream whose second half is `unit`.
  private static func with(_ header: UInt8, _ payload: [UInt8]) -> [UInt8] {
    stream { stream in
      idr(&stream)
      stream.unit(header, payload)
    }
  }

  static let damages = [
    Damage(
      "forbidden-zero-bit", "warning", unit: 3, element: "forbidden_zero_bit", bit: 0,
      with(0x86, [5, 1, 0, 0x80])),
    // Ends inside log2_max_frame_num_minus4, or before.
    Damage(
      "sps-truncated", "error", unit: 3, element: "log2_max_frame_num_minus4", bit: 33,
      with(0x67, [77, 0, 30, 0x80])),
    Damage(
      "pps-truncated", "error", unit: 3, element: "num_slice_groups_minus1", bit: 12,
      with(0x68, [0xC0])),
    Damage(
      "slice-header-truncated", "error", unit: 3, element: "pic_order_cnt_lsb", bit: 15,
      with(0x41, [0xE1])),
    // The payload is said to have nine bytes.
    Damage("sei-truncated", "error", unit: 3, with(0x06, [5, 9, 1, 2, 3, 0x80])),
    Damage("nal-unit-truncated", "error", unit: 3, with(0x74, [0x40])),
    Damage(
      "missing-sps", "error", unit: 1, element: "pic_parameter_set_id",
      {
        var builder = StreamBuilder()
        builder.pps()
        idr(&builder)
        idr(&builder)
        return builder.bytes
      }()),
    Damage(
      "missing-pps", "error", unit: 1, element: "pic_parameter_set_id",
      {
        var builder = StreamBuilder()
        builder.sps()
        idr(&builder)
        return builder.bytes
      }()),
    Damage(
      "no-keyframe-at-start", "warning", unit: 2, stream { $0.add(0, frameNum: 3, lsb: 2) }),
    Damage(
      "frame-num-gap", "error", unit: 3, element: "frame_num",
      stream { stream in
        idr(&stream)
        stream.add(0, frameNum: 3, lsb: 6)
      }),
    Damage(
      "parameter-set-changed", "info", unit: 3,
      stream { stream in
        idr(&stream)
        stream.sequence.width = 5
        stream.sps()
      }),
    Damage(
      "trailing-data", "warning", unit: 0, element: "rbsp_trailing_bits",
      {
        var builder = StreamBuilder()
        builder.unit(0x67, StreamBuilder.payload(of: builder.sequence) + [0x80])
        return builder.bytes
      }()),
    Damage(
      "data-outside-nal-units", "warning", unit: 2,
      stream { stream in
        idr(&stream)
        stream.raw([0, 0, 0, 9, 9, 0, 0, 1, 9, 0xF0])
      }),
    Damage(
      "empty-nal-unit", "warning",
      stream { stream in
        idr(&stream)
        stream.raw([0, 0, 1])
      }),
    Damage(
      "emulation-prevention-violation", "error", unit: 3, bit: 40,
      stream { stream in
        idr(&stream)
        stream.raw([0, 0, 1, 0x0C, 0xFF, 0xFF, 0, 0, 2, 0x80])
      }),
    Damage(
      "reserved-nal-unit-type", "info", unit: 3, element: "nal_unit_type", bit: 3,
      with(0x16, [0x80])),
    Damage(
      "value-out-of-range", "warning", unit: 0, element: "max_num_ref_frames",
      picture { $0.maxNumRefFrames = 17 }),
    Damage(
      "level-exceeded", "error", unit: 2, element: "max_num_ref_frames",
      picture {
        $0.level = 10
        $0.width = 11
        $0.height = 9
        $0.maxNumRefFrames = 5
      }),
    Damage(
      "crop-exceeds-picture", "error", unit: 0, picture { $0.crop = (left: 16, 16, 0, 0) }),
    Damage(
      "access-unit-boundary", "warning", unit: 3, element: "first_mb_in_slice",
      stream { stream in
        idr(&stream)
        idr(&stream)
      }),
    Damage(
      "too-many-parameter-sets", "warning", unit: 1024,
      {
        var builder = StreamBuilder()
        for width in 1...1025 {
          builder.sequence.width = width
          builder.sps()
        }
        return builder.bytes
      }()),
  ]

  @Test(arguments: damages)
  func damageGivesAFindingAndNoLoss(damage: Damage) throws {
    let json = try report(damage.stream)
    let findings = try #require(json["findings"]).items
    let finding = try #require(
      findings.first { $0["code"]?.text == damage.code }, "\(findings)")
    #expect(finding["severity"]?.text == damage.severity)
    #expect(finding["nal_unit"]?.int == damage.nalUnit)
    if let element = damage.element { #expect(finding["element"]?.text == element) }
    if let bit = damage.bit { #expect(finding["bit"]?.int == bit) }
    #expect(finding["message"]?.text?.isEmpty == false)
    if let unit = damage.nalUnit {
      let listed = try #require(json["nal_units"]).items
      #expect(finding["offset"] == listed[unit]["offset"])
    }
  }

  /// H.264 §7.4.1. The header byte of each unit, and what nal_unit_type it has.
  @Test(
    arguments: [
      (0x05, [0xB8, 0x80]), (0x07, [77, 0, 30, 0x80]), (0x08, [0xC0]), (0x0D, [0x80]),
      (0x0F, [83, 0, 30, 0x80]), (0x26, [5, 1, 0, 0x80]), (0x29, [0xF0]), (0x2A, []), (0x2B, []),
      (0x6C, [0xFF, 0x80]),
    ] as [(UInt8, [UInt8])])
  func aReferenceIDCAgainstTheTypeIsFound(header: UInt8, payload: [UInt8]) throws {
    func findings(_ header: UInt8) throws -> [JSON] {
      try report(Self.with(header, payload))["findings"]?.items.filter {
        $0["element"]?.text == "nal_ref_idc"
      } ?? []
    }
    let found = try findings(header)
    #expect(found.count == 1)
    #expect(found.first?["code"]?.text == "value-out-of-range")
    #expect(found.first?["severity"]?.text == "warning")
    #expect(found.first?["nal_unit"]?.int == 3)
    #expect(found.first?["bit"]?.int == 1)
    #expect(try findings(header & 0x60 == 0 ? header | 0x20 : header & 0x1F) == [])
  }

  @Test func anIntactStreamGivesNone() throws {
    #expect(try report(InspectReportTests.small)["findings"] == .array([]))
  }

  @Test func outputOutOfOrderIsFoundByBumping() throws {
    var sequence = StreamBuilder.Sequence()
    sequence.restriction = (1, 1)
    sequence.maxNumRefFrames = 1
    let stream = Self.stream(sequence) { stream in
      Self.idr(&stream)
      stream.add(0, frameNum: 1, lsb: 8)
      stream.add(0, frameNum: 2, lsb: 4)
      stream.add(0, frameNum: 3, lsb: 2)
    }
    let found = try lines(stream).filter { $0["code"]?.text == "output-order" }
    #expect(!found.isEmpty)
    #expect(try report(stream)["findings"] == .array([]))
  }

  @Test func codesAreAllCovered() {
    let tested = Set(
      Self.damages.map(\.code) + ContainerFindingTests.damages.map(\.code) + [
        "output-order", "findings-omitted",
      ])
    #expect(tested == Set(InspectSettings.findingCodes))
  }

  @Test func gapsThatAreAllowedAreNone() throws {
    var sequence = StreamBuilder.Sequence()
    sequence.allowsGaps = true
    let stream = Self.stream(sequence) { stream in
      Self.idr(&stream)
      stream.add(0, frameNum: 3, lsb: 6)
    }
    #expect(try report(stream)["findings"] == .array([]))
  }

  @Test func countsEmulationPreventionBytesInTheBit() throws {
    // 00 00 03 00 00 03 00 in front of the element that the cut hits.
    let stream = Self.with(0x06, [5, 60] + [UInt8](repeating: 0, count: 40))
    let finding = try #require(
      try report(stream)["findings"]?.items.first { $0["code"]?.text == "sei-truncated" })
    #expect(finding["bit"]?.int == 24)
  }

  @Test func listsTheFirstFindingsOfACodeAndCountsTheRest() throws {
    let stream = Self.stream { stream in
      Self.idr(&stream)
      for _ in 0..<600 { stream.unit(0x16, [0x80]) }
      stream.unit(0x8C, [0xFF, 0x80])
    }
    let json = try report(stream)
    let codes = try #require(json["findings"]).items.compactMap { $0["code"]?.text }
    #expect(
      codes == [String](repeating: "reserved-nal-unit-type", count: 250)
        + ["forbidden-zero-bit", "findings-omitted"])
    let last = try #require(json["findings"]?.items.last)
    #expect(last["severity"]?.text == "info")
    #expect(last["message"]?.text?.hasPrefix("350 ") == true)
    #expect(json["summary"]?["finding_count"]?["info"]?.int == 600)
    #expect(json["summary"]?["finding_count"]?["warning"]?.int == 1)
    let found = try lines(stream).filter { $0["kind"]?.text == "finding" }
    #expect(found.count == 252)
    #expect(found.last?["code"]?.text == "findings-omitted")
  }

  @Test func aCutAnywhereLosesNoOtherUnit() throws {
    let whole = InspectReportTests.small
    for length in 24..<whole.count {
      let cut = Array(whole[..<length])
      let json = try report(cut)
      let size = try #require(json["source"]?["size"]?.int)
      #expect(size == length)
      #expect(json["nal_units"]?.items.first?["nal_unit_type"]?.int == 7)
    }
  }

  @Test func hugeDeclaredSizesCostNothing() throws {
    // A slice group map of 2^31 macroblocks, and an SEI message of as many bytes.
    var bits = BitString()
    for value in [1, 0] { bits.ue(value) }
    bits.u(2, 0)
    for value in [1, 6, 0x7FFF_FFFE] { bits.ue(value) }
    let stream = Self.stream { stream in
      Self.idr(&stream)
      stream.unit(0x68, bits.payload())
      stream.unit(0x06, [5] + [UInt8](repeating: 255, count: 2000) + [1, 0x80])
    }
    let codes = try #require(try report(stream)["findings"]).items.compactMap { $0["code"]?.text }
    #expect(codes.contains("pps-truncated") || codes.contains("value-out-of-range"))
    #expect(codes.contains("sei-truncated"))
  }
}
