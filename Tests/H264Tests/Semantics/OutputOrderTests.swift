import H264
import Testing

@Suite struct OutputOrderTests {
  /// A frame by its count; references are numbered as they come.
  private struct Frame {
    var count: Int
    var isReference = true
    var isIDR = false
    var frameNum = 0
    var commands: [MemoryManagementControl]?

    init(_ count: Int, reference: Bool = true, idr: Bool = false, number: Int = 0) {
      self.count = count
      isReference = reference
      isIDR = idr
      frameNum = number
    }
  }

  private static func coded(_ frame: Frame, index: Int) -> CodedFrame {
    var picture = CodedPicture()
    picture.counts = FieldOrderCounts(top: frame.count, bottom: frame.count)
    picture.isReference = frame.isReference
    picture.isIDR = frame.isIDR
    picture.frameNum = frame.frameNum
    picture.memoryManagement = frame.commands
    return CodedFrame(tag: FrameTag(index: index, type: .p), first: picture)
  }

  /// Indexes of the frames in output order, and how many came out before the end.
  private static func output(
    _ order: OutputOrder, _ frames: [CodedFrame], capacity: Int = 4, references: Int = 1
  ) -> (order: [Int], early: Int, late: [Int]) {
    var order = order
    var format = DecodedPictureBuffer.Format()
    format.capacity = capacity
    format.maxNumRefFrames = references
    var output: [OutputFrame] = []
    for frame in frames { order.add(frame, format, to: &output) }
    let early = output.count
    order.finish(to: &output)
    return (output.map(\.tag.index), early, output.filter(\.isLate).map(\.tag.index))
  }

  private static let bumping = OutputOrder.bumping(DecodedPictureBuffer())
  private static let periods = OutputOrder.wholePeriods(PeriodSorter())

  private static let pyramid = [
    Frame(0, idr: true), Frame(8, number: 1), Frame(4, number: 2),
    Frame(2, reference: false, number: 3), Frame(6, reference: false, number: 3),
    Frame(16, number: 3), Frame(12, number: 4), Frame(0, idr: true), Frame(2, number: 1),
  ].enumerated().map { coded($1, index: $0) }

  @Test(arguments: [1, 2, 3, 4, 8, 16])
  func bothWaysAgreeOnAStreamThatFitsTheBuffer(references: Int) {
    let capacity = max(3, references)
    let expected = [0, 3, 2, 4, 1, 6, 5, 7, 8]
    #expect(Self.output(Self.periods, Self.pyramid).order == expected)
    let bumped = Self.output(
      Self.bumping, Self.pyramid, capacity: capacity, references: references)
    #expect(bumped.order == expected)
    #expect(bumped.late == [])
    #expect(bumped.early >= 7)
  }

  @Test func aSmallBufferLetsFramesOutTooEarly() {
    let found = Self.output(Self.bumping, Self.pyramid, capacity: 1)
    // Frame 3 is no reference and goes out in front of frame 2, which waits.
    #expect(found.order == [0, 1, 3, 2, 4, 5, 6, 7, 8])
    #expect(found.late == [3, 2, 4, 6])
  }

  @Test func aFrameThatIsNoReferenceNeedsNoBuffer() {
    let frames = [
      Frame(0, idr: true), Frame(20, number: 1), Frame(4, reference: false, number: 2),
      Frame(6, reference: false, number: 2),
    ]
    .enumerated().map { Self.coded($1, index: $0) }
    let found = Self.output(Self.bumping, frames, capacity: 2, references: 2)
    #expect(found.order == [0, 2, 3, 1])
    #expect(found.early == 3)
  }

  @Test func aResetBeginsAPeriod() {
    var frames = [
      Frame(0, idr: true), Frame(30, number: 1), Frame(0, number: 2), Frame(4, number: 1),
    ]
    frames[2].commands = [.unmarkAll]
    let coded = frames.enumerated().map { Self.coded($1, index: $0) }
    #expect(Self.output(Self.periods, coded).order == [0, 1, 2, 3])
    #expect(Self.output(Self.bumping, coded, capacity: 16).order == [0, 1, 2, 3])
    #expect(Self.output(Self.bumping, coded, capacity: 16).late == [])
  }

  @Test func longTermReferencesKeepTheirBuffers() {
    // Frame 0 stays for good, so that of two buffers one is left for the others.
    var frames = [
      Frame(0, idr: true), Frame(8, number: 1), Frame(4, number: 2), Frame(6, number: 3),
    ]
    frames[1].commands = [.assignLongTerm(differenceOfPicNumsMinus1: 0, longTermFrameIdx: 0)]
    let coded = frames.enumerated().map { Self.coded($1, index: $0) }
    #expect(Self.output(Self.bumping, coded, capacity: 2, references: 2).order == [0, 1, 2, 3])
    #expect(Self.output(Self.bumping, coded, capacity: 2, references: 2).late == [2, 3])
    // Given up again, there are two.
    frames[2].commands = [.unmarkLongTerm(longTermPicNum: 0)]
    let released = frames.enumerated().map { Self.coded($1, index: $0) }
    #expect(Self.output(Self.bumping, released, capacity: 2, references: 2).order == [0, 2, 1, 3])
  }

  @Test func commandsMakeRoom() {
    // Without the command, frames 0 and 1 would fill both buffers.
    var frames = [
      Frame(0, idr: true), Frame(2, number: 1), Frame(8, number: 2), Frame(6, number: 3),
    ]
    frames[2].commands = [
      .unmarkShortTerm(differenceOfPicNumsMinus1: 0),
      .unmarkShortTerm(differenceOfPicNumsMinus1: 1),
    ]
    let coded = frames.enumerated().map { Self.coded($1, index: $0) }
    let found = Self.output(Self.bumping, coded, capacity: 2, references: 2)
    #expect(found.order == [0, 1, 3, 2])
  }

  @Test func theFieldsOfAFrameGoOutTogether() {
    var frames: [CodedFrame] = []
    for (index, count) in [0, 8, 4].enumerated() {
      var top = CodedPicture()
      top.structure = .topField
      top.isReference = true
      top.isIDR = index == 0
      top.frameNum = index
      top.counts = FieldOrderCounts(top: count)
      var bottom = top
      bottom.structure = .bottomField
      bottom.isIDR = false
      bottom.counts = FieldOrderCounts(bottom: count + 1)
      frames.append(
        CodedFrame(tag: FrameTag(index: index, type: .p), first: top, second: bottom))
    }
    #expect(frames[1].counts == FieldOrderCounts(top: 8, bottom: 9))
    #expect(Self.output(Self.bumping, frames).order == [0, 2, 1])
    #expect(Self.output(Self.periods, frames).order == [0, 2, 1])
  }

  @Test(arguments: [(false, 0), (true, 1)])
  func inferredFramesTakeBuffersButAreNotOutput(allowsGaps: Bool, early: Int) {
    let frames = [Frame(0, idr: true), Frame(8, number: 9), Frame(4, number: 10)]
      .enumerated().map { Self.coded($1, index: $0) }
    var format = DecodedPictureBuffer.Format()
    format.capacity = 2
    format.maxNumRefFrames = 2
    format.allowsGaps = allowsGaps
    var order = Self.bumping
    var output: [OutputFrame] = []
    for frame in frames.prefix(2) { order.add(frame, format, to: &output) }
    #expect(output.count == early)
    order.add(frames[2], format, to: &output)
    order.finish(to: &output)
    #expect(output.map(\.tag.index) == [0, 2, 1])
  }

  @Test(arguments: [11, 12, 13] as [UInt64])
  func nothingIsLostOrTrapsWhateverTheStreamSays(seed: UInt64) {
    var random = SplitMix(seed)
    func number(_ limit: Int) -> Int { Int(random.next() % UInt64(limit)) }
    for _ in 0..<50 {
      var order = Self.bumping
      var output: [OutputFrame] = []
      for index in 0..<60 {
        var frame = Frame(number(40) - 20, reference: number(3) > 0, number: number(16))
        frame.isIDR = number(12) == 0
        if number(2) == 0 {
          frame.commands = (0..<number(5)).map { _ in
            switch number(6) {
            case 0: .unmarkShortTerm(differenceOfPicNumsMinus1: number(20))
            case 1: .unmarkLongTerm(longTermPicNum: number(8))
            case 2:
              .assignLongTerm(
                differenceOfPicNumsMinus1: number(20), longTermFrameIdx: number(6))
            case 3: .limitLongTerm(maxLongTermFrameIdxPlus1: number(5))
            case 4: number(4) == 0 ? .unmarkAll : .unmarkLongTerm(longTermPicNum: 1 << 31)
            default: .markCurrentLongTerm(longTermFrameIdx: number(6))
            }
          }
        }
        var format = DecodedPictureBuffer.Format()
        format.capacity = 1 + number(4)
        format.maxNumRefFrames = number(5)
        format.allowsGaps = number(2) == 0
        var coded = Self.coded(frame, index: index)
        if number(3) == 0 {
          coded.first.structure = .topField
          coded.second = coded.first
          coded.second?.structure = .bottomField
        }
        order.add(coded, format, to: &output)
      }
      order.finish(to: &output)
      #expect(output.map(\.tag.index).sorted() == Array(0..<60))
    }
  }
}
