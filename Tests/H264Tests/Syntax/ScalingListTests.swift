import H264
import Testing

@Suite struct ScalingListTests {
  /// Writes a High sequence parameter set up to its scaling lists.
  private func set(
    chromaFormat: Int, lists: (inout BitWriter) -> Void
  ) throws -> (set: SequenceParameterSet, issues: [SyntaxError], record: String) {
    var writer = BitWriter()
    writer.bytes([244, 0, 40])
    writer.ue(0, chromaFormat)
    if chromaFormat == 3 { writer.u("0") }
    writer.ue(0, 0)
    writer.u("01")
    lists(&writer)
    writer.ue(0, 2, 1)
    writer.u("0")
    writer.ue(19, 14)
    writer.u("1100")
    writer.trailingBits()
    return try parseSequenceParameterSet(writer.rbsp)
  }

  @Test func decodesDeltasAndKeepsTheLastValue() throws {
    let (set, issues, record) = try set(chromaFormat: 1) { writer in
      writer.u("1")
      // 8 + 8 = 16, 16 - 6 = 10, then 0: ten to the end.
      writer.se(8, -6, -10)
      writer.u("1")
      // 8 - 8 = 0 at once: the default list.
      writer.se(-8)
      writer.u("000000")
    }
    #expect(issues == [])
    let lists = try #require(set.scalingMatrix?.lists)
    #expect(lists.count == 8)
    #expect(lists[0]?.values == [16] + [UInt8](repeating: 10, count: 15))
    #expect(lists[1]?.useDefault == true)
    #expect(lists[1]?.values == [])
    #expect(lists[2...].allSatisfy { $0 == nil })
    #expect(record.contains("seq_scaling_list_present_flag:[1,1,0,0,0,0,0,0],"))
    #expect(
      record.contains(
        """
        scaling_list:[{delta_scale:[8,-6,-10],use_default:0,values:[16,10,10,10,10,10,10,10,10,10,\
        10,10,10,10,10,10]},{delta_scale:[-8],use_default:1},{fall_back:list 1},\
        {fall_back:Default_4x4_Inter},{fall_back:list 3},{fall_back:list 4},\
        {fall_back:Default_8x8_Intra},{fall_back:Default_8x8_Inter}]
        """))
  }

  @Test func wrapsAroundAt256() throws {
    let (set, _, _) = try set(chromaFormat: 1) { writer in
      writer.u("1")
      writer.se(-10, 127, 127)
      for _ in 3..<16 { writer.se(0) }
      writer.u("0000000")
    }
    // 8 - 10 = -2 is 254; 254 + 127 = 381 is 125; 125 + 127 = 252.
    #expect(set.scalingMatrix?.lists[0]?.values.prefix(4) == [254, 125, 252, 252])
  }

  @Test func thereAreTwelveListsFor444() throws {
    let (set, issues, record) = try set(chromaFormat: 3) { $0.u("000000000000") }
    #expect(issues == [])
    #expect(set.scalingMatrix?.lists.count == 12)
    #expect(record.contains("{fall_back:list 6},{fall_back:list 7},{fall_back:list 8}"))
    #expect(set.displaySize?.width == 320)
  }
}
