import NaluService
import Testing

/// What libx264 writes, inspected.
@Suite struct InspectEncodedTests {
  private static let pictures = movingPictures(64, 48, count: 100)

  @Test(
    arguments: [
      ("gop=25&bframes=2", ["idr", "idr", "idr", "idr"], 4, 4),
      (
        "gop=25&bframes=2&open_gop=1",
        ["idr", "recovery_point", "recovery_point", "recovery_point"], 4, 1
      ),
      ("gop=25&bframes=0&intra_refresh=1", ["idr", "gdr", "gdr", "gdr"], 1, 1),
    ])
  func keyframesAreThoseThatTheEncoderMade(
    query: String, randomAccess: [String], keyframes: Int, idr: Int
  ) throws {
    let stream = try encode("width=64&height=48&\(query)", Self.pictures).bytes
    let json = try report(stream)
    let units = try #require(json["access_units"]).items
    #expect(units.compactMap { $0["random_access"]?.text } == randomAccess)
    let summary = try #require(json["summary"])
    #expect(summary["frame_count"]?.int == 100)
    #expect(summary["keyframe_count"]?.int == keyframes)
    #expect(summary["idr_count"]?.int == idr)
    #expect(summary["frame_rate"]?.text == "25/1")
    #expect(summary["duration_seconds"] == .number(4))
    #expect(summary["bit_rate"]?.int == 2 * stream.count)
    #expect(summary["width"]?.int == 64)
    #expect(json["gops"]?.items.compactMap { $0["length"]?.int }.reduce(0, +) == 100)
    #expect(json["findings"] == .array([]))
    #expect(Set(units.compactMap { $0["output_index"]?.int }) == Set(0..<100))
  }

  @Test func slicesOfAPictureAreOneAccessUnit() throws {
    let stream = try encode(
      "width=64&height=48&slices=3&aud=1", movingPictures(64, 48, count: 5)
    ).bytes
    let units = try #require(try report(stream)["access_units"]).items
    #expect(units.map { $0["slice_count"]?.int } == [3, 3, 3, 3, 3])
  }

  @Test(arguments: [("no", "progressive"), ("tff", "mbaff")])
  func interlacingShows(interlaced: String, scan: String) throws {
    let stream = try encode(
      "width=64&height=64&interlaced=\(interlaced)", movingPictures(64, 64, count: 3)
    ).bytes
    let summary = try #require(try report(stream)["summary"])
    #expect(summary["scan"]?.text == scan)
    #expect(summary["frame_count"]?.int == 3)
  }

  @Test func aDamagedSliceNeverLosesTheReport() throws {
    var stream = try encode("width=64&height=48", movingPictures(64, 48, count: 12)).bytes
    var state: UInt64 = 3
    for _ in 0..<60 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      // The parameter sets stay.
      let place = 1000 + Int(state >> 33) % (stream.count - 1000)
      stream[place] ^= UInt8(1 << (state >> 60 & 7))
    }
    let summary = try #require(try report(stream)["summary"])
    #expect(summary["width"]?.int == 64)
    #expect(summary["nal_unit_count"]?.int ?? 0 > 3)
  }
}
