import Testing

@testable import NaluService

/// Images, and archives of them.
@Suite struct DecodeImageTests {
  private func decode(
    _ bytes: [UInt8], _ pairs: KeyValuePairs<String, String>
  ) throws -> Decoded {
    try NaluServiceTests.decode(bytes, decodeSettings(pairs))
  }

  private func stream(_ count: Int, _ format: PCMStream = PCMStream()) -> [UInt8] {
    var bytes = format.parameterSets
    for number in 0..<count { bytes += format.flat(.idr(id: number & 1), value: 60 + number) }
    return bytes
  }

  @Test(arguments: [
    // Chroma format, bit depth, and what IHDR says: bits, colour type.
    (1, 8, 8, 2), (0, 8, 8, 0), (3, 8, 8, 2), (1, 10, 16, 2), (0, 10, 16, 0), (3, 14, 16, 2),
  ])
  func aPNGIsAsDeepAsTheVideo(chroma: Int, depth: Int, bits: Int, colour: Int) throws {
    let format = PCMStream(profile: 244, chromaFormatIDC: chroma, bitDepth: depth)
    let png = try decode(stream(1, format), [:])
    #expect(png.answer.contentType == "image/png")
    #expect(png.answer.start == .whenComplete)
    #expect(png.bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 13, 10, 26, 10]))
    #expect(png.number(24, 1) == bits)
    #expect(png.number(25, 1) == colour)
    #expect(png.trailer("Nalu-Frames-Out") == "1")
  }

  @Test func aPNGCarriesTheShapeOfASample() throws {
    var format = PCMStream()
    format.sampleAspectRatio = (16, 11)
    let png = try decode(stream(1, format), [:])
    let chunk = try #require(png.bytes.firstRange(of: Array("pHYs".utf8)))
    // Wide samples are few on a unit of length.
    #expect(png.number(chunk.upperBound, 4) == 11)
    #expect(png.number(chunk.upperBound + 4, 4) == 16)
    #expect(png.number(chunk.upperBound + 8, 1) == 0)
  }

  @Test func aPNGCarriesThePrimariesOfTheVideo() throws {
    var format = PCMStream()
    format.colour = (primaries: 9, transfer: 13, matrix: 9)
    let png = try decode(stream(1, format), [:])
    let chunk = try #require(png.bytes.firstRange(of: Array("cHRM".utf8)))
    // Red of BT.2020 is at x 0.708, y 0.292.
    #expect(png.number(chunk.upperBound + 8, 4) == 70800)
    #expect(png.number(chunk.upperBound + 12, 4) == 29200)
    #expect(png.bytes.firstRange(of: Array("sRGB".utf8)) == nil)
    format.colour = (primaries: 1, transfer: 13, matrix: 1)
    #expect(try decode(stream(1, format), [:]).bytes.firstRange(of: Array("sRGB".utf8)) != nil)
  }

  /// YCgCo, constant luminance and the like need more than a matrix.
  @Test(arguments: [8, 10, 11, 14], ["png", "jpeg"])
  func coloursThatCannotBeConvertedAreRefused(matrix: Int, form: String) throws {
    var format = PCMStream()
    format.colour = (primaries: 9, transfer: 1, matrix: matrix)
    let refusal = #expect(throws: Problem.self) {
      try decode(stream(1, format), ["format": .init(form)])
    }
    #expect(refusal?.code == .unsupportedFeature)
    #expect(try decode(stream(1, format), ["format": "yuv"]).bytes[0] == 60)
  }

  @Test func aJPEGHasItsMarkersAndSize() throws {
    let jpeg = try decode(stream(1, PCMStream(widthInMbs: 3)), ["format": "jpeg"])
    #expect(jpeg.answer.contentType == "image/jpeg")
    #expect(jpeg.bytes.starts(with: [0xFF, 0xD8, 0xFF]))
    #expect(jpeg.bytes.suffix(2) == [0xFF, 0xD9])
    let frame = try #require(jpeg.bytes.firstRange(of: [0xFF, 0xC0]))
    #expect(jpeg.number(frame.upperBound + 3, 2) == 16)
    #expect(jpeg.number(frame.upperBound + 5, 2) == 48)
  }

  @Test func severalImagesMakeAnArchive() throws {
    let tar = try decode(stream(12), ["frames": "0,9-10", "archive": "tar"])
    #expect(tar.tarNames == ["frame-000000.png", "frame-000009.png", "frame-000010.png"])
    #expect(tar.answer.contentType == "application/x-tar")
    #expect(tar.answer.start == .whenReady)
    #expect(
      tar.answer.trailerNames == ["Nalu-Frames-Out", "Nalu-Frames-Skipped", "Nalu-Decode-Errors"])
    let alone = try decode(stream(12), ["frames": "9", "archive": "tar", "format": "jpeg"])
    #expect(alone.tarNames == ["frame-000009.jpg"])
    #expect(try decode(stream(1), ["frames": "all"]).answer.contentType == "application/zip")
    #expect(try decode(stream(12), ["frames": "every:5"]).answer.contentType == "application/zip")
  }

  @Test func aZipEndsInItsDirectoryAndTheCounts() throws {
    let zip = try decode(stream(3), ["frames": "all"])
    #expect(zip.bytes.starts(with: [0x50, 0x4B, 3, 4]))
    let comment = "frames 3, skipped 0, decode errors 0"
    #expect(zip.bytes.suffix(comment.utf8.count) == Array(comment.utf8)[...])
    let end = zip.bytes.count - comment.utf8.count - 22
    #expect(zip.bytes[end..<end + 4] == [0x50, 0x4B, 5, 6])
    func little(_ place: Int, _ count: Int) -> Int {
      (0..<count).reversed().reduce(0) { $0 << 8 | Int(zip.bytes[place + $1]) }
    }
    #expect(little(end + 10, 2) == 3)
    #expect(little(end + 20, 2) == comment.utf8.count)
    // The directory names the files and where they begin.
    var place = little(end + 16, 4)
    for number in 0..<3 {
      #expect(little(place, 4) == 0x0201_4B50)
      let (name, extra, note) = (
        little(place + 28, 2), little(place + 30, 2), little(place + 32, 2)
      )
      let text = String(decoding: zip.bytes[place + 46..<place + 46 + name], as: UTF8.self)
      #expect(text == "frame-00000\(number).png")
      let file = little(place + 42, 4)
      #expect(little(file, 4) == 0x0403_4B50)
      let start = file + 30 + little(file + 26, 2) + little(file + 28, 2)
      let png = try decode(stream(3), ["frames": "\(number)"]).bytes
      #expect(Array(zip.bytes[start..<start + little(place + 20, 4)]) == png)
      place += 46 + name + extra + note
    }
  }

  /// 16x32, the upper half dark: where the dark half is after turning.
  @Test(arguments: [
    (0, "auto", 16, 32), (1, "auto", 32, 16), (2, "auto", 16, 32), (3, "auto", 32, 16),
    (1, "none", 16, 32),
  ])
  func imagesAreTurnedAsTheStreamAsks(turns: Int, rotate: String, width: Int, height: Int) throws {
    let format = PCMStream(heightInMbs: 2)
    let bytes =
      format.parameterSets + PCMStream.displayOrientation(quarterTurns: turns)
      + format.flat(.idr(id: 0), value: 60)
    let png = try decode(bytes, ["rotate": .init(rotate)])
    #expect(png.number(16, 4) == width)
    #expect(png.number(20, 4) == height)
    let wide = try decode(bytes, ["rotate": .init(rotate), "width": "64"])
    #expect(wide.number(16, 4) == 64)
    #expect(wide.number(20, 4) == 64 * height / width)
    // Raw frames are never turned.
    #expect(try decode(bytes, ["format": "yuv"]).header("Nalu-Width") == "16")
  }
}
