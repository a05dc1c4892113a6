import H264
import Testing

@testable import NaluService

@Suite struct EncodeKeyframeTests {
  private func stream(_ query: String, frames: Int = 100) throws -> EncodedStream {
    let media = movingPictures(32, 32, count: frames, noise: 2)
    return try EncodedStream(encode("width=32&height=32&preset=veryfast&\(query)", media).bytes)
  }

  @Test(
    arguments: [
      ("gop=30", [0, 30, 60, 90]), ("gop=30&realtime=1", [0, 30, 60, 90]),
      ("gop=30&force_keyframes=17", [0, 17, 47, 77]),
      ("gop=30&force_keyframes=17&realtime=1", [0, 17, 47, 77]),
      ("gop=30&force_keyframes=90,17,17&bframes=0", [0, 17, 47, 77, 90]),
      ("gop=30&force_keyframes=0,29,31", [0, 29, 31, 61, 91]),
      ("force_keyframes=1,2,3&scenecut=0", [0, 1, 2, 3, 53]),
      ("fps=12.5&scenecut=0", [0, 25, 50, 75]),
      ("gop=1000&force_keyframes=500", [0]), ("gop=40&slices=2&threads=1", [0, 40, 80]),
    ])
  func putsIDRPicturesWhereAsked(query: String, expected: [Int]) throws {
    // B-frames never cross an IDR picture, so its place is the same in both orders.
    #expect(try stream(query).idrNumbers == expected)
  }

  @Test func makesEveryPictureAKeyframeInAGopOfOne() throws {
    let stream = try stream("gop=1", frames: 6)
    #expect(stream.idrNumbers == Array(0..<6))
  }

  @Test func insertsNoKeyframeAtASceneCutWhenTheGopIsGiven() throws {
    let media =
      movingPictures(32, 32, count: 20) + [UInt8](repeating: 200, count: 20 * 1536)
    func keyframes(_ query: String) throws -> [Int] {
      try EncodedStream(encode("width=32&height=32&\(query)", media).bytes).idrNumbers
    }
    #expect(try keyframes("gop=50") == [0])
    #expect(try keyframes("crf=23") == [0, 20])
    #expect(try keyframes("gop=50&scenecut=1") == [0, 20])
    #expect(try keyframes("scenecut=0") == [0])
  }

  @Test func beginsOpenGroupsWithRecoveryPoints() throws {
    let stream = try stream("gop=25&open_gop=1&bframes=2")
    #expect(stream.idrNumbers == [0])
    let intra = stream.accessUnits.indices.filter { stream.accessUnits[$0].type == "I" }
    #expect(intra.count == 4)
    for number in intra.dropFirst() {
      #expect(try recoveryFrameCount(stream.accessUnits[number]) == 0)
    }
  }

  @Test func refreshesIntraColumnsInsteadOfKeyframes() throws {
    let stream = try stream("gop=25&intra_refresh=1")
    #expect(stream.idrNumbers == [0])
    #expect(stream.accessUnits.count { $0.type == "I" } == 1)
    let points = try stream.accessUnits.dropFirst().filter {
      try recoveryFrameCount($0) != nil
    }
    #expect(points.count == 3)
  }

  /// recovery_frame_cnt of the recovery point SEI (payload type 6), if there is one.
  private func recoveryFrameCount(_ unit: EncodedStream.AccessUnit) throws -> UInt32? {
    guard let sei = unit.units.first(where: { $0.type == .sei && $0.bytes[1] == 6 }) else {
      return nil
    }
    let payload = Array(sei.bytes.dropFirst(3))
    var reader = BitReader(payload.span)
    return UInt32(try reader.ue("recovery_frame_cnt"))
  }
}
