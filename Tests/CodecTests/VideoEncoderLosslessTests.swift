import Testing

@testable import Codec

@Suite struct VideoEncoderLosslessTests {
  /// Layouts that libx264 takes as they are, apart from those that the decoder gives back in
  /// another one.
  private static let planar: [PixelFormat] = [
    .yuv420p, .yuv422p, .yuv444p, .yuv420p10le, .yuv422p10le, .yuv444p10le,
  ]

  @Test(arguments: planar, [(66, 50), (2, 2), (18, 34)])
  func givesBackEverySampleOfPlanarVideo(
    format: PixelFormat, size: (width: Int, height: Int)
  ) throws {
    let pictures = noise(format, size.width, size.height, count: 3)
    #expect(try decode(encodeLossless(pictures, format, size)) == pictures)
  }

  @Test(arguments: [(1, 1), (3, 5), (177, 145)])
  func givesBackEverySampleOfOddSizesWhereChromaIsFull(size: (width: Int, height: Int)) throws {
    let pictures = noise(.yuv444p, size.width, size.height, count: 2)
    #expect(try decode(encodeLossless(pictures, .yuv444p, size)) == pictures)
  }

  @Test(arguments: [PixelFormat.gray, .gray10le], [(66, 50), (3, 5)])
  func givesBackTheLumaOfMonochromeVideo(
    format: PixelFormat, size: (width: Int, height: Int)
  ) throws {
    let pictures = noise(format, size.width, size.height, count: 2)
    let luma = try decode(encodeLossless(pictures, format, size)).map {
      Array($0.prefix(format.bytesPerFrame(width: size.width, height: size.height)))
    }
    #expect(luma == pictures)
  }

  /// Layouts and the planar one in which the decoder gives them back.
  @Test(
    arguments: [
      (.nv12, .yuv420p), (.nv21, .yuv420p), (.yv12, .yuv420p), (.nv16, .yuv422p),
      (.p010le, .yuv420p10le), (.yuyv422, .yuv422p), (.uyvy422, .yuv422p),
    ] as [(PixelFormat, PixelFormat)])
  func keepsTheSamplesOfLayoutsThatOnlyOrderThemOtherwise(
    format: PixelFormat, planar: PixelFormat
  ) throws {
    let pictures = noise(format, 66, 50, count: 2)
    let expected = pictures.map { planarSamples(of: $0, in: format, width: 66, height: 50) }
    let units = try encodeLossless(pictures, format, (66, 50), chroma: planar.chroma)
    #expect(try decode(units) == expected)
  }

  @Test func keepsTheChromaOfFieldsApart() throws {
    // Lines of the top field have chroma 50, those of the bottom field 200.
    let width = 8
    let height = 16
    let picture = (0..<height).flatMap { line in
      (0..<width / 2).flatMap { _ in [90, line % 2 == 0 ? 50 : 200, 90, 100] as [UInt8] }
    }
    let units = try encodeLossless(
      [picture], .yuyv422, (width, height), chroma: .yuv420, fieldOrder: .tff)
    let decoded = try decode(units)[0]
    let chroma = Array(decoded[128..<160])
    for line in 0..<8 {
      #expect(Set(chroma[4 * line..<4 * line + 4]) == [line % 2 == 0 ? 50 : 200])
    }
    #expect(Set(decoded.prefix(128)) == [90])
  }

  @Test func convertsNV16ToOtherChromaFormats() throws {
    let pictures = [[UInt8](repeating: 90, count: 24) + [UInt8](repeating: 70, count: 24)]
    let units = try encodeLossless(pictures, .nv16, (6, 4), chroma: .yuv420)
    #expect(
      try decode(units) == [
        [UInt8](repeating: 90, count: 24) + [UInt8](repeating: 70, count: 12)
      ])
    var halves = pictures
    for index in stride(from: 25, to: 48, by: 2) { halves[0][index] = 200 }
    let split = try decode(encodeLossless(halves, .nv16, (6, 4), chroma: .yuv444))
    #expect(Set(split[0][24..<48]) == [70])
    #expect(Set(split[0][48..<72]) == [200])
  }

  @Test func addsColourlessChromaToGray() throws {
    let pictures = noise(.gray, 6, 4, count: 1)
    let units = try encodeLossless(pictures, .gray, (6, 4), chroma: .yuv420)
    #expect(try decode(units) == [pictures[0] + [UInt8](repeating: 128, count: 12)])
  }

  @Test func makesTheSameOfEveryOrderOfRGB() throws {
    let rgb = noise(.rgb24, 66, 50, count: 1)[0]
    let colours = stride(from: 0, to: rgb.count, by: 3).map { Array(rgb[$0..<$0 + 3]) }
    let orders: [(PixelFormat, [UInt8])] = [
      (.rgb24, rgb), (.bgr24, colours.flatMap { [$0[2], $0[1], $0[0]] }),
      (.rgba, colours.flatMap { $0 + [9] }),
      (.bgra, colours.flatMap { [$0[2], $0[1], $0[0], 200] }),
    ]
    let decoded = try orders.map { format, bytes in
      try decode(encodeLossless([bytes], format, (66, 50), chroma: .yuv420))
    }
    for (index, samples) in decoded.enumerated() {
      #expect(samples == decoded[0], "\(orders[index].0)")
    }
  }

  /// BT.709 limited range: Y = 16 + 219 * 0.2126 for red, and so on.
  @Test func convertsRGBWithTheMatrixAndRangeOfTheSettings() throws {
    let red = [[UInt8](0..<48)].map { $0.map { UInt8($0 % 3 == 0 ? 255 : 0) } }
    var colour = ColourDescription()
    colour.matrix = .bt709
    colour.range = .tv
    let limited = try decode(encodeLossless(red, .rgb24, (4, 4), chroma: .yuv444, colour: colour))
    #expect(Set(limited[0].prefix(16)) == [63])
    #expect(Set(limited[0].suffix(16)) == [240])
    colour.range = .pc
    let full = try decode(encodeLossless(red, .rgb24, (4, 4), chroma: .yuv444, colour: colour))
    #expect(Set(full[0].prefix(16)) == [54])
  }

  private func noise(
    _ format: PixelFormat, _ width: Int, _ height: Int, count: Int
  ) -> [[UInt8]] {
    var samples = RawVideoSamples(format, width, height)
    return (0..<count).map { _ in samples.next() }
  }

  private func encodeLossless(
    _ pictures: [[UInt8]], _ format: PixelFormat, _ size: (width: Int, height: Int),
    chroma: ChromaFormat? = nil, colour: ColourDescription = .init(),
    fieldOrder: VideoEncoder.FieldOrder? = nil
  ) throws -> [[UInt8]] {
    var settings = VideoEncoder.Settings(
      width: size.width, height: size.height, pixelFormat: format,
      chroma: chroma ?? format.chroma)
    settings.rateControl = .qp(0)
    settings.preset = .ultrafast
    settings.colour = colour
    settings.fieldOrder = fieldOrder
    return try VideoEncoder.encode(pictures, settings)
  }

  /// The samples of a picture plane by plane, Y, Cb, Cr.
  private func planarSamples(
    of bytes: [UInt8], in format: PixelFormat, width: Int, height: Int
  ) -> [UInt8] {
    let luma = width * height * format.bytesPerSample
    func every(_ step: Int, from first: Int, in bytes: some Sequence<UInt8>) -> [UInt8] {
      bytes.enumerated().filter { $0.offset % step == first }.map(\.element)
    }
    let chroma = bytes.dropFirst(luma)
    switch format {
    case .yv12: return bytes.prefix(luma) + chroma.suffix(luma / 4) + chroma.prefix(luma / 4)
    case .nv21:
      return bytes.prefix(luma) + every(2, from: 1, in: chroma) + every(2, from: 0, in: chroma)
    case .nv12, .nv16:
      return bytes.prefix(luma) + every(2, from: 0, in: chroma) + every(2, from: 1, in: chroma)
    case .yuyv422:
      return every(2, from: 0, in: bytes) + every(4, from: 1, in: bytes)
        + every(4, from: 3, in: bytes)
    case .uyvy422:
      return every(2, from: 1, in: bytes) + every(4, from: 0, in: bytes)
        + every(4, from: 2, in: bytes)
    case .p010le:
      let values = stride(from: 0, to: bytes.count, by: 2).map {
        (UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8) >> 6
      }
      let (y, uv) = (values.prefix(width * height), values.dropFirst(width * height))
      let ordered =
        y + uv.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
        + uv.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
      return ordered.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    default: return bytes
    }
  }
}
