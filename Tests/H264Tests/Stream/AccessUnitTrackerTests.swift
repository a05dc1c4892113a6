import H264
import Testing

@Suite struct AccessUnitTrackerTests {
  private static func slice(
    _ firstMb: Int = 0, _ change: (inout AccessUnitTracker.Slice) -> Void = { _ in }
  ) -> AccessUnitTracker.Slice {
    var slice = AccessUnitTracker.Slice(picture: PictureIdentity(), firstMb: firstMb)
    change(&slice)
    return slice
  }

  /// Every value of §7.4.1.2.4.
  private static let differences: [(String, @Sendable (inout PictureIdentity) -> Void)] = [
    ("frame_num", { $0.frameNum = 1 }), ("pic_parameter_set_id", { $0.ppsID = 1 }),
    ("seq_parameter_set_id", { $0.spsID = 1 }), ("field_pic_flag", { $0.isField = true }),
    ("bottom_field_flag", { $0.isBottomField = true }), ("nal_ref_idc", { $0.isReference = true }),
    ("IdrPicFlag", { $0.isIDR = true }), ("idr_pic_id", { $0.idrPicID = 1 }),
    ("pic_order_cnt_lsb", { $0.picOrderCntLsb = 1 }),
    ("delta_pic_order_cnt_bottom", { $0.deltaPicOrderCntBottom = 1 }),
    ("delta_pic_order_cnt[0]", { $0.deltaPicOrderCnt0 = 1 }),
    ("delta_pic_order_cnt[1]", { $0.deltaPicOrderCnt1 = 1 }),
  ]

  @Test(arguments: differences.map(\.0))
  func aDifferenceInTheHeaderBeginsAPicture(name: String) throws {
    let change = try #require(Self.differences.first { $0.0 == name }).1
    var tracker = AccessUnitTracker()
    #expect(tracker.place(.nonIDRSlice, Self.slice()) == .opens)
    #expect(tracker.place(.nonIDRSlice, Self.slice(4)) == .joins)
    #expect(tracker.place(.nonIDRSlice, Self.slice(8) { change(&$0.picture) }) == .opens)
    #expect(!tracker.openedAgainstItsHeader)
  }

  @Test func slicesInAnyOrderAndRedundantOnesBelongToThePicture() {
    var tracker = AccessUnitTracker()
    #expect(tracker.place(.nonIDRSlice, Self.slice(8)) == .opens)
    #expect(tracker.place(.nonIDRSlice, Self.slice(0)) == .joins)
    #expect(tracker.place(.nonIDRSlice, Self.slice(4)) == .joins)
    #expect(tracker.place(.nonIDRSlice, Self.slice(0) { $0.isRedundant = true }) == .joins)
    #expect(tracker.place(.nonIDRSlice, Self.slice(8) { $0.colourPlane = 1 }) == .joins)
    #expect(!tracker.openedAgainstItsHeader)
  }

  @Test func aRepeatedAddressBeginsAPicture() {
    var tracker = AccessUnitTracker()
    #expect(tracker.place(.nonIDRSlice, Self.slice(0)) == .opens)
    #expect(tracker.place(.nonIDRSlice, Self.slice(8)) == .joins)
    #expect(tracker.place(.nonIDRSlice, Self.slice(8)) == .opens)
    #expect(tracker.openedAgainstItsHeader)
  }

  /// MaxFS of level 6.2 is 139 264 (table A-1): larger addresses are nonsense, and not remembered.
  @Test func addressesOfNoMacroblockAreNotCompared() {
    var tracker = AccessUnitTracker()
    #expect(tracker.place(.nonIDRSlice, Self.slice(0)) == .opens)
    for address in [139_263, 139_264, 139_264, 1 << 32 - 2] {
      #expect(tracker.place(.nonIDRSlice, Self.slice(address)) == .joins)
    }
    #expect(tracker.place(.nonIDRSlice, Self.slice(139_263)) == .opens)
  }

  @Test(arguments: [6, 7, 8, 9, 14, 15, 16, 17, 18] as [UInt8])
  func aUnitInFrontOfAPictureWaitsForItsSlice(type: UInt8) {
    var tracker = AccessUnitTracker()
    let type = NALUnitType(rawValue: type)
    #expect(tracker.place(type, nil) == .waits)
    #expect(tracker.place(.idrSlice, Self.slice { $0.picture.isIDR = true }) == .opens)
    #expect(tracker.place(type, nil) == .waits)
    #expect(tracker.place(.fillerData, nil) == .waits)
    #expect(tracker.place(.nonIDRSlice, Self.slice()) == .opens)
    // A prefix NAL unit stands in front of each slice, also of one picture.
    #expect(tracker.place(type, nil) == .waits)
    #expect(tracker.place(.nonIDRSlice, Self.slice(4)) == .joins)
    // A delimiter and the first macroblock, though the header shows no new picture.
    #expect(tracker.place(type, nil) == .waits)
    #expect(tracker.place(.nonIDRSlice, Self.slice(0)) == .opens)
    #expect(tracker.openedAgainstItsHeader)
  }

  @Test(arguments: [0, 3, 4, 10, 11, 12, 13, 19, 20, 21, 22, 24, 31] as [UInt8])
  func aUnitBehindAPictureBelongsToIt(type: UInt8) {
    var tracker = AccessUnitTracker()
    #expect(tracker.place(NALUnitType(rawValue: type), nil) == .waits)
    #expect(tracker.place(.nonIDRSlice, Self.slice()) == .opens)
    #expect(tracker.place(NALUnitType(rawValue: type), nil) == .joins)
  }

  @Test func anotherViewBringsItsParameterSetsIntoTheAccessUnit() {
    var tracker = AccessUnitTracker()
    #expect(tracker.place(.nonIDRSlice, Self.slice()) == .opens)
    #expect(tracker.place(.subsetSPS, nil) == .waits)
    #expect(tracker.place(.sliceExtension, nil) == .joins)
    #expect(tracker.place(.nonIDRSlice, Self.slice(4)) == .joins)
  }

  @Test func nothingJoinsBehindAnEndOfSequence() {
    var tracker = AccessUnitTracker()
    #expect(tracker.place(.nonIDRSlice, Self.slice()) == .opens)
    #expect(tracker.place(.endOfSequence, nil) == .joins)
    #expect(tracker.place(.nonIDRSlice, Self.slice(4)) == .opens)
  }

  @Test func aSliceThatCannotBeReadStaysWithItsNeighbours() {
    var tracker = AccessUnitTracker()
    #expect(tracker.place(.nonIDRSlice, nil) == .waits)
    #expect(tracker.place(.nonIDRSlice, Self.slice()) == .opens)
    #expect(tracker.place(.nonIDRSlice, nil) == .joins)
    #expect(tracker.place(.sei, nil) == .waits)
    #expect(tracker.place(.nonIDRSlice, nil) == .waits)
  }
}
