import CFFmpeg
import Platform
import Testing

@testable import Codec

/// The PNG writer, read back with libavcodec, which uses zlib.
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

  @Test func anImageIsNotWrittenForAJobThatIsOver() throws {
    var writer = try PNGWriter()
    let picture = try picture(AV_PIX_FMT_RGB24, 64, 700, .text)
    let whole = try writer.write(picture, until: Interruption())
    let interruption = Interruption()
    interruption.cancel()
    #expect(throws: CodecError.self) { try writer.write(picture, until: interruption) }
    #expect(try writer.write(picture) == whole)
  }

  @Test(
    arguments: Content.allCases,
    [(1, 1), (3, 2), (16, 16), (255, 3), (64, 700), (701, 333)])
  func everyPictureComesBackAsItWas(content: Content, size: (Int, Int)) throws {
    var writer = try PNGWriter()
    for format in [
      AV_PIX_FMT_RGB24, AV_PIX_FMT_GRAY8, AV_PIX_FMT_RGB48BE, AV_PIX_FMT_GRAY16BE,
    ] {
      let picture = try picture(format, size.0, size.1, content)
      let decoded = try decodeImage(writer.write(picture), AV_CODEC_ID_PNG)
      #expect(decoded.av.pointer.pointee.format == format.rawValue)
      #expect(samples(decoded) == samples(picture))
    }
  }

  /// More data than one window of 32 KiB holds.
  @Test(arguments: Content.allCases)
  func longDataComesBackAsItWas(content: Content) throws {
    var writer = try PNGWriter()
    let picture = try picture(AV_PIX_FMT_RGB24, 1500, 400, content)
    let file = try writer.write(picture)
    #expect(samples(try decodeImage(file, AV_CODEC_ID_PNG)) == samples(picture))
    let size = 4500 * 400
    #expect(file.count <= size + size / 1000 + 1000)
    if content == .flat { #expect(file.count < size / 150) }
    if content == .text { #expect(file.count < size / 20) }
  }

  @Test(arguments: Content.allCases, PNGWriter.Filter.allCases)
  func everyFilterGivesTheDataBack(content: Content, filter: PNGWriter.Filter) throws {
    var writer = try PNGWriter(filters: [filter])
    for size in [(311, 257), (5, 3)] {
      let picture = try picture(AV_PIX_FMT_RGB24, size.0, size.1, content)
      let decoded = try decodeImage(writer.write(picture), AV_CODEC_ID_PNG)
      #expect(samples(decoded) == samples(picture))
    }
  }

  /// ISO/IEC 15948 clause 5.3: length, name, content, and a CRC-32 of name and content.
  @Test(
    arguments: [
      (AV_PIX_FMT_RGB24, 8, 2), (AV_PIX_FMT_GRAY8, 8, 0), (AV_PIX_FMT_RGB48BE, 16, 2),
      (AV_PIX_FMT_GRAY16BE, 16, 0),
    ] as [(AVPixelFormat, UInt8, UInt8)])
  func aFileIsASignatureAndChunksWithTheirChecksums(
    format: AVPixelFormat, depth: UInt8, colourType: UInt8
  ) throws {
    var writer = try PNGWriter()
    let file = try writer.write(picture(format, 300, 70, .noise))
    #expect(file.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))
    var rest = file.dropFirst(8)
    var names: [String] = []
    while !rest.isEmpty {
      try #require(rest.count >= 12)
      let length = Int(number(rest.prefix(4)))
      try #require(rest.count >= 12 + length)
      let checked = rest.dropFirst(4).prefix(4 + length)
      names.append(String(decoding: checked.prefix(4), as: UTF8.self))
      #expect(number(rest.dropFirst(8 + length).prefix(4)) == crc32(checked))
      if names.last == "IHDR" {
        #expect(checked.dropFirst(4) == [0, 0, 1, 44, 0, 0, 0, 70, depth, colourType, 0, 0, 0])
      }
      rest = rest.dropFirst(12 + length)
    }
    #expect(names == ["IHDR", "IDAT", "IEND"])
  }

  private func number(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// ISO/IEC 15948 annex D, bit by bit.
  private func crc32(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    var register: UInt32 = 0xFFFF_FFFF
    for byte in bytes {
      register ^= UInt32(byte)
      for _ in 0..<8 { register = register & 1 == 1 ? register >> 1 ^ 0xEDB8_8320 : register >> 1 }
    }
    return ~register
  }
}
