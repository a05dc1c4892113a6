import CFFmpeg
import Platform
import Testing

@testable import Codec

/// Images of flat colours and of small patterns, read back with libavcodec.
@Suite struct ImageWriterTests {
  /// A picture whose planes are flat.
  private func flat(
    _ format: PixelFormat, _ values: [Int], width: Int = 16, height: Int = 16,
    isFullRange: Bool = false, matrix: AVColorSpace = AVCOL_SPC_UNSPECIFIED
  ) throws -> Frame {
    let block = Block(capacity: format.bytesPerFrame(width: width, height: height))
    for (plane, value) in zip(format.planes(width: width, height: height), values) {
      let count = plane.bytesPerRow * plane.rows / format.bytesPerSample
      for _ in 0..<count {
        let bytes = [UInt8(value & 255), UInt8(value >> 8)]
        block.append(bytes.span.extracting(0..<format.bytesPerSample))
      }
    }
    let frame = try Frame(over: block, format: format, width: width, height: height)
    frame.av.pointer.pointee.color_range = isFullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
    frame.av.pointer.pointee.colorspace = matrix
    return frame
  }

  private func image(
    _ frame: consuming Frame, _ fileFormat: ImageWriter.FileFormat = .png,
    isMonochrome: Bool = false, orientation: Orientation = .upright
  ) throws -> [UInt8] {
    var settings = ImageWriter.Settings()
    settings.fileFormat = fileFormat
    var writer = ImageWriter(settings)
    var how = ImageWriter.Presentation(width: frame.width, height: frame.height)
    how.isMonochrome = isMonochrome
    how.orientation = orientation
    try writer.send(frame, number: 3, as: how)
    try writer.finish()
    let received = writer.receive()
    let image = try #require(received)
    #expect(image.number == 3)
    return image.bytes
  }

  @Test(arguments: [1, 2])
  func anImageIsNotWrittenForAJobThatIsOver(threads: Int) throws {
    let interruption = Interruption()
    interruption.attach(until: .max)
    defer { interruption.detach() }
    var settings = ImageWriter.Settings()
    settings.threads = threads
    var writer = ImageWriter(settings)
    let how = ImageWriter.Presentation(width: 16, height: 16)
    for number in 0..<threads {
      try writer.send(flat(.yuv420p, [90, 100, 110]), number: number, as: how)
    }
    interruption.cancel()
    for number in 1..<threads {
      try writer.send(flat(.yuv420p, [90, 100, 110]), number: number, as: how)
    }
    #expect(throws: CodecError.self) {
      try writer.send(flat(.yuv420p, [90, 100, 110]), number: 9, as: how)
    }
  }

  /// The version of the library that made it is nobody's business, and no part of the picture.
  @Test func aJPEGNamesNoLibrary() throws {
    let file = try image(flat(.yuv420p, [90, 100, 110]), .jpeg)
    #expect(file.starts(with: [0xFF, 0xD8]))
    #expect(!String(decoding: file, as: UTF8.self).contains("Lav"))
    // ITU-T T.81 table B.1, COM.
    #expect(!zip(file, file.dropFirst()).contains { $0 == (0xFF, 0xFE) })
  }

  /// The samples of a PNG or JPEG without padding.
  private func pixels(_ file: [UInt8], _ codec: AVCodecID = AV_CODEC_ID_PNG) throws -> [UInt8] {
    var samples: [UInt8] = []
    try decodeImage(file, codec).appendSamples(to: &samples)
    return samples
  }

  /// Kr and Kb of the matrices in table E-5.
  private static let weights = [
    1: (0.2126, 0.0722), 5: (0.299, 0.114), 7: (0.212, 0.087), 9: (0.2627, 0.0593),
  ]

  /// R, G, B from 0 to 1 of a colour coded with the matrix (equations E-22 to E-24 solved).
  private func rgb(_ y: Double, _ cb: Double, _ cr: Double, matrix: Int) -> [Double] {
    let (kr, kb) = Self.weights[matrix] ?? (0, 0)
    let r = y + 2 * (1 - kr) * cr
    let b = y + 2 * (1 - kb) * cb
    let g = (y - kr * r - kb * b) / (1 - kr - kb)
    return [r, g, b].map { min(max($0, 0), 1) }
  }

  /// Y, Cb, Cr of 8 bits: black, white, the bars at 75 %, and a few in between.
  private static let colours = [
    [16, 128, 128], [235, 128, 128], [126, 128, 128], [180, 128, 128], [162, 44, 142],
    [131, 156, 44], [112, 72, 58], [84, 184, 198], [65, 100, 212], [35, 212, 114], [81, 90, 200],
  ]

  @Test(
    arguments: [1, 5, 7, 9],
    [PixelFormat.yuv420p, .yuv422p, .yuv444p, .yuv420p10le, .yuv444p12le, .yuv422p14le])
  func flatColoursAreExactToOneCodeValue(matrix: Int, format: PixelFormat) throws {
    for isFullRange in [false, true] {
      for colour in Self.colours {
        let shift = format.bitDepth - 8
        let frame = try flat(
          format, colour.map { $0 << shift }, isFullRange: isFullRange,
          matrix: AVColorSpace(UInt32(matrix)))
        let largest = Double(1 << format.bitDepth - 1)
        let unit = Double(1 << shift)
        let values = colour.map { Double($0 << shift) }
        let y = isFullRange ? values[0] / largest : (values[0] / unit - 16) / 219
        let span = isFullRange ? largest : 224 * unit
        let middle = Double(128 << shift)
        let expected = rgb(
          y, (values[1] - middle) / span, (values[2] - middle) / span, matrix: matrix)
        let samples = try pixels(image(frame))
        let bytesPerSample = format.bytesPerSample
        for channel in 0..<3 {
          let got =
            bytesPerSample == 1
            ? Double(samples[channel]) / 255
            : Double(Int(samples[2 * channel]) << 8 | Int(samples[2 * channel + 1])) / 65535
          #expect(
            abs(got - expected[channel]) <= 1.001 / 255,
            "\(colour) full \(isFullRange): channel \(channel) is \(got * 255), not \(expected[channel] * 255)"
          )
        }
      }
    }
  }

  @Test func untaggedVideoIsBT709From720LinesUpElseBT601() throws {
    for (height, matrix) in [(718, 5), (720, 1)] {
      let frame = try flat(.yuv420p, [81, 90, 200], height: height)
      let expected = rgb(65.0 / 219, -38.0 / 224, 72.0 / 224, matrix: matrix)
      let samples = try pixels(image(frame))
      for channel in 0..<3 {
        #expect(abs(Double(samples[channel]) / 255 - expected[channel]) <= 1.001 / 255)
      }
    }
  }

  @Test(arguments: [(16, false, 0), (235, false, 255), (126, false, 128), (77, true, 77)])
  func monochromeBecomesFullRangeGray(value: Int, isFullRange: Bool, expected: Int) throws {
    let frame = try flat(.yuv420p, [value, 128, 128], isFullRange: isFullRange)
    let samples = try pixels(image(frame, isMonochrome: true))
    #expect(samples.count == 256)
    #expect(abs(Int(samples[0]) - expected) <= 1)
    let deep = try flat(.yuv420p10le, [value << 2, 512, 512], isFullRange: isFullRange)
    let wide = try pixels(image(deep, isMonochrome: true))
    #expect(wide.count == 512)
    #expect(abs(Int(wide[0]) - expected) <= 1)
  }

  @Test func aJPEGShowsTheColours() throws {
    for colour in Self.colours {
      let frame = try flat(.yuv420p, colour, matrix: AVCOL_SPC_BT709)
      let expected = rgb(
        Double(colour[0] - 16) / 219, Double(colour[1] - 128) / 224, Double(colour[2] - 128) / 224,
        matrix: 1)
      let samples = try pixels(image(frame, .jpeg), AV_CODEC_ID_MJPEG)
      try #require(samples.count == 384)
      // JFIF is full-range BT.601.
      let shown = rgb(
        Double(samples[0]) / 255, (Double(samples[256]) - 128) / 255,
        (Double(samples[320]) - 128) / 255, matrix: 5)
      for channel in 0..<3 { #expect(abs(shown[channel] - expected[channel]) <= 4.0 / 255) }
    }
  }

  /// 3x2 pixels, all different, in each of the eight orientations.
  @Test(arguments: [
    (0, false, [1, 2, 3, 4, 5, 6]), (1, false, [4, 1, 5, 2, 6, 3]), (2, false, [6, 5, 4, 3, 2, 1]),
    (3, false, [3, 6, 2, 5, 1, 4]), (0, true, [3, 2, 1, 6, 5, 4]), (1, true, [6, 3, 5, 2, 4, 1]),
    (2, true, [4, 5, 6, 1, 2, 3]), (3, true, [1, 4, 2, 5, 3, 6]),
  ])
  func imagesAreLaidAsAsked(turns: Int, isFlipped: Bool, expected: [UInt8]) throws {
    let block = Block(capacity: 6)
    block.append([1, 2, 3, 4, 5, 6].span)
    let frame = try Frame(over: block, format: .gray, width: 3, height: 2)
    frame.av.pointer.pointee.color_range = AVCOL_RANGE_JPEG
    let file = try image(
      frame, isMonochrome: true, orientation: Orientation(quarterTurns: turns, isFlipped: isFlipped)
    )
    #expect(try pixels(file) == expected)
  }

  @Test func imagesComeInOrderFromSeveralThreadsAndAcrossSizes() throws {
    var settings = ImageWriter.Settings()
    settings.threads = 3
    var writer = ImageWriter(settings)
    var numbers: [Int] = []
    for number in 0..<20 {
      let side = number < 11 ? 16 : 32
      let frame = try flat(.yuv420p, [number, 128, 128], width: side, height: side)
      try writer.send(frame, number: number, as: .init(width: side, height: side))
      while let image = writer.receive() { numbers.append(image.number) }
    }
    try writer.finish()
    while let image = writer.receive() { numbers.append(image.number) }
    #expect(numbers == Array(0..<20))
  }
}

/// Decodes a file with libavcodec.
func decodeImage(_ file: [UInt8], _ codec: AVCodecID) throws -> Frame {
  let context = try Owned(avcodec_alloc_context3(avcodec_find_decoder(codec)), "alloc") {
    avcodec_free_context($0)
  }
  try check(avcodec_open2(context.pointer, nil, nil), "avcodec_open2")
  let packet = try Owned(av_packet_alloc(), "av_packet_alloc") { av_packet_free($0) }
  try check(av_new_packet(packet.pointer, Int32(file.count)), "av_new_packet")
  file.withUnsafeBytes { bytes in
    UnsafeMutableRawBufferPointer(start: packet.pointer.pointee.data, count: file.count)
      .copyMemory(from: bytes)
  }
  try check(avcodec_send_packet(context.pointer, packet.pointer), "avcodec_send_packet")
  let frame = try Frame()
  try check(avcodec_receive_frame(context.pointer, frame.av.pointer), "avcodec_receive_frame")
  return frame
}
