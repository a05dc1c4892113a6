import H264
import Testing

@testable import NaluService

/// Which field of an interlaced picture is first in time stays as it was.
@Suite struct FieldOrderTests {
  /// Of each picture the second field in time has the larger picture order count (H.264 §8.2.1).
  private func areTopFirst(_ stream: [UInt8]) throws -> [Bool] {
    try EncodedStream(stream).accessUnits.map { unit in
      try #require(unit.slices.first?.deltaPicOrderCntBottom) > 0
    }
  }

  @Test(arguments: [("It", true), ("Ib", false)])
  func theTagOfY4MDecides(tag: String, isTopFirst: Bool) throws {
    let pictures = movingPictures(64, 64, count: 4)
    var media = Array("YUV4MPEG2 W64 H64 F25:1 \(tag)\n".utf8)
    for start in stride(from: 0, to: pictures.count, by: pictures.count / 4) {
      media += Array("FRAME\n".utf8) + pictures[start..<start + pictures.count / 4]
    }
    let stream = try encode("preset=ultrafast", media).bytes
    #expect(try areTopFirst(stream) == Array(repeating: isTopFirst, count: 4))
  }

  @Test(arguments: ["tff", "bff"], ["h264", "mp4"])
  func aTranscodeKeepsIt(order: String, format: String) throws {
    let file = try encode(
      "width=64&height=64&interlaced=\(order)&preset=fast&format=\(format)",
      movingPictures(64, 64, count: 8)
    ).bytes
    let coded = try transcode("preset=fast&format=\(format)", file).bytes
    let stream = try remux("format=h264", coded).bytes
    #expect(try areTopFirst(stream) == Array(repeating: order == "tff", count: 8))
  }
}
