import Container
import Testing

@Suite struct MediaFormatTests {
  /// Constrained Baseline, 64×64.
  static let sps: [UInt8] = [0x67, 0x42, 0xC0, 0x0A, 0xDA, 0x10, 0x99]
  static let pps: [UInt8] = [0x68, 0xCE, 0x3C, 0x80]

  static func packets(_ size: Int, before: Int, count: Int) -> [UInt8] {
    var packet = [UInt8](repeating: 0xFF, count: size)
    packet[before] = 0x47
    return (0..<count).flatMap { _ in packet }
  }

  static func prefixed(_ units: [[UInt8]], lengthSize: Int) -> [UInt8] {
    units.flatMap { unit -> [UInt8] in
      (0..<lengthSize).reversed().map { UInt8(unit.count >> (8 * $0) & 0xFF) } + unit
    }
  }

  @Test(
    arguments: [
      ([0, 0, 0, 24] + Array("ftypisom".utf8), .mp4),
      ([0, 0, 0, 8] + Array("wide".utf8), .mp4),
      ([0, 0, 0, 1] + Array("mdat".utf8) + [0, 0, 0, 0, 0, 0, 1, 0], .mp4),
      ([0, 0, 0, 0] + Array("mdat".utf8), .mp4),
      (Array("FLV".utf8) + [1, 1, 0, 0, 0, 9], .flv),
      ([0x1A, 0x45, 0xDF, 0xA3, 0x9F], .matroska),
      (packets(188, before: 0, count: 2), .mpegTS),
      (packets(192, before: 4, count: 2), .mpegTS),
      (packets(204, before: 0, count: 2), .mpegTS),
      (packets(188, before: 77, count: 5), .mpegTS),
      ([0, 0, 0, 1] + sps, .annexB),
      ([0, 0, 1] + sps, .annexB),
      ([9, 0, 0, 1, 0x09, 0xF0], .annexB),
      (prefixed([sps, pps], lengthSize: 4), .avcc),
      (prefixed([sps, pps], lengthSize: 2), .avcc),
      (prefixed([sps, pps], lengthSize: 1), .avcc),
      (prefixed([sps], lengthSize: 4), .avcc),
    ] as [([UInt8], MediaFormat)])
  func aFormatIsToldByItsBeginning(head: [UInt8], format: MediaFormat) {
    #expect(MediaFormat(head: head.span) == format)
  }

  @Test(
    arguments: [
      [], Array("No video at all.".utf8), [UInt8](repeating: 0, count: 4096),
      [0, 0, 0, 4] + Array("ftyp".utf8), packets(188, before: 77, count: 4),
      prefixed([pps], lengthSize: 4), [0, 0, 0, 9] + sps,
    ] as [[UInt8]])
  func whatBeginsLikeNoneIsNone(head: [UInt8]) {
    #expect(MediaFormat(head: head.span) == nil)
  }

  @Test(arguments: LengthPrefix.sizes)
  func theSizeOfLengthsIsFound(size: Int) {
    let units = [[0x09, 0xF0], Self.sps, Self.pps, [0x65] + [UInt8](repeating: 7, count: 200)]
    let stream = Self.prefixed(units, lengthSize: size)
    #expect(LengthPrefix.size(in: stream.span) == size)
    #expect(LengthPrefix.size(in: stream.span.extracting(..<40)) == size)
  }
}
