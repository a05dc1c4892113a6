internal import H264

/// The sequence parameter set in use, and what it means for the order of pictures.
final class ActiveSPS: Sendable {
  let id: Int
  let version: Int
  let set: SequenceParameterSet
  let coding: PictureOrderCount.Coding
  let buffer: DecodedPictureBuffer.Format

  init(_ set: SequenceParameterSet, version: Int) {
    id = set.id
    self.version = version
    self.set = set
    var coding = PictureOrderCount.Coding()
    coding.type = set.picOrderCntType
    coding.maxFrameNum = set.maxFrameNum
    coding.maxPicOrderCntLsb = set.maxPicOrderCntLsb
    coding.offsetForNonRefPic = set.offsetForNonRefPic
    coding.offsetForTopToBottomField = set.offsetForTopToBottomField
    coding.offsetForRefFrame = set.offsetForRefFrame
    self.coding = coding
    var buffer = DecodedPictureBuffer.Format()
    buffer.maxFrameNum = set.maxFrameNum
    buffer.maxNumRefFrames = set.maxNumRefFrames
    buffer.allowsGaps = set.gapsInFrameNumValueAllowed
    let frames = set.bufferFrames ?? 16
    buffer.capacity = min(16, max(1, frames, set.maxNumRefFrames))
    self.buffer = buffer
  }
}

extension SequenceParameterSet {
  /// max_dec_frame_buffering, sent or inferred (§E.2.1); nil when the level is unknown.
  fileprivate var bufferFrames: Int? {
    if let sent = vui?.bitstreamRestriction?.maxDecFrameBuffering { return sent }
    let isIntraProfile = [44, 86, 100, 110, 122, 244].contains(profileIDC) && constraintSet(3)
    return isIntraProfile ? 0 : maxDpbFrames
  }
}

/// A frame, or the first field of one, until the next begins.
struct FrameInProgress: Sendable {
  var index: Int
  var accessUnit: Int
  var place: UnitPlace
  var type = SliceType.i
  var isKeyframe = false
  var isIDR = false
  var size = 0
  var first: CodedPicture
  var second: CodedPicture?
  var buffer: DecodedPictureBuffer.Format
}

// MARK: Access units

extension StreamReport {
  /// Begins an access unit with the units that wait; `unit` is the first slice, ``slice`` its header.
  mutating func openAccessUnit(
    with unit: UnitRecord, _ header: NALUnitHeader, hasSets: Bool
  ) {
    closeAccessUnit()
    let place = UnitPlace(unit)
    if tracker.openedAgainstItsHeader, hasSets {
      note(
        .warning, .accessUnitBoundary,
        "The slice belongs to another picture than the one before, but its header does not say so.",
        place, element: "first_mb_in_slice")
    }
    activate(place, hasSets: hasSets)
    let first = waiting.first?.record ?? unit
    var opened = AccessUnitRecord(
      index: totals.accessUnits, firstUnit: first.index, offset: first.start,
      streamStart: first.streamStart, streamEnd: unit.streamEnd)
    totals.accessUnits += 1
    opened.structure = PictureStructure(isField: slice.fieldPic, isBottom: slice.bottomField)
    opened.isReference = header.refIDC != 0
    opened.isIDR = slice.isIDR
    if active != nil { opened.frameNum = slice.frameNum }
    takeTimes(for: &opened)
    accessUnit = opened
    joinWaiting()
    beginPicture(place)
  }

  /// Decides what is known at the first slice: the order, and in most cases whether it is a keyframe.
  private mutating func beginPicture(_ place: UnitPlace) {
    guard var opened = accessUnit else { return }
    let picture = codedPicture(opened)
    if active != nil { opened.picOrderCnt = picture.counts.picOrderCnt }
    opened.isSecondField = fieldPairing.isSecondField(
      FieldPairing.Picture(
        structure: opened.structure, frameNum: slice.frameNum, isReference: opened.isReference,
        isIDR: opened.isIDR))
    if opened.isIDR { opened.randomAccess = .idr }
    if settings.keyframeRule != .intra, !opened.isSecondField {
      let isRecovery = opened.randomAccess == .recoveryPoint
      opened.isKeyframe = opened.isIDR || isRecovery && settings.keyframeRule == .recoveryPoint
    }
    if opened.isSecondField, frame != nil {
      frame?.second = picture
    } else {
      finishFrame()
      checkFrameNumber(opened, picture, place)
      frame = FrameInProgress(
        index: totals.frames, accessUnit: opened.index, place: place, first: picture,
        buffer: active?.buffer ?? DecodedPictureBuffer.Format())
      frame?.isIDR = opened.isIDR
      totals.frames += 1
    }
    opened.frameIndex = totals.frames - 1
    accessUnit = opened
  }

  /// Adds a unit to the open access unit.
  mutating func join(_ unit: inout UnitRecord, isListed: Bool) {
    guard accessUnit != nil else { return }
    unit.accessUnit = accessUnit?.index
    accessUnit?.unitCount += 1
    accessUnit?.streamEnd = unit.streamEnd
    unit.times = accessUnit?.times
    if (1...5).contains(unit.type.rawValue) {
      unit.isKeyframe = accessUnit?.isKeyframe ?? false
      if unit.type.isPrimarySlice, let type = unit.slice {
        accessUnit?.sliceCount += 1
        let highest = accessUnit?.type?.highest(type) ?? type
        accessUnit?.type = highest
        if !type.isIntra { accessUnit?.isIntra = false }
      }
    }
    guard isListed else { return }
    if settings.keyframeRule == .intra {
      hold(unit)
    } else {
      form.unit(unit)
    }
  }

  private mutating func hold(_ unit: UnitRecord) {
    held.append(unit)
    heldUnitBytes += unit.details.count
    if held.count > Self.maxHeldUnits || heldUnitBytes > Self.maxHeldBytes { decideIntra() }
  }

  /// Adds the units that wait to the open access unit.
  mutating func joinWaiting() {
    guard !waiting.isEmpty else { return }
    let units = takeWaiting()
    for waiter in units {
      var unit = waiter.record
      if !waiter.sei.isEmpty { readSEI(waiter.sei, &unit, isListed: waiter.isListed) }
      join(&unit, isListed: waiter.isListed)
    }
  }

  /// Writes the units that wait although no slice follows that they could belong to.
  mutating func releaseWaiting() {
    let units = takeWaiting()
    for waiter in units {
      var unit = waiter.record
      if !waiter.sei.isEmpty {
        readSEI(waiter.sei, &unit, isListed: waiter.isListed, isJoining: false)
      }
      guard waiter.isListed else { continue }
      if held.isEmpty { form.unit(unit) } else { hold(unit) }
    }
  }

  private mutating func takeWaiting() -> [WaitingUnit] {
    var taken: [WaitingUnit] = []
    swap(&taken, &waiting)
    waitingBytes = 0
    return taken
  }

  /// Under the rule `intra` the slices so far decide.
  private mutating func decideIntra() {
    if let opened = accessUnit {
      accessUnit?.isKeyframe = opened.isIntra && opened.type != nil && !opened.isSecondField
    }
    var units: [UnitRecord] = []
    swap(&units, &held)
    heldUnitBytes = 0
    for var unit in units {
      let isSlice = (1...5).contains(unit.type.rawValue)
      unit.isKeyframe = isSlice && accessUnit?.isKeyframe ?? false
      form.unit(unit)
    }
  }

  mutating func closeAccessUnit() {
    guard accessUnit != nil else { return }
    if settings.keyframeRule == .intra { decideIntra() }
    guard let closed = accessUnit else { return }
    accessUnit = nil
    frame?.size += closed.size
    checkSync(of: closed)
    if !closed.isSecondField {
      frame?.type = closed.type ?? .i
      frame?.isKeyframe = closed.isKeyframe
    }
    guard wants.accessUnits else { return }
    switch settings.format {
    case .json: accessUnits.append(closed)
    case .ndjson: unordered.append(closed)
    case .csv: break
    }
  }
}

// MARK: Pictures

extension StreamReport {
  /// Takes the sequence parameter set of the slice into use, `hasSets`: which is there.
  private mutating func activate(_ place: UnitPlace, hasSets: Bool) {
    let id = slice.seqParameterSetID
    if let active, active.id == id, active.version == spsVersions[id], hasSets { return }
    guard hasSets, let pps = sets.pictureParameterSet(slice.picParameterSetID),
      let set = sets.sequenceParameterSet(id)
    else {
      active = nil
      return
    }
    let isNew = active?.set != set
    active = ActiveSPS(set, version: spsVersions[id])
    if totals.sps == nil {
      totals.sps = set
      totals.isCABAC = pps.entropyCodingMode
      meter.begin(set.frameRate)
    }
    if isNew { checkLevel(set, place) }
  }

  private mutating func codedPicture(_ opened: AccessUnitRecord) -> CodedPicture {
    var coded = CodedPicture()
    coded.structure = opened.structure
    coded.frameNum = slice.frameNum
    coded.isReference = opened.isReference
    coded.isIDR = opened.isIDR
    coded.isLongTerm = slice.longTermReference
    coded.memoryManagement = slice.adaptiveRefPicMarkingMode ? slice.memoryManagement : nil
    guard let active else {
      // Without its place in the order, a picture is output when it comes.
      coded.memoryManagement = [.unmarkAll]
      return coded
    }
    var picture = PictureOrderCount.Picture()
    picture.structure = coded.structure
    picture.isIDR = coded.isIDR
    picture.isReference = coded.isReference
    picture.resets = coded.resets
    picture.frameNum = coded.frameNum
    picture.picOrderCntLsb = slice.picOrderCntLsb
    picture.deltaPicOrderCntBottom = slice.deltaPicOrderCntBottom
    picture.deltaPicOrderCnt0 = slice.deltaPicOrderCnt0
    picture.deltaPicOrderCnt1 = slice.deltaPicOrderCnt1
    coded.counts = orderCount.next(picture, active.coding)
    return coded
  }

  private mutating func checkFrameNumber(
    _ opened: AccessUnitRecord, _ picture: CodedPicture, _ place: UnitPlace
  ) {
    guard let active else { return }
    let missing = frameNumber.missingFrames(
      before: picture.frameNum, maxFrameNum: active.coding.maxFrameNum, isIDR: picture.isIDR,
      isReference: picture.isReference, resets: picture.resets)
    guard missing > 0, !active.buffer.allowsGaps else { return }
    note(
      .error, .frameNumGap,
      "frame_num \(picture.frameNum) leaves a gap of \(missing): reference frames are missing.",
      place, element: "frame_num")
  }

  /// The frame in progress is complete: it gets its place in the order and in a group.
  mutating func finishFrame() {
    guard let done = frame else { return }
    frame = nil
    totals.framesByType[done.type.rawValue] += 1
    if done.isIDR { totals.idrFrames += 1 }
    if done.index == 0, !done.isKeyframe {
      note(
        .warning, .noKeyframeAtStart,
        "The first picture is no keyframe: decoding begins with missing references.", done.place)
    }
    var tag = FrameTag(index: done.index, type: done.type)
    tag.isKeyframe = done.isKeyframe
    if done.isKeyframe {
      totals.keyframes += 1
      currentGroup = groups.begin(accessUnit: done.accessUnit, isIDR: done.isIDR)
    }
    tag.group = currentGroup
    groups.addFrame(size: done.size)
    meter.add(frameOfBytes: done.size)
    order.add(
      CodedFrame(tag: tag, first: done.first, second: done.second), done.buffer, to: &outputs)
    deliverOutputs()
    deliverGroups(atEnd: false)
  }

  /// Gives the frames whose turn has come their position.
  mutating func deliverOutputs() {
    for output in outputs {
      let position = totals.framesOut
      totals.framesOut += 1
      groups.output(output.tag)
      if settings.format == .json {
        guard wants.accessUnits else { continue }
        outputIndexes.set(Int32(clamping: position), at: output.tag.index, filler: -1)
      } else {
        deliver(output, at: position)
      }
    }
    outputs.removeAll(keepingCapacity: true)
  }

  private mutating func deliver(_ output: OutputFrame, at position: Int) {
    if output.isLate, settings.format == .ndjson {
      note(
        .warning, .outputOrder,
        "Frame \(output.tag.index) is output after one with a higher picture order count: the"
          + " decoded picture buffer is too small for the order.", nil)
    }
    let isOfFrame = { (unit: AccessUnitRecord) in unit.frameIndex == output.tag.index }
    for unit in unordered where isOfFrame(unit) {
      form.line("access_unit") { $0.members(unit, outputIndex: position) }
    }
    unordered.removeAll(where: isOfFrame)
  }

  mutating func deliverGroups(atEnd: Bool) {
    while let group = groups.nextComplete(atEnd: atEnd) {
      guard wants.groups else { continue }
      if settings.format == .json {
        groupRecords.append(GroupRecord(group))
      } else {
        form.line("gop") { $0.members(GroupRecord(group)) }
      }
    }
  }
}
