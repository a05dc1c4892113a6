import NaluService
import Testing

/// NAL units that end too early.
@Suite struct InspectCutTests {
  /// Codes with which a cut unit of a type may be found.
  struct Case: Sendable, CustomTestStringConvertible {
    var name: String
    var unit: [UInt8]
    var codes: Set<String>

    var testDescription: String { name }
  }

  private static let sequence: StreamBuilder.Sequence = {
    var sequence = StreamBuilder.Sequence()
    sequence.profile = 100
    sequence.isFrameOnly = false
    sequence.crop = (1, 1, 1, 1)
    sequence.timing = (1, 50)
    sequence.restriction = (2, 4)
    sequence.hrd = (900, 1900)
    return sequence
  }()

  private static func builder() -> StreamBuilder {
    var builder = StreamBuilder()
    builder.sequence = sequence
    builder.picture.isCABAC = true
    builder.picture.redundantPicCntPresent = true
    return builder
  }

  /// What `write` writes, without its start code.
  private static func unit(_ write: (inout StreamBuilder) -> Void) -> [UInt8] {
    var builder = builder()
    write(&builder)
    return Array(builder.bytes.dropFirst(4))
  }

  static let cases = [
    Case(name: "SPS", unit: unit { $0.sps() }, codes: ["sps-truncated", "trailing-data"]),
    Case(name: "PPS", unit: unit { $0.pps() }, codes: ["pps-truncated", "trailing-data"]),
    Case(
      name: "slice header",
      unit: unit { builder in
        builder.add(1, frameNum: 3, lsb: 40) {
          $0.memoryManagement = [[1, 2], [3, 1, 4], [6, 0], [2, 7]]
          $0.structure = .bottom
          $0.redundantPicCnt = 2
          $0.size = 0
        }
      }, codes: ["slice-header-truncated"]),
    Case(
      name: "SEI",
      unit: unit { builder in
        builder.unit(
          0x06,
          // recovery_point, user_data_unregistered, display_orientation.
          [6, 1, 0x84, 5, 20] + Array("0123456789abcdefHi!!".utf8)
            + [47, 3, 0x20, 0x00, 0x14, 0x80])
      }, codes: ["sei-truncated", "trailing-data"]),
  ]

  @Test(arguments: cases)
  func aCutAtEveryByteIsFoundAndNothingElseIsLost(example: Case) throws {
    var whole = Self.builder()
    whole.parameterSets()
    let before = 2
    func stream(_ unit: [UInt8]) -> [UInt8] {
      var builder = whole
      builder.add(2, frameNum: 0, lsb: 0, idr: true)
      builder.raw([0, 0, 0, 1] + unit)
      builder.delimiter()
      builder.parameterSets()
      builder.add(2, frameNum: 0, lsb: 0, idr: true) { $0.idrPicID = 1 }
      return builder.bytes
    }
    let intact = try report(stream(example.unit))["findings"]?.items.filter {
      $0["nal_unit"]?.int == before + 1
    }
    #expect(intact?.contains { example.codes.contains($0["code"]?.text ?? "") } == false)
    for length in 1..<example.unit.count {
      var cut = Array(example.unit[..<length])
      // Zero bytes at the end would belong to no unit.
      while cut.last == 0 { cut.removeLast() }
      let json = try report(stream(cut)) { $0.include = [.nalUnits, .findings] }
      let units = try #require(json["nal_units"]).items
      #expect(units.count == 8)
      #expect(units[before + 1]["size"]?.int == cut.count)
      let found = try #require(json["findings"]).items.filter {
        $0["nal_unit"]?.int == before + 1 && example.codes.contains($0["code"]?.text ?? "")
      }
      #expect(!found.isEmpty, "cut to \(length) bytes")
    }
  }
}
