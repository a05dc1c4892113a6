import Codec
import Platform
import Testing

@testable import NaluService

@Suite struct EncodeMemoryTests {
  private static func settings(
    _ width: Int, _ height: Int, _ query: String
  ) throws(Problem) -> VideoEncoder.Settings {
    let settings = try EncodeSettings.query("width=\(width)&height=\(height)\(query)")
    guard let video = settings.rawVideo() else { throw Problem(.internal, "no video") }
    return try settings.encoderSettings(for: video, limits: Limits())
  }

  @Test(
    arguments: [
      (1920, 1080, "&preset=placebo", nil), (4096, 2160, "&preset=veryslow", nil),
      (8192, 4352, "&preset=placebo", 15), (8192, 4352, "&preset=medium", 15),
      (8192, 4352, "&preset=medium&pix_fmt=yuv420p10le", 7), (8192, 4352, "&preset=veryfast", nil),
      (8192, 4352, "&preset=ultrafast", nil),
    ])
  func largePicturesAreLookedAheadAtAsFarAsMemoryGoes(
    width: Int, height: Int, query: String, expected: Int?
  ) throws {
    #expect(try Self.settings(width, height, query).lookahead == expected)
  }

  @Test func theEncoderIsToldHowFarToLook() throws {
    var settings = try Self.settings(64, 64, "&preset=medium&threads=1")
    settings.lookahead = 7
    var encoder = try VideoEncoder(settings)
    let block = Block([UInt8](repeating: 90, count: 64 * 96))
    try encoder.send(Frame(over: block, format: .yuv420p, width: 64, height: 64))
    try encoder.finish()
    var bytes: [UInt8] = []
    while try encoder.receive(into: &bytes) != .finished {}
    #expect(String(decoding: bytes, as: UTF8.self).contains("rc_lookahead=7 "))
  }

  /// MaxDpbMbs of level 6.2 is 696 320 (H.264 table A-1).
  @Test(
    arguments: [
      (1920, 1080, 16, true), (4096, 2304, 16, true), (8192, 4352, 5, true),
      (8192, 4352, 6, false),
    ])
  func moreReferencesThanAnyLevelAllowsAreRefused(
    width: Int, height: Int, references: Int, isAllowed: Bool
  ) throws {
    do throws(Problem) {
      _ = try Self.settings(width, height, "&refs=\(references)")
      #expect(isAllowed)
    } catch {
      #expect(!isAllowed)
      #expect(error.code == .conflictingParameters && error.parameter == "refs")
    }
  }
}
