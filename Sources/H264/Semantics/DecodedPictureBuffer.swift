/// The decoded picture buffer in output order operation (H.264 §C.4): tells when each frame is
/// output, without decoding it.
package struct DecodedPictureBuffer: Sendable {
  /// What the active sequence parameter set says of the buffer.
  package struct Format: Equatable, Sendable {
    /// Frame buffers, 1 to 16.
    package var capacity = 16
    package var maxNumRefFrames = 1
    package var maxFrameNum = 16
    package var allowsGaps = false

    package init() {}
  }

  private var format = Format()
  private var stores: [FrameStore] = []
  private var previousReferenceFrameNum = 0
  /// The highest count output since the last IDR picture or reset.
  private var lastOutput = Int.min

  package init() {}

  /// Stores the next frame in decoding order and appends those that this pushes out to `output`.
  package mutating func add(
    _ frame: CodedFrame, _ format: Format, to output: inout [OutputFrame]
  ) {
    if frame.startsPeriod { finish(to: &output) }
    self.format = format
    let first = frame.first
    if !first.startsPeriod { fillGap(before: first, to: &output) }

    var store = FrameStore(tag: frame.tag, counts: first.counts)
    store.frameNum = first.resets ? 0 : first.frameNum
    let marking = mark(for: first, in: nil)
    store.mark(marking, FieldSet(first.structure))
    if first.isReference { previousReferenceFrameNum = store.frameNum }
    guard makeRoom(for: store, to: &output) else {
      emit(store, to: &output)
      return
    }
    stores.append(store)
    if let second = frame.second { add(second, to: frame.tag) }
  }

  /// Outputs all frames that wait, and empties the buffer.
  package mutating func finish(to output: inout [OutputFrame]) {
    while bump(to: &output) {}
    stores.removeAll(keepingCapacity: true)
    previousReferenceFrameNum = 0
    lastOutput = Int.min
  }

  /// The second field goes where the first is.
  private mutating func add(_ second: CodedPicture, to tag: FrameTag) {
    let marking = mark(for: second, in: tag)
    guard let index = stores.lastIndex(where: { $0.tag == tag }) else { return }
    stores[index].counts = stores[index].counts.joined(second.counts)
    stores[index].mark(marking, FieldSet(second.structure))
  }

  /// Inferred frames take the place of missing ones (§8.2.5.2); more than fit would push each
  /// other out.
  private mutating func fillGap(before picture: CodedPicture, to output: inout [OutputFrame]) {
    let mask = format.maxFrameNum - 1
    let step = (picture.frameNum - previousReferenceFrameNum) & mask
    guard format.allowsGaps, step > 1 else { return }
    let count = min(step - 1, format.capacity)
    for distance in stride(from: count, to: 0, by: -1) {
      var store = FrameStore(tag: nil, counts: FieldOrderCounts())
      store.frameNum = (picture.frameNum - distance) & mask
      slideWindow(currentFrameNum: store.frameNum)
      store.mark(.shortTerm, .both)
      _ = makeRoom(for: store, to: &output)
      stores.append(store)
    }
    previousReferenceFrameNum = (picture.frameNum - 1) & mask
  }
}

// MARK: Output

extension DecodedPictureBuffer {
  /// Bumps until a frame buffer is empty; false when `current` is output at once instead, because
  /// it is no reference and first in order (§C.4.5.2).
  private mutating func makeRoom(
    for current: FrameStore, to output: inout [OutputFrame]
  ) -> Bool {
    stores.removeAll(where: \.isUnused)
    while stores.count >= format.capacity {
      let isFirst = !stores.contains { $0.waits && $0.picOrderCnt < current.picOrderCnt }
      if !current.isReference, isFirst { return false }
      // A broken stream may fill the buffer with references.
      if !bump(to: &output) { stores.removeFirst() }
    }
    return true
  }

  /// Outputs the first frame in order (§C.4.5.3); false when none waits.
  private mutating func bump(to output: inout [OutputFrame]) -> Bool {
    var first: Int?
    for index in stores.indices where stores[index].waits {
      if let best = first, stores[best].picOrderCnt <= stores[index].picOrderCnt { continue }
      first = index
    }
    guard let first else { return false }
    emit(stores[first], to: &output)
    stores[first].waits = false
    if stores[first].isUnused { stores.remove(at: first) }
    return true
  }

  private mutating func emit(_ store: FrameStore, to output: inout [OutputFrame]) {
    guard let tag = store.tag else { return }
    output.append(OutputFrame(tag: tag, isLate: store.picOrderCnt < lastOutput))
    lastOutput = max(lastOutput, store.picOrderCnt)
  }
}

// MARK: Reference marking (§8.2.5)

extension DecodedPictureBuffer {
  /// Carries out what `picture` says of the others; `frame` is where its first field is, if it is
  /// a second one. Returns its own marking.
  private mutating func mark(for picture: CodedPicture, in frame: FrameTag?) -> Marking {
    guard picture.isReference else { return .unused }
    if picture.isIDR { return picture.isLongTerm ? .longTerm(0) : .shortTerm }
    var marking = Marking.shortTerm
    guard let commands = picture.memoryManagement else {
      let first = stores.last { $0.tag == frame }
      if frame == nil || first?.shortTerm.isEmpty != false {
        slideWindow(currentFrameNum: picture.frameNum)
      }
      return marking
    }
    wrapFrameNumbers(picture.frameNum)
    for command in commands {
      switch command {
      case .unmarkShortTerm(let difference):
        forShortTerm(difference, picture) { $0.shortTerm.subtract($1) }
      case .unmarkLongTerm(let number):
        forLongTerm(number, picture) { $0.longTerm.subtract($1) }
      case .assignLongTerm(let difference, let longTermFrameIdx):
        assignLongTerm(difference, longTermFrameIdx, picture)
      case .limitLongTerm(let limit):
        for index in stores.indices where stores[index].longTermFrameIdx >= limit {
          stores[index].longTerm = []
        }
      case .unmarkAll:
        for index in stores.indices { stores[index].unmark() }
      case .markCurrentLongTerm(let longTermFrameIdx):
        freeLongTerm(longTermFrameIdx) { $0.tag == frame && frame != nil }
        marking = .longTerm(longTermFrameIdx)
      }
    }
    return marking
  }

  /// §8.2.5.3.
  private mutating func slideWindow(currentFrameNum: Int) {
    wrapFrameNumbers(currentFrameNum)
    let limit = max(format.maxNumRefFrames, 1)
    while stores.count(where: \.isReference) >= limit {
      let shortTerm = stores.indices.filter { !stores[$0].shortTerm.isEmpty }
      guard let oldest = shortTerm.min(by: { stores[$0].wrapped < stores[$1].wrapped }) else {
        return
      }
      stores[oldest].unmark()
    }
  }

  /// FrameNumWrap (equation 8-27).
  private mutating func wrapFrameNumbers(_ current: Int) {
    for index in stores.indices {
      let number = stores[index].frameNum
      stores[index].wrapped = number > current ? number - format.maxFrameNum : number
    }
  }

  /// Calls `change` with the frame, and which fields of it, that picNumX means (equation 8-39).
  private mutating func forShortTerm(
    _ differenceMinus1: Int, _ picture: CodedPicture,
    _ change: (inout FrameStore, FieldSet) -> Void
  ) {
    let isFrame = picture.structure == .frame
    let current = isFrame ? picture.frameNum : 2 * picture.frameNum + 1
    let wanted = current - (differenceMinus1 + 1)
    let own = FieldSet(picture.structure)
    for index in stores.indices {
      for fields in isFrame ? [FieldSet.both] : [.top, .bottom] {
        let wrapped = stores[index].wrapped
        let number = isFrame ? wrapped : 2 * wrapped + (fields == own ? 1 : 0)
        if number == wanted, stores[index].shortTerm.isSuperset(of: fields) {
          change(&stores[index], fields)
          return
        }
      }
    }
  }

  /// Calls `change` with the frame, and which fields of it, that `wanted` means as LongTermPicNum.
  private mutating func forLongTerm(
    _ wanted: Int, _ picture: CodedPicture, _ change: (inout FrameStore, FieldSet) -> Void
  ) {
    let isFrame = picture.structure == .frame
    let own = FieldSet(picture.structure)
    for index in stores.indices {
      for fields in isFrame ? [FieldSet.both] : [.top, .bottom] {
        let position = stores[index].longTermFrameIdx
        let number = isFrame ? position : 2 * position + (fields == own ? 1 : 0)
        if number == wanted, stores[index].longTerm.isSuperset(of: fields) {
          change(&stores[index], fields)
          return
        }
      }
    }
  }

  private mutating func assignLongTerm(
    _ differenceMinus1: Int, _ longTermFrameIdx: Int, _ picture: CodedPicture
  ) {
    var target: Int?
    forShortTerm(differenceMinus1, picture) { store, _ in target = store.frameNum }
    guard let target else { return }
    freeLongTerm(longTermFrameIdx) { $0.frameNum == target && !$0.shortTerm.isEmpty }
    forShortTerm(differenceMinus1, picture) { store, fields in
      store.shortTerm.subtract(fields)
      if store.longTermFrameIdx != longTermFrameIdx { store.longTerm = [] }
      store.longTermFrameIdx = longTermFrameIdx
      store.longTerm.formUnion(fields)
    }
  }

  /// Takes the index away from every frame but the one that is to have it.
  private mutating func freeLongTerm(
    _ longTermFrameIdx: Int, butNot isOwner: (FrameStore) -> Bool
  ) {
    for index in stores.indices
    where stores[index].longTermFrameIdx == longTermFrameIdx && !isOwner(stores[index]) {
      stores[index].longTerm = []
    }
  }
}

/// Fields of a frame.
private struct FieldSet: OptionSet, Sendable {
  let rawValue: UInt8
  static let top = FieldSet(rawValue: 1)
  static let bottom = FieldSet(rawValue: 2)
  static let both: FieldSet = [.top, .bottom]

  init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  init(_ structure: PictureStructure) {
    self =
      switch structure {
      case .frame: .both
      case .topField: .top
      case .bottomField: .bottom
      }
  }
}

private enum Marking {
  case unused, shortTerm
  case longTerm(Int)
}

/// A frame buffer that is not empty.
private struct FrameStore: Sendable {
  /// Nil for an inferred frame, which is never output.
  let tag: FrameTag?
  var counts: FieldOrderCounts
  var frameNum = 0
  /// FrameNumWrap as of the current picture.
  var wrapped = 0
  /// The fields used for short-term reference.
  var shortTerm: FieldSet = []
  /// The fields used for long-term reference.
  var longTerm: FieldSet = []
  /// -1 while no field is.
  var longTermFrameIdx = -1
  /// Needed for output.
  var waits: Bool

  init(tag: FrameTag?, counts: FieldOrderCounts) {
    self.tag = tag
    self.counts = counts
    waits = tag != nil
  }

  var picOrderCnt: Int { counts.picOrderCnt }
  var isReference: Bool { !shortTerm.isEmpty || !longTerm.isEmpty }
  var isUnused: Bool { !waits && !isReference }

  mutating func unmark() {
    shortTerm = []
    longTerm = []
  }

  mutating func mark(_ marking: Marking, _ fields: FieldSet) {
    switch marking {
    case .unused:
      break
    case .shortTerm:
      shortTerm.formUnion(fields)
    case .longTerm(let index):
      longTermFrameIdx = index
      longTerm.formUnion(fields)
    }
  }
}
