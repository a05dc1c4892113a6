import FoundationEssentials
import H264
import Platform
import Testing

@testable import NaluService

@Suite struct JSONWriterTests {
  private static func text(_ write: (inout JSONWriter) -> Void) -> String {
    var writer = JSONWriter()
    write(&writer)
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  @Test func setsCommas() {
    let text = Self.text { writer in
      writer.beginObject()
      writer.member("a", 1)
      writer.key("b")
      writer.beginArray()
      writer.value(true)
      writer.beginObject()
      writer.endObject()
      writer.null()
      writer.beginArray()
      writer.endArray()
      writer.endArray()
      writer.member("c", nil as Int?)
      writer.endObject()
    }
    #expect(text == #"{"a":1,"b":[true,{},null,[]],"c":null}"#)
  }

  @Test(
    arguments: [
      (0, "0"), (7, "7"), (-7, "-7"), (10, "10"), (4_294_967_296, "4294967296"),
      (.max, "9223372036854775807"), (.min, "-9223372036854775808"),
    ] as [(Int, String)])
  func writesNumbers(number: Int, digits: String) {
    #expect(Self.text { $0.value(number) } == digits)
  }

  @Test(
    arguments: [
      "", "plain", "\"quoted\" \\ back", "line\nreturn\rtab\t", "\u{0}\u{1F}\u{7F}", "Größe → 🎬",
    ])
  func escapesText(text: String) throws {
    let written = Self.text { $0.value(text) }
    #expect(try JSONDecoder().decode([String].self, from: Data("[\(written)]".utf8)) == [text])
  }

  @Test func writesBytesAsHexadecimalDigits() {
    #expect(Self.text { $0.hex(([0, 0x9F, 0xFF] as [UInt8]).span) } == "\"009fff\"")
  }

  @Test func goesOnWhereItWasAfterBytesWereTaken() {
    var writer = JSONWriter()
    writer.beginArray()
    writer.value(1)
    writer.removeAll()
    writer.value(2)
    writer.endArray()
    #expect(String(decoding: writer.bytes, as: UTF8.self) == ",2]")
  }

  @Test func printsARecord() {
    var record = SyntaxRecord()
    record.add("a", 1)
    record.beginObject("b")
    record.add("text", "x\"y")
    record.end()
    record.beginLoop()
    record.add("c", 4)
    record.nextTurn()
    record.nextTurn()
    record.add("c", 5)
    record.nextTurn()
    record.end()
    record.beginArray("d")
    record.beginObject("")
    record.add("e", -1)
    record.end()
    record.end()
    let text = Self.text { writer in
      writer.beginObject()
      writer.members(record)
      writer.endObject()
    }
    #expect(text == #"{"a":1,"b":{"text":"x\"y"},"c":[4,null,5],"d":[{"e":-1}]}"#)
  }

  @Test(
    arguments: [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="),
      ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
    ])
  func writesBase64(text: String, expected: String) {
    #expect(base64(Array(text.utf8)) == expected)
  }
}

@Suite struct BitRateMeterTests {
  @Test func measuresWholeSeconds() {
    var meter = BitRateMeter()
    // 30000/1001 frames per second: 30 frames begin in the first second, 60 in the first two.
    meter.begin(Ratio(30000, 1001))
    for index in 0..<65 { meter.add(frameOfBytes: index < 30 ? 10 : 20) }
    #expect(meter.peak == 8 * 20 * 30)
    #expect(meter.duration == 65 * 1001 / 30000.0)
    #expect(meter.mean(ofBytes: 1000) == Int((8000 * 30000.0 / 1001 / 65).rounded()))
  }

  @Test func knowsNothingWithoutAFrameRate() {
    var meter = BitRateMeter()
    meter.add(frameOfBytes: 10)
    meter.begin(nil)
    meter.add(frameOfBytes: 10)
    #expect(meter.duration == nil)
    #expect(meter.peak == nil)
    #expect(meter.mean(ofBytes: 10) == nil)
  }

  @Test func aStreamShorterThanASecondHasNoPeak() {
    var meter = BitRateMeter()
    meter.begin(Ratio(25, 1))
    for _ in 0..<24 { meter.add(frameOfBytes: 10) }
    #expect(meter.peak == nil)
    meter.add(frameOfBytes: 10)
    #expect(meter.peak == 2000)
  }
}

@Suite struct VectorSearchTests {
  @Test(arguments: 0..<300)
  func findsWhatThePlainSearchFinds(length: Int) {
    var bytes = (0..<length).map { UInt8(4 + $0 % 250) }
    #expect(vectorSearch(bytes.span, from: 2) == max(2, length) || length < 2)
    for place in 0..<max(0, length - 2) {
      let saved = bytes
      bytes[place] = 0
      bytes[place + 1] = 0
      for third in [0, 1, 3, 4] as [UInt8] {
        bytes[place + 2] = third
        for first in [2, place + 2, place + 3] where first < length {
          #expect(
            vectorSearch(bytes.span, from: first)
              == StartCodeScanner.plainSearch(in: bytes.span, from: first))
        }
      }
      bytes = saved
    }
  }
}
