/// The frames from one keyframe to before the next, in decoding order.
package struct GroupOfPictures: Equatable, Sendable {
  /// The access unit of the keyframe.
  package var accessUnit: Int
  /// Frames.
  package var length = 0
  /// Bytes of its access units.
  package var size = 0
  /// No frame that precedes the keyframe in output order can refer to frames before it.
  package var isClosed = true
  /// The frames' types in output order, `I`, `P` or `B`: at most ``patternLimit``.
  package var pattern: [UInt8] = []
  /// There are more frames than letters.
  package var isPatternCut: Bool { length > pattern.count }

  package static let patternLimit = 1000

  fileprivate let beginsWithIDR: Bool
  fileprivate var keyframeIsOut = false
  fileprivate var framesOut = 0
}

/// Collects groups of pictures: told of each frame when it is decoded and when it is output.
package struct GroupCollector: Sendable {
  /// Groups from the first that is not complete on, behind `taken` empty places.
  private var groups: [GroupOfPictures] = []
  private var taken = 0
  /// How many groups came before the array.
  private var removed = 0
  private var run = 0

  /// The longest run of B frames in output order.
  package private(set) var longestBRun = 0

  package init() {}

  /// A keyframe is decoded: a group begins. Returns its position, for the tags of its frames.
  package mutating func begin(accessUnit: Int, isIDR: Bool) -> Int {
    groups.append(GroupOfPictures(accessUnit: accessUnit, beginsWithIDR: isIDR))
    return removed + groups.count - 1
  }

  /// A frame of `size` bytes is decoded.
  package mutating func addFrame(size: Int) {
    guard let last = groups.indices.last else { return }
    groups[last].length += 1
    groups[last].size += size
  }

  package mutating func output(_ tag: FrameTag) {
    run = tag.type == .b ? run + 1 : 0
    longestBRun = max(longestBRun, run)
    guard let group = tag.group, (taken..<groups.count).contains(group - removed) else { return }
    groups[group - removed].output(tag)
  }

  /// The next group in order, if all its frames are output and a later one has begun or, at the end,
  /// none will.
  package mutating func nextComplete(atEnd: Bool = false) -> GroupOfPictures? {
    let left = groups.count - taken
    guard left > 1 || atEnd && left > 0, groups[taken].framesOut == groups[taken].length
    else { return nil }
    let group = groups[taken]
    groups[taken].pattern = []
    taken += 1
    // Seldom enough that moving the rest costs nothing for each group.
    if taken > 64, taken * 2 > groups.count {
      groups.removeFirst(taken)
      removed += taken
      taken = 0
    }
    return group
  }
}

extension GroupOfPictures {
  fileprivate init(accessUnit: Int, beginsWithIDR: Bool) {
    self.accessUnit = accessUnit
    self.beginsWithIDR = beginsWithIDR
  }

  fileprivate mutating func output(_ tag: FrameTag) {
    framesOut += 1
    if pattern.count < Self.patternLimit { pattern.append(tag.type.patternLetter) }
    if tag.isKeyframe {
      keyframeIsOut = true
    } else if !keyframeIsOut, !beginsWithIDR, !tag.type.isIntra {
      isClosed = false
    }
  }
}

extension SliceType {
  fileprivate var patternLetter: UInt8 {
    switch self {
    case .i, .si: UInt8(ascii: "I")
    case .p, .sp: UInt8(ascii: "P")
    case .b: UInt8(ascii: "B")
    }
  }

  /// The type with the greater means of prediction, for pictures of slices of several types.
  package func highest(_ other: SliceType) -> SliceType {
    let order: [SliceType] = [.i, .si, .p, .sp, .b]
    return order.last { $0 == self || $0 == other } ?? self
  }
}
