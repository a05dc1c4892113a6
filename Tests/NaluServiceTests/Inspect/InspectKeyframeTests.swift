import NaluService
import Testing

@Suite struct InspectKeyframeTests {
  typealias Rule = InspectSettings.KeyframeRule

  /// IDR, P, recovery point with 0 frames on a P picture, I without SEI, gradual refresh, IDR.
  private static let stream = StreamBuilder.stream { stream in
    stream.add(2, frameNum: 0, lsb: 0, idr: true)
    stream.add(0, frameNum: 1, lsb: 2)
    stream.recoveryPoint(0)
    stream.add(0, frameNum: 2, lsb: 4)
    stream.add(2, frameNum: 3, lsb: 6)
    stream.recoveryPoint(7)
    stream.add(0, frameNum: 4, lsb: 8)
    stream.add(2, frameNum: 0, lsb: 0, idr: true) { $0.idrPicID = 1 }
  }

  @Test(
    arguments: [
      (.recoveryPoint, [0, 2, 5]), (.idr, [0, 5]), (.intra, [0, 3, 5]),
    ] as [(Rule, [Int])])
  func aRuleSaysWhatAKeyframeIs(rule: Rule, frames: [Int]) throws {
    let json = try report(Self.stream) { $0.keyframeRule = rule }
    let units = try #require(json["access_units"]).items
    #expect(units.indices.filter { units[$0]["keyframe"]?.bool == true } == frames)
    #expect(json["summary"]?["keyframe_count"]?.int == frames.count)
    #expect(json["summary"]?["keyframe_rule"]?.text == rule.rawValue)
    #expect(json["gops"]?.items.map { $0["access_unit"]?.int } == frames)
    let slices = try #require(json["nal_units"]).items.filter { $0["slice"] != nil }
    #expect(slices.indices.filter { slices[$0]["keyframe"]?.bool == true } == frames)
  }

  @Test func tellsHowDecodingCanBegin() throws {
    let units = try #require(try report(Self.stream)["access_units"]).items
    #expect(
      units.map { $0["random_access"]?.text } == ["idr", nil, "recovery_point", nil, "gdr", "idr"])
    #expect(units[4]["recovery_frame_cnt"]?.int == 7)
    #expect(units[2]["recovery_frame_cnt"] == nil)
  }

  @Test func allSlicesMustBeIntraUnderThatRule() throws {
    let stream = StreamBuilder.stream { stream in
      stream.add(2, frameNum: 0, lsb: 0, idr: true)
      stream.add(2, frameNum: 1, lsb: 2)
      stream.add(0, frameNum: 1, lsb: 2) { $0.firstMb = 4 }
    }
    let json = try report(stream) { $0.keyframeRule = .intra }
    #expect(json["access_units"]?.items.map { $0["keyframe"]?.bool } == [true, false])
    #expect(json["nal_units"]?.items.suffix(2).map { $0["keyframe"]?.bool } == [false, false])
    #expect(json["access_units"]?.items[1]["picture_type"]?.text == "P")
  }

  /// I0 P8 | (I16) B10 B12 P20: the B pictures precede their keyframe.
  @Test(arguments: [(1, false), (2, true)])
  func aGroupIsOpenWhenPicturesBeforeItsKeyframeCanReferPastIt(
    type: Int, isClosed: Bool
  ) throws {
    let stream = StreamBuilder.stream { stream in
      stream.add(2, frameNum: 0, lsb: 0, idr: true)
      stream.add(0, frameNum: 1, lsb: 8)
      stream.recoveryPoint(0)
      stream.add(2, frameNum: 2, lsb: 16)
      stream.add(type, frameNum: 3, lsb: 10, reference: false)
      stream.add(type, frameNum: 3, lsb: 12, reference: false)
      stream.add(0, frameNum: 3, lsb: 20)
    }
    for groups in [
      try #require(try report(stream)["gops"]).items,
      try lines(stream).filter { $0["kind"]?.text == "gop" },
    ] {
      #expect(groups.map { $0["closed"]?.bool } == [true, isClosed])
      #expect(groups[1]["pattern"]?.text == (type == 1 ? "BBIP" : "IIIP"))
      #expect(groups.map { $0["length"]?.int } == [2, 4])
    }
  }

  @Test func aPatternIsCutAtThousandLetters() throws {
    let stream = StreamBuilder.stream { stream in
      stream.add(2, frameNum: 0, lsb: 0, idr: true)
      for index in 1...1000 { stream.add(0, frameNum: index % 16, lsb: 2 * index % 64) }
    }
    let group = try #require(try report(stream)["gops"]?.items.first)
    #expect(group["length"]?.int == 1001)
    #expect(group["pattern"]?.text == "I" + String(repeating: "P", count: 999) + "…")
  }
}
