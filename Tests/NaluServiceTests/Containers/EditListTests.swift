import Testing

@testable import NaluService

/// Edit lists say which frames of a track are shown (ISO/IEC 14496-12 §8.6.6).
@Suite struct EditListTests {
  struct Edit: Sendable {
    var duration = 0
    var time = 0
    var rate = 0x1_0000
  }

  /// 45 frames, their index behind them so that it may grow; times in frames.
  private static let film = Result { () throws -> (file: [UInt8], tick: Int, delay: Int) in
    let file = try ContainerFile.make(.mp4)
    let table = SampleTable(try #require(BoxTree(file)["moov/trak"]))
    return (file, table.durations[0], table.edits[0].time)
  }

  /// The file with another edit list; media times are those of frames.
  private func file(_ edits: [Edit], isLong: Bool = false) throws -> [UInt8] {
    let (file, tick, delay) = try Self.film.get()
    let root = BoxTree(file)
    let old = try #require(root["moov/trak/edts"])
    let entries = edits.flatMap { edit in
      bigEndian(edit.duration * tick, isLong ? 8 : 4)
        + bigEndian(edit.time < 0 ? edit.time : delay + edit.time * tick, isLong ? 8 : 4)
        + bigEndian(edit.rate, 4)
    }
    let list = MP4Builder.full(
      "elst", version: isLong ? 1 : 0, bigEndian(edits.count, 4) + entries)
    let grown = list.count - old.content.count
    var result = file
    result.replaceSubrange(old.content, with: list)
    for path in ["moov", "moov/trak", "moov/trak/edts"] {
      let box = try #require(root[path])
      ContainerFile.put(
        box.content.count + 8 + grown, at: box.content.lowerBound - 8, in: &result)
    }
    let chunks = try #require(BoxTree(result)["moov/trak/mdia/minf/stbl/stco"])
    for entry in 0..<chunks.number(4) {
      ContainerFile.put(
        chunks.number(8 + 4 * entry) + grown, at: chunks.content.lowerBound + 8 + 4 * entry,
        in: &result)
    }
    return result
  }

  static let cases: [(edits: [Edit], shown: [Int])] = [
    ([Edit(duration: 45)], Array(0..<45)),
    // Nothing said of how long: to the end.
    ([Edit()], Array(0..<45)),
    ([Edit(duration: 10, time: -1), Edit()], Array(0..<45)),
    ([Edit(time: 20)], Array(20..<45)),
    ([Edit(time: 25)], Array(25..<45)),
    ([Edit(duration: 10), Edit(time: 30)], Array(0..<10) + Array(30..<45)),
    ([Edit(duration: 10, time: 30), Edit(duration: 10)], Array(30..<40) + Array(0..<10)),
    // Empty edits are pauses.
    ([Edit(duration: 45), Edit(duration: 10, time: -1)], Array(0..<45)),
    (
      [Edit(duration: 10), Edit(duration: 5, time: -1), Edit(duration: 10, time: 30)],
      Array(0..<10) + Array(30..<40)
    ),
    // A picture for a while; twice as fast; backwards, which is not allowed.
    ([Edit(duration: 10, time: 20, rate: 0)], [20]),
    ([Edit(duration: 10, rate: 0), Edit(duration: 10, time: 20)], Array(20..<30)),
    ([Edit(duration: 20, rate: 0x2_0000)], Array(0..<40)),
    ([Edit(duration: 20, rate: -0x1_0000)], Array(0..<20)),
    ([Edit(duration: 90, time: -2)], Array(0..<45)),
    ([Edit(duration: 90)], Array(0..<45)),
  ]

  private func digests(_ file: [UInt8], frames: String = "all") throws -> [Substring] {
    let decoded = try decode(
      file, decodeSettings(["format": "framemd5", "on_error": "fail", "frames": frames]))
    return String(decoding: decoded.bytes, as: UTF8.self).split(separator: "\n")
      .filter { !$0.hasPrefix("#") }.map { $0.suffix(32) }
  }

  @Test(arguments: cases.indices, [false, true])
  func theFramesOfTheListAreShown(index: Int, isLong: Bool) throws {
    let (edits, shown) = Self.cases[index]
    let all = try digests(Self.film.get().file)
    #expect(try digests(file(edits, isLong: isLong)) == shown.map { all[$0] })
  }

  @Test(arguments: [
    [Edit(duration: 10, time: -1)], [Edit(duration: 45, time: 100)],
  ])
  func aListThatShowsNothingIsNamed(edits: [Edit]) throws {
    let file = try file(edits)
    let problem = #expect(throws: Problem.self) { try decode(file) }
    #expect(problem?.code == .undecodable)
    #expect(problem?.detail.contains("edit list") == true)
    #expect(throws: problem ?? Problem(.internal, "")) { try transcode("preset=ultrafast", file) }
    #expect(throws: problem ?? Problem(.internal, "")) { try remux("format=mkv", file) }
  }

  @Test func timesCountFromTheFirstPictureOn() throws {
    let file = try file([Edit(duration: 10, time: -1), Edit()])
    let all = try digests(Self.film.get().file)
    #expect(try digests(file, frames: "t:0") == [all[0]])
    #expect(try digests(file, frames: "t:0.04") == [all[1]])
  }

  @Test func aTimeBehindTheEndIsNamedAsOne() throws {
    let file = try file([Edit(duration: 20)])
    let problem = #expect(throws: Problem.self) {
      try decode(file, decodeSettings(["format": "framemd5", "frames": "t:3"]))
    }
    #expect(problem?.code == .frameNotFound)
    #expect(problem?.detail.contains("second 3") == true)
  }

  @Test(arguments: [
    ([Edit(duration: 10), Edit(time: 30)], true), ([Edit(duration: 45, rate: 0x2_0000)], true),
    ([Edit(duration: 45, time: -2)], true),
    ([Edit(duration: 10, time: -1), Edit(duration: 45), Edit(duration: 5, time: -1)], false),
  ])
  func theReportSaysWhatTimesLeaveOut(edits: [Edit], isSaid: Bool) throws {
    let codes = try report(file(edits))["findings"]?.items.compactMap { $0["code"]?.text }
    #expect(codes == (isSaid ? ["edit-list-not-applied"] : []))
  }
}
