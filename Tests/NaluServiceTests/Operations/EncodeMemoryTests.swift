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

  /// Bytes of a picture: 4 for a luma sample of 8 bits, 8 for more bits and for placebo.
  @Test(
    arguments: [
      (1920, 1080, "&preset=placebo", nil, nil, nil),
      (4096, 2160, "&preset=veryslow", nil, nil, nil),
      (3840, 2160, "&preset=placebo", 29, 12, 12),
      (8192, 4352, "&preset=medium", 19, 3, 3),
      (8192, 4352, "&preset=medium&bframes=1", 19, 1, 3),
      (8192, 4352, "&preset=medium&realtime=1", nil, nil, nil),
      (8192, 4352, "&preset=medium&pix_fmt=yuv420p10le", 6, 2, 2),
      (8192, 4352, "&preset=placebo", 2, 4, 4),
      (8192, 4352, "&preset=ultrafast", nil, nil, nil),
    ] as [(Int, Int, String, Int?, Int?, Int?)])
  func slowPresetsKeepWhatMemoryAllows(
    width: Int, height: Int, query: String, lookahead: Int?, bframes: Int?, references: Int?
  ) throws {
    let settings = try Self.settings(width, height, query)
    #expect(settings.lookahead == lookahead)
    #expect(settings.bframes == bframes)
    #expect(settings.references == references)
  }

  @Test(
    arguments: [
      ("&refs=5&bframes=16&preset=placebo", "bframes"), ("&refs=5&bframes=16", nil),
      ("&bframes=3&refs=1&preset=placebo", nil),
    ])
  func whatWasAskedForByNameIsKeptOrRefused(query: String, refused: String?) throws {
    do throws(Problem) {
      let settings = try Self.settings(8192, 4352, query)
      #expect(refused == nil)
      #expect(query.contains("refs=\(settings.references ?? 0)"))
      #expect(query.contains("bframes=\(settings.bframes ?? 0)"))
    } catch {
      #expect(error.code == .conflictingParameters && error.parameter == refused)
      #expect(error.detail.contains("max_codec_memory"))
    }
  }

  /// What is advised helps.
  @Test(
    arguments: [
      (512, "&preset=ultrafast", "width", ["8192x4352", "smaller pictures"], ["preset="]),
      (512, "&preset=placebo&refs=5", "width", ["8192x4352", "any preset"], ["refs", "threads"]),
      (600, "&preset=ultrafast&threads=2", "threads", ["threads=1"], ["preset", "refs"]),
      (600, "&preset=slow&threads=1&refs=4", "refs", ["fewer refs", "faster preset"], ["threads"]),
      (1400, "&preset=placebo&threads=1&bframes=9&realtime=0", "bframes", ["fewer bframes"], []),
    ])
  func aRefusalNamesWhatIsAtFault(
    mebibytes: Int, query: String, parameter: String, says: [String], says not: [String]
  ) throws {
    var limits = Limits()
    limits.maxCodecMemory = mebibytes << 20
    limits.maxThreads = 2
    let settings = try EncodeSettings.query("width=8192&height=4352\(query)")
    let video = try #require(settings.rawVideo())
    let problem = #expect(throws: Problem.self) {
      try settings.encoderSettings(for: video, limits: limits)
    }
    #expect(problem?.code == .conflictingParameters && problem?.parameter == parameter)
    let detail = problem?.detail ?? ""
    for word in says { #expect(detail.contains(word)) }
    for word in not { #expect(!detail.contains(word)) }
  }

  @Test(
    arguments: [
      ("&preset=medium", 46), ("&preset=medium&realtime=1", 3), ("&preset=ultrafast", 1),
      ("&preset=medium&bframes=0&refs=1", 41),
    ])
  func whatAnEncoderTakesIsKnownBeforeItIsOpened(query: String, pictures: Int) throws {
    let operation = try EncodeOperation(
      EncodeSettings.query("width=640&height=480&threads=1\(query)"), limits: Limits(),
      spoolDirectory: SpoolDirectory(path: "/tmp", capacity: 0, memory: 0))
    #expect(operation.codecBytes == 8 << 20 + 640 * 480 * 4 * (pictures + 3))
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
