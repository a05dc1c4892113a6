import CFFmpeg
import Platform
import Testing

@testable import Codec

/// The PNG writer and its compressor, read back with libavcodec, which uses zlib.
@Suite struct PNGWriterTests {
  /// Pictures that a compressor likes, hates, and trips over.
  enum Content: CaseIterable {
    case flat, noise, gradient, text, sparse, repeats

    func sample(_ x: Int, _ y: Int, _ noise: UInt64) -> UInt8 {
      switch self {
      case .flat: 77
      case .noise: UInt8(truncatingIfNeeded: noise >> 32)
      case .gradient: UInt8(truncatingIfNeeded: x + 2 * y)
      case .text: (x / 3 * 7 + y / 5 * 13) % 11 < 3 ? 20 : 240
      case .sparse: noise >> 40 % 97 == 0 ? UInt8(truncatingIfNeeded: noise) : 0
      case .repeats: UInt8(truncatingIfNeeded: x % 61 * 3 ^ y / 64 * 5)
      }
    }
  }

  private func picture(
    _ format: AVPixelFormat, _ width: Int, _ height: Int, _ content: Content
  ) throws -> Frame {
    let frame = try Frame()
    frame.av.pointer.pointee.format = format.rawValue
    frame.av.pointer.pointee.width = Int32(width)
    frame.av.pointer.pointee.height = Int32(height)
    try check(av_frame_get_buffer(frame.av.pointer, 0), "av_frame_get_buffer")
    let plane = try #require(frame.av.pointer.plane(0))
    var noise: UInt64 = 88_172_645_463_325_252
    for y in 0..<height {
      for x in 0..<Int(av_image_get_linesize(format, Int32(width), 0)) {
        noise ^= noise << 13
        noise ^= noise >> 7
        noise ^= noise << 17
        plane[y * frame.av.pointer.stride(0) + x] = content.sample(x, y, noise)
      }
    }
    return frame
  }

  private func samples(_ frame: borrowing Frame) -> [UInt8] {
    var bytes: [UInt8] = []
    frame.appendSamples(to: &bytes)
    return bytes
  }

  @Test(
    arguments: Content.allCases,
    [(1, 1), (3, 2), (16, 16), (255, 3), (64, 700), (701, 333)])
  func everyPictureComesBackAsItWas(content: Content, size: (Int, Int)) throws {
    var writer = PNGWriter()
    for format in [
      AV_PIX_FMT_RGB24, AV_PIX_FMT_GRAY8, AV_PIX_FMT_RGB48BE, AV_PIX_FMT_GRAY16BE,
    ] {
      let picture = try picture(format, size.0, size.1, content)
      let decoded = try decodeImage(writer.write(picture), AV_CODEC_ID_PNG)
      #expect(decoded.av.pointer.pointee.format == format.rawValue)
      #expect(samples(decoded) == samples(picture))
    }
  }

  /// More data than one block and one window of 32 KiB hold.
  @Test(arguments: Content.allCases)
  func longDataComesBackAsItWas(content: Content) throws {
    var writer = PNGWriter()
    let picture = try picture(AV_PIX_FMT_RGB24, 1500, 400, content)
    let file = writer.write(picture)
    #expect(samples(try decodeImage(file, AV_CODEC_ID_PNG)) == samples(picture))
    let size = 4500 * 400
    #expect(file.count <= size + size / 1000 + 1000)
    if content == .flat { #expect(file.count < size / 200) }
    if content == .text { #expect(file.count < size / 20) }
  }

  @Test(arguments: Content.allCases, Deflater.Effort.allCases)
  func bothEffortsGiveTheDataBack(content: Content, effort: Deflater.Effort) throws {
    var writer = PNGWriter(efforts: [effort])
    let picture = try picture(AV_PIX_FMT_RGB24, 311, 257, content)
    #expect(samples(try decodeImage(writer.write(picture), AV_CODEC_ID_PNG)) == samples(picture))
  }

  @Test func checksumsAreThoseOfTheStandards() {
    let digits = Array("123456789".utf8)
    digits.withUnsafeBufferPointer { bytes in
      var sum = CRC32()
      sum.add(bytes)
      #expect(sum.value == 0xCBF4_3926)
      #expect(bytes.baseAddress.map { adler32($0, bytes.count) } == 0x091E_01DE)
    }
    let long = [UInt8](repeating: 0xFF, count: 100_000)
    long.withUnsafeBufferPointer { bytes in
      #expect(bytes.baseAddress.map { adler32($0, bytes.count) } == 0x149A_302C)
    }
  }
}

@Suite struct HuffmanTests {
  /// A code that can be decoded uses up exactly all bit patterns (Kraft's equality).
  private func kraft(_ lengths: [UInt8], limit: Int) -> Int {
    lengths.reduce(0) { $0 + ($1 == 0 ? 0 : 1 << (limit - Int($1))) }
  }

  @Test(arguments: [7, 9, 15])
  func codesAreCompleteAndNoneIsTooLong(limit: Int) {
    var fibonacci: [UInt32] = [1, 1]
    while fibonacci.count < 30 { fibonacci.append(fibonacci.suffix(2).reduce(0, +)) }
    let cases: [[UInt32]] = [
      [1, 1], [5, 0, 1, 0, 100], Array(1...100), fibonacci, fibonacci.reversed(),
      [UInt32](repeating: 1, count: 100), [1 << 30] + [UInt32](repeating: 1, count: 99),
    ]
    for counts in cases {
      let lengths = huffmanLengths(counts, limit: limit)
      #expect(lengths.allSatisfy { $0 <= limit })
      #expect(kraft(lengths, limit: limit) == 1 << limit)
      #expect(zip(counts, lengths).allSatisfy { ($0 == 0) == ($1 == 0) })
      for (first, firstLength) in zip(counts, lengths) where first > 0 {
        for (second, secondLength) in zip(counts, lengths) where second > first {
          #expect(secondLength <= firstLength)
        }
      }
    }
  }

  @Test func aSymbolAloneHasOneBit() {
    #expect(huffmanLengths([0, 7, 0], limit: 15) == [0, 1, 0])
    #expect(huffmanLengths([0, 0], limit: 15) == [0, 0])
  }

  /// The example of RFC 1951 §3.2.2.
  @Test func codesAreCanonical() {
    let codes = huffmanCodes([3, 3, 3, 3, 3, 2, 4, 4])
    let expected: [UInt32] = [0b010, 0b011, 0b100, 0b101, 0b110, 0b00, 0b1110, 0b1111]
    for (code, value) in zip(codes, expected) {
      var reversed: UInt32 = 0
      for bit in 0..<code.length { reversed |= (code.bits >> bit & 1) << (code.length - 1 - bit) }
      #expect(reversed == value)
    }
  }

  /// RFC 1951 §3.2.5, the tables written out.
  @Test func lengthsAndDistancesHaveTheSymbolsOfTheTables() {
    var length = 0
    for symbol in 0..<28 {
      #expect(DeflateTables.lengthBase(symbol) == length)
      for value in length..<length + 1 << DeflateTables.lengthExtraBits(symbol) where value < 255 {
        #expect(DeflateTables.lengthSymbol(value) == symbol)
      }
      length += 1 << DeflateTables.lengthExtraBits(symbol)
    }
    #expect(DeflateTables.lengthSymbol(255) == 28)
    #expect(DeflateTables.lengthBase(28) == 255)
    var distance = 1
    for symbol in 0..<30 {
      #expect(DeflateTables.distanceBase(symbol) == distance)
      let next = distance + 1 << DeflateTables.distanceExtraBits(symbol)
      #expect(DeflateTables.distanceSymbol(distance) == symbol)
      #expect(DeflateTables.distanceSymbol(next - 1) == symbol)
      distance = next
    }
    #expect(distance == 32769)
  }
}
