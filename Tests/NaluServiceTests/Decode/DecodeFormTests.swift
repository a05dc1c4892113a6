import Codec
import Testing

@testable import NaluService

/// The forms in which frames go out.
@Suite struct DecodeFormTests {
  private func decode(
    _ bytes: [UInt8], _ pairs: KeyValuePairs<String, String>
  ) throws -> Decoded {
    try NaluServiceTests.decode(bytes, decodeSettings(pairs))
  }

  /// A picture whose samples all differ from their neighbours: plane, column and row show.
  private func gradient(_ stream: PCMStream) -> [UInt8] {
    stream.parameterSets
      + stream.picture(.idr(id: 0)) { plane, x, y in 16 + 60 * plane + x + 2 * y }
  }

  /// Three flat frames of luma and chroma 7, 8, 9.
  private func three(_ stream: PCMStream = PCMStream()) -> [UInt8] {
    var bytes = stream.parameterSets
    for number in 0..<3 { bytes += stream.flat(.idr(id: number & 1), value: 7 + number) }
    return bytes
  }

  @Test(arguments: [
    // Chroma format, bit depth, profile, bytes of a 16x16 frame, name.
    (0, 8, 100, 384, "yuv420p"), (1, 8, 100, 384, "yuv420p"), (2, 8, 122, 512, "yuv422p"),
    (3, 8, 244, 768, "yuv444p"), (1, 10, 110, 768, "yuv420p10le"), (2, 9, 122, 1024, "yuv422p9le"),
    (3, 12, 244, 1536, "yuv444p12le"), (1, 14, 244, 768, "yuv420p14le"),
  ])
  func samplesComeOutAsTheyWereCoded(
    chroma: Int, depth: Int, profile: Int, size: Int, name: String
  ) throws {
    var stream = PCMStream(profile: profile, chromaFormatIDC: chroma, bitDepth: depth)
    stream.level = 51
    let decoded = try decode(gradient(stream), ["format": "yuv"])
    #expect(decoded.header("Nalu-Pix-Fmt") == name)
    #expect(decoded.header("Nalu-Width") == "16")
    #expect(decoded.header("Nalu-Height") == "16")
    try #require(decoded.bytes.count == size)
    func luma(_ x: Int, _ y: Int) -> Int {
      let place = 16 * y + x
      return depth == 8
        ? Int(decoded.bytes[place])
        : Int(decoded.bytes[2 * place]) | Int(decoded.bytes[2 * place + 1]) << 8
    }
    for y in 0..<16 { for x in 0..<16 { #expect(luma(x, y) == 16 + x + 2 * y) } }
    let firstChroma = depth == 8 ? 256 : 512
    #expect(decoded.bytes[firstChroma] == (chroma == 0 ? 128 : 76))
  }

  @Test func monochromeIsGrayWhenAskedFor() throws {
    let stream = PCMStream(chromaFormatIDC: 0)
    let gray = try decode(gradient(stream), ["format": "yuv", "pix_fmt": "gray"])
    let planar = try decode(gradient(stream), ["format": "yuv"])
    #expect(gray.bytes == Array(planar.bytes[..<256]))
    #expect(Set(planar.bytes[256...]) == [128])
    #expect(gray.header("Nalu-Pix-Fmt") == "gray")
    let colour = try decode(gradient(PCMStream()), ["format": "yuv", "pix_fmt": "gray"])
    #expect(colour.bytes == gray.bytes)
  }

  @Test(arguments: [0, 1, 2, 3])
  func croppingIsExactOnEverySide(chroma: Int) throws {
    var stream = PCMStream(
      profile: 244, chromaFormatIDC: chroma, widthInMbs: 3, heightInMbs: 2)
    stream.crop = (left: 3, right: 2, top: 1, bottom: 4)
    let unit = [(1, 1), (2, 2), (2, 1), (1, 1)][chroma]
    let (width, height) = (48 - 5 * unit.0, 32 - 5 * unit.1)
    let decoded = try decode(gradient(stream), ["format": "yuv"])
    #expect(decoded.header("Nalu-Width") == "\(width)")
    #expect(decoded.header("Nalu-Height") == "\(height)")
    let (left, top) = (3 * unit.0, unit.1)
    for y in 0..<height {
      for x in 0..<width {
        #expect(Int(decoded.bytes[y * width + x]) == 16 + left + x + 2 * (top + y))
      }
    }
    let coded = try decode(gradient(stream), ["format": "yuv", "apply_cropping": "0"])
    #expect(coded.header("Nalu-Width") == "48")
    #expect(coded.header("Nalu-Height") == "32")
    #expect(coded.bytes[0] == 16)
  }

  @Test func planesChangePlacesWithTheLayout() throws {
    let bytes = gradient(PCMStream())
    let planar = try decode(bytes, ["format": "yuv", "pix_fmt": "i420"]).bytes
    let (cb, cr) = (Array(planar[256..<320]), Array(planar[320..<384]))
    #expect(cb[0] == 76 && cr[0] == 136)
    #expect(
      try decode(bytes, ["format": "yuv", "pix_fmt": "yv12"]).bytes == planar[..<256] + cr + cb)
    #expect(
      try decode(bytes, ["format": "yuv", "pix_fmt": "nv12"]).bytes
        == planar[..<256] + zip(cb, cr).flatMap { [$0, $1] })
    #expect(
      try decode(bytes, ["format": "yuv", "pix_fmt": "nv21"]).bytes
        == planar[..<256] + zip(cr, cb).flatMap { [$0, $1] })
    let digests = try ["yv12", "i420"].map {
      try decode(bytes, ["format": "framemd5", "pix_fmt": $0]).bytes.suffix(33)
    }
    #expect(digests[0] != digests[1])
  }

  /// Chroma format and bit depth of the streams that the encoder of this service can make.
  @Test(arguments: [(0, 8), (1, 8), (2, 8), (3, 8), (0, 10), (1, 10), (2, 10), (3, 10)])
  func everyLayoutComesOutOfEveryStream(chroma: Int, depth: Int) throws {
    var stream = PCMStream(
      profile: 244, chromaFormatIDC: chroma, bitDepth: depth, widthInMbs: 2, heightInMbs: 2)
    stream.level = 51
    let bytes = gradient(stream)
    for format in PixelFormat.allCases {
      let name = format.rawValue
      for (width, height) in [(32, 32), (50, 34), (21, 19)] {
        let size = format.bytesPerFrame(width: width, height: height)
        let query: KeyValuePairs = [
          "format": "yuv", "pix_fmt": name, "width": "\(width)", "height": "\(height)",
        ]
        let decoded = try decode(bytes, query)
        #expect(decoded.bytes.count == size, "\(name)")
        #expect(decoded.header("Nalu-Pix-Fmt") == name)
      }
      #expect(
        try decode(bytes, ["format": "framemd5", "pix_fmt": name]).trailer("Nalu-Frames-Out") == "1"
      )
      guard format.layout == .planar else { continue }
      #expect(
        try decode(bytes, ["format": "y4m", "pix_fmt": name]).trailer("Nalu-Frames-Out") == "1")
    }
  }

  @Test(arguments: [nil, 50])
  func nv16IsPlanar422WithItsChromaInterleaved(width: Int?) throws {
    var stream = PCMStream(profile: 122, chromaFormatIDC: 2, widthInMbs: 2, heightInMbs: 1)
    stream.level = 51
    var settings = DecodeSettings()
    settings.format = .yuv
    settings.width = width
    settings.height = width.map { _ in 21 }
    settings.pixelFormat = .yuv422p
    let planar = try NaluServiceTests.decode(gradient(stream), settings).bytes
    settings.pixelFormat = .nv16
    let semiPlanar = try NaluServiceTests.decode(gradient(stream), settings).bytes
    let luma = (width ?? 32) * (width == nil ? 16 : 21)
    let cb = planar[luma..<luma + luma / 2]
    let cr = planar[(luma + luma / 2)...]
    #expect(semiPlanar == planar[..<luma] + zip(cb, cr).flatMap { [$0, $1] })
  }

  @Test(
    arguments: [
      // Width, height, the size and sample aspect ratio that come out of 32x16 samples of 2:1.
      (nil, nil, 32, 16, "2:1"), (128, nil, 128, 32, "1:1"), (nil, 8, 32, 8, "1:1"),
      (50, 50, 50, 50, "4:1"), (32, 32, 32, 32, "4:1"), (16, 16, 16, 16, "4:1"),
    ] as [(Int?, Int?, Int, Int, String)])
  func scalingKeepsTheShapeOfThePicture(
    width: Int?, height: Int?, expectedWidth: Int, expectedHeight: Int, ratio: String
  ) throws {
    var stream = PCMStream(widthInMbs: 2)
    stream.sampleAspectRatio = (2, 1)
    var settings = DecodeSettings()
    settings.width = width
    settings.height = height
    settings.format = .y4m
    let text = String(
      decoding: try NaluServiceTests.decode(three(stream), settings).bytes.prefix(80), as: UTF8.self
    )
    #expect(text.contains(" W\(expectedWidth) H\(expectedHeight) "))
    #expect(text.contains(" A\(ratio) "))
    settings.format = .framemd5
    let lines = String(
      decoding: try NaluServiceTests.decode(three(stream), settings).bytes, as: UTF8.self
    ).split(separator: "\n")
    #expect(lines.contains("#sar 0: \(ratio.replacing(":", with: "/"))"))
  }

  @Test func picturesSentToTheDecoderAreCounted() throws {
    let all = try decode(three(), ["format": "framemd5"])
    #expect(all.counters.framesIn == 3)
    #expect(all.counters.framesOut == 3)
    #expect(try decode(three(), ["format": "png", "frames": "2"]).counters.framesIn == 1)
  }

  @Test func framemd5HasTheLinesOfFFmpeg() throws {
    let decoded = try decode(three(), ["format": "framemd5", "frames": "0,2"])
    let text = String(decoding: decoded.bytes, as: UTF8.self)
    let lines = text.split(separator: "\n")
    #expect(lines.count { $0.hasPrefix("#") } == 10)
    #expect(
      lines.filter { !$0.hasPrefix("#") } == [
        "0,          0,          0,        1,      384, 98433a8d6bd9ef7ab7ae0e28af390982",
        "0,          2,          2,        1,      384, 4878442a9b47d5d896e4480490efea24",
      ])
    #expect(decoded.answer.contentType == "text/plain; charset=utf-8")
  }

  @Test(arguments: [
    (1, 8, "420mpeg2"), (2, 8, "422"), (3, 8, "444"), (1, 10, "420p10"), (3, 9, "444p9"),
  ])
  func y4mSaysWhatItHolds(chroma: Int, depth: Int, layout: String) throws {
    var stream = PCMStream(profile: 244, chromaFormatIDC: chroma, bitDepth: depth)
    stream.sampleAspectRatio = (4, 3)
    stream.timing = (1001, 48000)
    stream.isFullRange = true
    let decoded = try decode(three(stream), ["format": "y4m"])
    let header = "YUV4MPEG2 W16 H16 F24000:1001 Ip A4:3 C\(layout) XCOLORRANGE=FULL\n"
    #expect(decoded.bytes.starts(with: Array(header.utf8)))
    let frames = try decode(three(stream), ["format": "yuv"]).bytes
    let size = frames.count / 3
    var expected = Array(header.utf8)
    for frame in 0..<3 {
      expected += Array("FRAME\n".utf8) + frames[frame * size..<(frame + 1) * size]
    }
    #expect(decoded.bytes == expected)
  }

  @Test func y4mOfMonochromeCanBeGray() throws {
    let bytes = three(PCMStream(chromaFormatIDC: 0))
    let decoded = try decode(bytes, ["format": "y4m", "pix_fmt": "gray", "frames": "0"])
    #expect(
      decoded.bytes == Array(
        "YUV4MPEG2 W16 H16 F25:1 Ip A0:0 Cmono XCOLORRANGE=LIMITED\nFRAME\n".utf8)
        + [UInt8](repeating: 7, count: 256))
  }

  @Test func aSizeChangeSplitsFailsOrCannotBeSaid() throws {
    var other = PCMStream(widthInMbs: 2)
    other.spsID = 0
    let bytes = three() + three(other)
    #expect(try decode(bytes, ["format": "yuv"]).bytes.count == 3 * 384 + 3 * 768)
    let scaled = try decode(bytes, ["format": "y4m", "width": "32", "height": "16"])
    #expect(scaled.trailer("Nalu-Frames-Out") == "6")
    let failing = #expect(throws: Problem.self) {
      try decode(bytes, ["format": "yuv", "resolution_change": "fail"])
    }
    #expect(failing?.code == .undecodable)
    let impossible = #expect(throws: Problem.self) { try decode(bytes, ["format": "y4m"]) }
    #expect(impossible?.code == .unsupportedFeature)
  }

  @Test(
    arguments: [
      // Width, height, the size that comes out of 32x16 samples of 2:1.
      (nil, nil, 32, 16), (128, nil, 128, 32), (nil, 8, 32, 8), (50, 50, 50, 50),
    ] as [(Int?, Int?, Int, Int)])
  func scalingKeepsTheDisplayAspectRatio(
    width: Int?, height: Int?, expectedWidth: Int, expectedHeight: Int
  ) throws {
    var stream = PCMStream(widthInMbs: 2)
    stream.sampleAspectRatio = (2, 1)
    var settings = DecodeSettings()
    settings.width = width
    settings.height = height
    for format in [DecodeSettings.Format.yuv, .framemd5] {
      settings.format = format
      settings.frames = .first
      let decoded = try NaluServiceTests.decode(three(stream), settings)
      #expect(decoded.header("Nalu-Width") == "\(expectedWidth)")
      #expect(decoded.header("Nalu-Height") == "\(expectedHeight)")
    }
    settings.format = .png
    let png = try NaluServiceTests.decode(three(stream), settings)
    #expect(png.number(16, 4) == expectedWidth)
    #expect(png.number(20, 4) == expectedHeight)
  }

  @Test func anAbsurdAspectRatioDoesNotLeadToAnAbsurdSize() throws {
    var stream = PCMStream()
    stream.sampleAspectRatio = (1, 16)
    let refusal = #expect(throws: Problem.self) {
      try decode(three(stream), ["format": "png", "width": "16384"])
    }
    #expect(refusal?.code == .dimensionsTooLarge)
    #expect(refusal?.parameter == "width")
    #expect(
      try decode(three(stream), ["format": "yuv", "height": "16"]).header("Nalu-Width") == "2")
    #expect(try decode(three(stream), ["format": "png", "height": "16"]).number(16, 4) == 1)
  }
}
