/// TopFieldOrderCnt and BottomFieldOrderCnt of a picture: of a field only its own is there.
package struct FieldOrderCounts: Equatable, Sendable {
  package var top: Int?
  package var bottom: Int?

  package init(top: Int? = nil, bottom: Int? = nil) {
    self.top = top
    self.bottom = bottom
  }

  /// PicOrderCnt( ) of the picture (equation 8-1).
  package var picOrderCnt: Int {
    switch (top, bottom) {
    case (let top?, let bottom?): min(top, bottom)
    case (let top?, nil): top
    case (nil, let bottom?): bottom
    case (nil, nil): 0
    }
  }

  /// The counts of a frame whose other field has `other`.
  package func joined(_ other: FieldOrderCounts) -> FieldOrderCounts {
    FieldOrderCounts(top: top ?? other.top, bottom: bottom ?? other.bottom)
  }
}

/// The decoding process for picture order count (H.264 §8.2.1).
///
/// Sums wrap instead of trapping: only a broken stream gets that far.
package struct PictureOrderCount: Sendable {
  /// How the sequence parameter set codes the order.
  package struct Coding: Equatable, Sendable {
    /// pic_order_cnt_type, 0 to 2.
    package var type = 0
    package var maxFrameNum = 16
    package var maxPicOrderCntLsb = 16
    package var offsetForNonRefPic = 0
    package var offsetForTopToBottomField = 0
    package var offsetForRefFrame: [Int] = []

    package init() {}
  }

  /// What the slice headers of a picture say.
  package struct Picture: Equatable, Sendable {
    package var structure = PictureStructure.frame
    package var isIDR = false
    /// nal_ref_idc is not 0.
    package var isReference = false
    /// memory_management_control_operation 5 occurs.
    package var resets = false
    package var frameNum = 0
    package var picOrderCntLsb = 0
    package var deltaPicOrderCntBottom = 0
    package var deltaPicOrderCnt0 = 0
    package var deltaPicOrderCnt1 = 0

    package init() {}
  }

  /// Of the previous reference picture (type 0).
  private var previousMsb = 0
  private var previousLsb = 0
  /// Of the previous picture (types 1 and 2).
  private var previousFrameNum = 0
  private var previousFrameNumOffset = 0

  package init() {}

  /// The counts of the next picture in decoding order, as they are once it is decoded: after a
  /// reset they start again.
  package mutating func next(_ picture: Picture, _ coding: Coding) -> FieldOrderCounts {
    var counts =
      switch coding.type {
      case 0: countsOfType0(picture, coding)
      case 1: countsOfType1(picture, coding)
      default: countsOfType2(picture, coding)
      }
    guard picture.resets else { return counts }
    let first = counts.picOrderCnt
    counts.top = counts.top.map { $0 &- first }
    counts.bottom = counts.bottom.map { $0 &- first }
    previousMsb = 0
    previousLsb = picture.structure == .bottomField ? 0 : counts.top ?? 0
    previousFrameNum = 0
    previousFrameNumOffset = 0
    return counts
  }

  /// §8.2.1.1: the least significant bits are sent.
  private mutating func countsOfType0(_ picture: Picture, _ coding: Coding) -> FieldOrderCounts {
    if picture.isIDR {
      previousMsb = 0
      previousLsb = 0
    }
    let lsb = picture.picOrderCntLsb
    let half = coding.maxPicOrderCntLsb / 2
    var msb = previousMsb
    if lsb < previousLsb, previousLsb - lsb >= half {
      msb = msb &+ coding.maxPicOrderCntLsb
    } else if lsb > previousLsb, lsb - previousLsb > half {
      msb = msb &- coding.maxPicOrderCntLsb
    }
    if picture.isReference {
      previousMsb = msb
      previousLsb = lsb
    }
    let count = msb &+ lsb
    return switch picture.structure {
    case .frame: FieldOrderCounts(top: count, bottom: count &+ picture.deltaPicOrderCntBottom)
    case .topField: FieldOrderCounts(top: count)
    case .bottomField: FieldOrderCounts(bottom: count)
    }
  }

  /// §8.2.1.2: deviations from a cycle are sent.
  private mutating func countsOfType1(_ picture: Picture, _ coding: Coding) -> FieldOrderCounts {
    let cycle = coding.offsetForRefFrame
    let frames = advance(picture, coding) &+ picture.frameNum
    var absFrameNum = cycle.isEmpty ? 0 : frames
    if !picture.isReference, absFrameNum > 0 { absFrameNum -= 1 }
    var expected = 0
    if absFrameNum > 0 {
      let (cycles, position) = (absFrameNum - 1).quotientAndRemainder(dividingBy: cycle.count)
      expected = cycles &* cycle.reduce(0, &+)
      for offset in cycle[...position] { expected = expected &+ offset }
    }
    if !picture.isReference { expected = expected &+ coding.offsetForNonRefPic }
    let top = expected &+ picture.deltaPicOrderCnt0
    return switch picture.structure {
    case .frame:
      FieldOrderCounts(
        top: top,
        bottom: top &+ coding.offsetForTopToBottomField &+ picture.deltaPicOrderCnt1)
    case .topField: FieldOrderCounts(top: top)
    case .bottomField: FieldOrderCounts(bottom: top &+ coding.offsetForTopToBottomField)
    }
  }

  /// §8.2.1.3: output order is decoding order.
  private mutating func countsOfType2(_ picture: Picture, _ coding: Coding) -> FieldOrderCounts {
    let frames = advance(picture, coding) &+ picture.frameNum
    let count = picture.isIDR ? 0 : 2 &* frames &- (picture.isReference ? 0 : 1)
    return switch picture.structure {
    case .frame: FieldOrderCounts(top: count, bottom: count)
    case .topField: FieldOrderCounts(top: count)
    case .bottomField: FieldOrderCounts(bottom: count)
    }
  }

  /// FrameNumOffset (equations 8-6 and 8-11).
  private mutating func advance(_ picture: Picture, _ coding: Coding) -> Int {
    if picture.isIDR {
      previousFrameNumOffset = 0
    } else if previousFrameNum > picture.frameNum {
      previousFrameNumOffset = previousFrameNumOffset &+ coding.maxFrameNum
    }
    previousFrameNum = picture.frameNum
    return previousFrameNumOffset
  }
}
