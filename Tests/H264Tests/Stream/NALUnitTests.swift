import H264
import Testing

@Suite struct NALUnitTests {
  @Test func everyTypeHasAName() {
    let names = (0..<32).map { NALUnitType(rawValue: $0).name }
    #expect(names.allSatisfy { !$0.isEmpty })
    #expect(names[1] == "non-IDR slice")
    #expect(names[5...9] == ["IDR slice", "SEI", "SPS", "PPS", "AUD"])
    #expect(names[24...] == ArraySlice(repeating: "unspecified", count: 8))
    #expect((0..<32).filter { NALUnitType(rawValue: $0).isReserved } == [17, 18, 22, 23])
  }

  @Test func readsTheFirstByte() {
    let header = NALUnitHeader([0xE5].span)
    #expect(header.forbiddenZeroBit)
    #expect(header.refIDC == 3)
    #expect(header.type == .idrSlice)
    #expect(header.size == 1)
    #expect(header.extension == nil)
  }

  @Test(
    arguments: [
      // idr_flag, priority_id 63, dependency_id 5, temporal_id 7 and output_flag of SVC.
      (
        [0x6E, 0xFF, 0x50, 0xE7], "nal_unit_header_svc_extension", 4,
        ["idr_flag": 1, "priority_id": 63, "dependency_id": 5, "quality_id": 0, "temporal_id": 7]
      ),
      (
        [0x74, 0x40, 0x00, 0x47], "nal_unit_header_mvc_extension", 4,
        ["non_idr_flag": 1, "priority_id": 0, "view_id": 1, "anchor_pic_flag": 1]
      ),
      (
        [0x75, 0x81, 0x5A], "nal_unit_header_3davc_extension", 3,
        ["view_idx": 2, "depth_flag": 1, "non_idr_flag": 0, "temporal_id": 6, "anchor_pic_flag": 1]
      ),
      (
        [0x75, 0x00, 0x10, 0x01], "nal_unit_header_mvc_extension", 4,
        ["non_idr_flag": 0, "view_id": 64, "inter_view_flag": 0]
      ),
    ] as [([UInt8], String, Int, [String: Int])])
  func readsTheExtensionOfTypes14And20And21(
    unit: [UInt8], name: String, size: Int, expected: [String: Int]
  ) throws {
    let header = NALUnitHeader(unit.span)
    let `extension` = try #require(header.extension)
    #expect(`extension`.name == name)
    #expect(header.size == size)
    let values = Dictionary(uniqueKeysWithValues: `extension`.elements.map { ($0.name, $0.value) })
    for (element, value) in expected { #expect(values[element] == value, "\(element)") }
  }

  @Test(arguments: [[0x6E], [0x6E, 0x80], [0x74, 0, 0], [0x75, 0x80]] as [[UInt8]])
  func knowsWhenTheExtensionIsCutOff(unit: [UInt8]) {
    let header = NALUnitHeader(unit.span)
    #expect(header.isTruncated)
    #expect(header.extension == nil)
  }

  @Test(
    arguments: [
      ([0x67, 1, 2], [1, 2], 0),
      ([0x67, 0, 0, 3, 1], [0, 0, 1], 1),
      ([0x67, 0, 0, 3, 0, 0, 3, 0], [0, 0, 0, 0, 0], 2),
      ([0x67, 5, 0, 0, 3], [5, 0, 0], 1),
      ([0x67, 0, 3, 0, 0, 4], [0, 3, 0, 0, 4], 0),
    ] as [([UInt8], [UInt8], Int)])
  func removesEmulationPrevention(unit: [UInt8], payload: [UInt8], removed: Int) {
    var rbsp = RBSP()
    rbsp.load(unit.span, headerSize: 1)
    #expect(rbsp.bytes == payload)
    #expect(rbsp.removedBytes == removed)
  }

  @Test(arguments: [(0, 8), (15, 23), (16, 32), (31, 47), (32, 56), (39, 63)])
  func findsABitOfThePayloadInTheUnit(bit: Int, expected: Int) {
    var rbsp = RBSP()
    rbsp.load(([0x67, 0, 0, 3, 0, 0, 3, 7] as [UInt8]).span, headerSize: 1)
    #expect(rbsp.bitInUnit(bit) == expected)
  }
}
