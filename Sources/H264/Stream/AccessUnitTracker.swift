/// Tells where access units begin (H.264 §7.4.1.2.3 and §7.4.1.2.4), also when slices are lost, out
/// of order or redundant.
///
/// Units that can begin an access unit wait until the next slice shows whether they did.
package struct AccessUnitTracker: Sendable {
  package enum Placement: Equatable, Sendable {
    /// Belongs, with all units that wait, to the access unit of the next slice to come, or to the
    /// one before: not known yet.
    case waits
    /// Belongs, with all units that wait, to the access unit that is open.
    case joins
    /// Begins an access unit that starts with the first unit that waits.
    case opens
  }

  /// What a slice header says of the picture it belongs to.
  package struct Slice: Equatable, Sendable {
    package var picture: PictureIdentity
    package var firstMb: Int
    package var colourPlane = 0
    /// redundant_pic_cnt is not 0: not of the primary coded picture.
    package var isRedundant = false

    package init(picture: PictureIdentity, firstMb: Int) {
      self.picture = picture
      self.firstMb = firstMb
    }
  }

  /// The last unit that was said to open an access unit did so although its header claims to
  /// continue the picture: it repeats a macroblock address, or follows a delimiter.
  package private(set) var openedAgainstItsHeader = false

  private var picture: PictureIdentity?
  private var seen = SliceStarts()
  private var isWaiting = false
  /// An end of sequence or stream came: nothing joins any more.
  private var isEnded = false

  package init() {}

  /// Some access unit is open.
  package var isOpen: Bool { picture != nil }

  /// Places the next unit. `slice` is the header of a unit of type 1, 2 or 5, nil when unreadable.
  package mutating func place(_ type: NALUnitType, _ slice: Slice?) -> Placement {
    if let slice, type.isPrimarySlice { return place(slice) }
    guard isOpen else { return .waits }
    switch type {
    case .partitionB, .partitionC, .auxiliarySlice, .sliceExtension, .depthSliceExtension:
      isWaiting = false
      return .joins
    default:
      if type.canBeginAccessUnit { isWaiting = true }
      if type == .endOfSequence || type == .endOfStream { isEnded = true }
      return isWaiting ? .waits : .joins
    }
  }

  private mutating func place(_ slice: Slice) -> Placement {
    defer { isWaiting = false }
    openedAgainstItsHeader = false
    if isOpen, !isEnded {
      if slice.isRedundant { return .joins }
      if slice.picture == picture {
        if !(isWaiting && slice.firstMb == 0), seen.insert(slice.colourPlane, slice.firstMb) {
          return .joins
        }
        openedAgainstItsHeader = true
      }
    }
    picture = slice.picture
    isEnded = false
    seen.removeAll()
    if !slice.isRedundant { _ = seen.insert(slice.colourPlane, slice.firstMb) }
    return .opens
  }
}

/// The values by which §7.4.1.2.4 tells the slices of two pictures apart; what a header does not
/// have is 0.
package struct PictureIdentity: Equatable, Sendable {
  package var frameNum = 0
  package var ppsID = 0
  /// -1 while the parameter sets are missing.
  package var spsID = -1
  package var isField = false
  package var isBottomField = false
  package var isReference = false
  package var isIDR = false
  package var idrPicID = 0
  package var picOrderCntLsb = 0
  package var deltaPicOrderCntBottom = 0
  package var deltaPicOrderCnt0 = 0
  package var deltaPicOrderCnt1 = 0

  package init() {}
}

/// The macroblock addresses at which the slices of a picture began.
private struct SliceStarts: Sendable {
  /// MaxFS of level 6.2, the largest of table A-1: no macroblock has such an address.
  private static let addressLimit = 139_264
  private var count = 0
  private var first = 0
  /// A bit for each address and colour plane up to the highest that occurred; only of pictures of
  /// several slices.
  private var bits: [UInt64] = []

  mutating func removeAll() {
    count = 0
    bits.removeAll(keepingCapacity: true)
  }

  /// False when a slice began there before.
  mutating func insert(_ colourPlane: Int, _ address: Int) -> Bool {
    guard address < Self.addressLimit else { return true }
    let key = address << 2 | colourPlane & 3
    count += 1
    if count == 1 {
      first = key
      return true
    }
    if count == 2 { _ = mark(first) }
    return mark(key)
  }

  private mutating func mark(_ key: Int) -> Bool {
    let (word, bit) = (key >> 6, UInt64(1) << UInt64(key & 63))
    while bits.count <= word { bits.append(0) }
    let isNew = bits[word] & bit == 0
    bits[word] |= bit
    return isNew
  }
}
