import H264
import Testing

@Suite struct FrameStructureTests {
  private typealias Field = FieldPairing.Picture

  private static func field(
    _ structure: PictureStructure, _ frameNum: Int = 0, reference: Bool = true, idr: Bool = false
  ) -> FieldPairing.Picture {
    FieldPairing.Picture(
      structure: structure, frameNum: frameNum, isReference: reference, isIDR: idr)
  }

  @Test(
    arguments: [
      (field(.topField), field(.bottomField), true),
      (field(.bottomField), field(.topField), true),
      (field(.topField, idr: true), field(.bottomField), true),
      (field(.topField, reference: false), field(.bottomField, reference: false), true),
      (field(.topField), field(.bottomField, reference: false), true),
      (field(.topField), field(.topField), false),
      (field(.topField), field(.bottomField, 1), false),
      (field(.topField, reference: false), field(.bottomField), false),
      (field(.topField), field(.bottomField, idr: true), false),
      (field(.frame), field(.bottomField), false),
      (field(.topField), field(.frame), false),
    ])
  func fieldsOfOneFrameArePaired(
    first: FieldPairing.Picture, second: FieldPairing.Picture, isPair: Bool
  ) {
    var pairing = FieldPairing()
    let isFirstSecond = pairing.isSecondField(first)
    #expect(!isFirstSecond)
    let isSecond = pairing.isSecondField(second)
    #expect(isSecond == isPair)
  }

  @Test func aPairTakesNoThirdField() {
    var pairing = FieldPairing()
    let found = [.topField, .bottomField, .topField, .bottomField].map {
      pairing.isSecondField(Self.field($0))
    }
    #expect(found == [false, true, false, true])
  }

  /// frame_num, whether a reference, and how many frames are missing before it.
  @Test(
    arguments: [
      [(0, true, 0), (1, true, 0), (2, false, 0), (2, true, 0)],
      [(14, true, 0), (15, true, 0), (0, true, 0), (1, true, 0)],
      [(0, true, 0), (3, true, 2), (4, true, 0)],
      [(0, true, 0), (3, false, 2), (3, true, 0), (4, true, 0)],
      [(9, true, 0), (8, true, 14)],
      [(7, false, 0), (8, true, 0)],
    ])
  func aGapInFrameNumIsMissingFrames(frames: [(Int, Bool, Int)]) {
    var numbers = FrameNumber()
    for (frameNum, isReference, missing) in frames {
      let found = numbers.missingFrames(
        before: frameNum, maxFrameNum: 16, isIDR: false, isReference: isReference, resets: false)
      #expect(found == missing, "\(frameNum)")
    }
  }

  @Test func anIDRPictureOrAResetCountsFromZero() {
    var numbers = FrameNumber()
    func missing(_ frameNum: Int, idr: Bool = false, resets: Bool = false) -> Int {
      numbers.missingFrames(
        before: frameNum, maxFrameNum: 16, isIDR: idr, isReference: true, resets: resets)
    }
    #expect(missing(5) == 0)
    #expect(missing(0, idr: true) == 0)
    #expect(missing(1, resets: true) == 0)
    #expect(missing(1) == 0)
  }

  @Test func theHighestTypeOfSlicesIsThePictures() {
    #expect(SliceType.i.highest(.p) == .p)
    #expect(SliceType.b.highest(.i) == .b)
    #expect(SliceType.si.highest(.i) == .si)
    #expect(SliceType.p.highest(.sp) == .sp)
    #expect(SliceType.i.highest(.i) == .i)
  }
}
