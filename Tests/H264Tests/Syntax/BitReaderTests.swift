import H264
import Testing

@Suite struct BitReaderTests {
  /// Table 9-2: bit strings and their code numbers; table 9-3: the signed values of these.
  @Test(
    arguments: [
      ("1", 0, 0), ("010", 1, 1), ("011", 2, -1), ("00100", 3, 2), ("00101", 4, -2),
      ("00110", 5, 3), ("00111", 6, -3), ("0001000", 7, 4), ("0001001", 8, -4),
      ("000010000", 15, 8), ("0000000000000001 111111111111111", 65534, -32767),
      ("0000000000000000 1 1111111111111111", 131_070, -65535),
      ("0000000000000000000000000000000 1 0000000000000000000000000000000", 0x7FFF_FFFF, 1 << 30),
      (
        "0000000000000000000000000000000 1 1111111111111111111111111111111", 0xFFFF_FFFE,
        -0x7FFF_FFFF
      ),
    ])
  func decodesExpGolombCodes(bits: String, unsigned: Int, signed: Int) throws {
    let rbsp = BitWriter { $0.u(bits) }.rbsp
    var reader = BitReader(rbsp.span)
    #expect(try reader.ue("code") == unsigned)
    #expect(reader.position == bits.filter { $0 != " " }.count)
    reader = BitReader(rbsp.span)
    #expect(try reader.se("code") == signed)
  }

  @Test(arguments: 0..<32)
  func decodesTheSameAtEveryBitOffset(offset: Int) throws {
    let values = [0, 1, 2, 62, 255, 65535, 70_000, 0xFFFF_FFFE, 5, 0x7FFF_FFFE, 0]
    let rbsp = BitWriter { writer in
      writer.u(offset, 0)
      for value in values { writer.ue(value) }
    }.rbsp
    var reader = BitReader(rbsp.span)
    _ = try reader.u(offset, "offset")
    for value in values { #expect(try reader.ue("code") == value) }
  }

  @Test func refusesCodesOfMoreThan31LeadingZeros() {
    let rbsp: [UInt8] = [0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0]
    var reader = BitReader(rbsp.span)
    let error = #expect(throws: SyntaxError.self) { () throws in _ = try reader.ue("code") }
    #expect(error == SyntaxError("code", at: 0, .codeTooLong))
  }

  @Test(arguments: ["", "0", "000000000", "000001111", "00000000011111111"])
  func reportsACodeThatTheDataCutsOff(bits: String) {
    // Ones first, so that the code ends with the data.
    let offset = 7 - (bits.count + 7) % 8
    let rbsp = BitWriter { $0.u(String(repeating: "1", count: offset) + bits) }.rbsp
    var reader = BitReader(rbsp.span)
    let error = #expect(throws: SyntaxError.self) { () throws in
      _ = try reader.u(offset, "ones")
      _ = try reader.ue("code")
    }
    #expect(error == SyntaxError("code", at: offset, .truncated))
  }

  @Test func readsFixedLengthsOfZeroTo32Bits() throws {
    let rbsp: [UInt8] = [0xFF, 0x00, 0xAA, 0x55, 0x12, 0x34, 0x56, 0x78, 0x9A]
    var reader = BitReader(rbsp.span)
    #expect(try reader.u(0, "none") == 0)
    #expect(try reader.u(4, "four") == 0xF)
    #expect(try reader.u(32, "long") == 0xF00A_A551)
    #expect(try reader.i(4, "negative") == 2)
    #expect(try reader.i(32, "long") == 0x3456_789A)
    #expect(reader.bitsLeft == 0)
    #expect(throws: SyntaxError("one", at: 72, .truncated)) { () throws in
      _ = try reader.u(1, "one")
    }
    #expect(throws: SyntaxError("wide", at: 72, .codeTooLong)) { () throws in
      _ = try reader.u(33, "wide")
    }
  }

  @Test(arguments: [("1000", -8), ("1111", -1), ("0111", 7)])
  func readsTwosComplement(bits: String, value: Int) throws {
    let rbsp = BitWriter { $0.u(bits) }.rbsp
    var reader = BitReader(rbsp.span)
    #expect(try reader.i(4, "number") == value)
  }

  @Test func notesAnIllegalValueAndStopsAtAnImpossibleOne() throws {
    let rbsp = BitWriter { $0.ue(17, 40) }.rbsp
    var reader = BitReader(rbsp.span)
    #expect(try reader.ue("count", in: 0...16, within: 0...32) == 17)
    #expect(reader.issues == [SyntaxError("count", at: 0, .outOfRange(17))])
    #expect(throws: SyntaxError("count", at: 9, .outOfRange(40))) { () throws in
      _ = try reader.ue("count", in: 0...16, within: 0...32)
    }
    #expect(reader.issues.count == 1)
  }

  @Test func collectsABoundedNumberOfIssues() throws {
    let rbsp = [UInt8](repeating: 0xFF, count: 100)
    var reader = BitReader(rbsp.span)
    for _ in 0..<100 { _ = try reader.u(8, "byte", in: 0...0) }
    #expect(reader.issues.count == BitReader.issueLimit)
  }

  /// Payload, bits read before, and whether more data precedes the trailing bits.
  @Test(
    arguments: [
      ("80", 0, false), ("c0", 0, true), ("c0", 1, false), ("0180", 7, true), ("0180", 8, false),
      ("ff80", 8, false), ("ff40", 8, true), ("ff800000", 8, false), ("0000", 0, false),
      ("", 0, false), ("ff01", 8, true), ("ff01", 15, false),
    ])
  func knowsWhetherThereIsMoreData(hex: String, read: Int, expected: Bool) throws {
    let rbsp = bytes(hex)
    var reader = BitReader(rbsp.span)
    _ = try reader.u(read, "read")
    let more = reader.moreRBSPData()
    #expect(more == expected)
  }

  /// Payload, bits read before, and whether proper trailing bits follow to the end.
  @Test(
    arguments: [
      ("80", 0, true), ("ff80", 8, true), ("f8", 4, true), ("f8", 5, false), ("f0", 4, false),
      ("8080", 0, false), ("8000", 0, false), ("80", 8, false), ("01", 7, true), ("c0", 0, false),
    ])
  func checksTrailingBits(hex: String, read: Int, isProper: Bool) throws {
    let rbsp = bytes(hex)
    var reader = BitReader(rbsp.span)
    _ = try reader.u(read, "read")
    reader.rbspTrailingBits()
    #expect(
      reader.issues
        == (isProper ? [] : [SyntaxError("rbsp_trailing_bits", at: read, .trailingData)]))
  }
}
