import H264
import Testing

@Suite struct SyntaxRecordTests {
  @Test func loopBecomesOneArrayForEachElement() {
    var record = SyntaxRecord()
    record.add("count", 3)
    record.beginLoop()
    for turn in 0..<3 {
      record.add("flag", turn % 2)
      if turn % 2 == 1 { record.add("value", 10 * turn) }
      record.nextTurn()
    }
    record.end()
    #expect(record.text == "count:3,flag:[0,1,0],value:[null,10,null]")
  }

  @Test func loopThatBeginsLaterKeepsItsIndexes() {
    var record = SyntaxRecord()
    record.beginLoop(from: 1)
    record.add("reference", 7)
    record.nextTurn()
    record.end()
    #expect(record.text == "reference:[null,7]")
  }

  @Test func loopsAndObjectsInLoopsBecomeNestedItems() {
    var record = SyntaxRecord()
    record.beginObject("structure")
    record.beginLoop()
    for turn in 0..<2 {
      record.beginLoop()
      for inner in 0..<turn + 1 {
        record.add("x", inner)
        record.nextTurn()
      }
      record.end()
      if turn == 1 {
        record.beginObject("called")
        record.add("y", 5)
        record.beginArray("list")
        record.add("", 1)
        record.end()
        record.end()
      }
      record.nextTurn()
    }
    record.end()
    record.end()
    #expect(record.text == "structure:{x:[[0],[0,1]],called:[null,{y:5,list:[1]}]}")
  }

  @Test func failedParseLeavesABalancedRecord() throws {
    let rbsp: [UInt8] = [0b1010_0000]
    var reader = BitReader(rbsp.span, record: SyntaxRecord())
    reader.record?.beginObject("outer")
    reader.record?.beginLoop()
    _ = try reader.flag("first")
    _ = try reader.flag("second")
    reader.record?.nextTurn()
    _ = try reader.flag("first")
    let record = reader.takeRecord()
    #expect(record?.text == "outer:{first:[1,1],second:[0,null]}")
    #expect(reader.record == nil)
  }
}
