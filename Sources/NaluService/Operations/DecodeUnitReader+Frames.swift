internal import H264

/// Puts pictures together to frames.
extension DecodeUnitReader {
  mutating func add(
    _ unit: NALUnitExtent, _ unitHeader: NALUnitHeader, _ slice: AccessUnitTracker.Slice?,
    _ place: DecodeJudge.Place
  ) {
    let isForDecoder = DecodeUnits.areForDecoder(unitHeader.type.rawValue)
    var placement = tracker.place(unitHeader.type, slice)
    if judge.isForDecoder, let slice, placement == .opens, isOpen, slice.firstMb > lastFirstMb {
      // Two pictures of which the second goes on where the first ended: one, with a damaged
      // header. libavcodec conceals that best when it gets them together.
      placement = .joins
      index.isReliable = false
    }
    switch placement {
    case .waits:
      // Nothing that precedes the first picture belongs to it but parameter sets, and those are
      // known by their places.
      if !isOpen, slice == nil, unitHeader.type.isPrimarySlice {
        waiting = Run()
      } else {
        waiting.add(unit, isForDecoder: isForDecoder)
      }
    case .joins:
      open.add(waiting)
      open.add(unit, isForDecoder: isForDecoder)
      waiting = Run()
    case .opens:
      waiting.add(unit, isForDecoder: isForDecoder)
      beginPicture(unitHeader)
      waiting = Run()
    }
    if let slice, !slice.isRedundant {
      let (judge, header, sets) = (judge, header, parameterSets)
      let previous = placement == .opens ? nil : lastFirstMb
      object { () throws(Problem) in
        try judge.checkOrder(of: header, in: sets, after: previous, place)
      }
      lastFirstMb = slice.firstMb
      if header.sliceType != .i { index.entries[index.entries.count - 1].flags.remove(.intra) }
    }
  }

  /// A slice opens an access unit: a new frame, or the second field of the one before.
  private mutating func beginPicture(_ unitHeader: NALUnitHeader) {
    guard let sps = parameterSets.sequenceParameterSet(header.seqParameterSetID) else { return }
    let isReference = unitHeader.refIDC != 0
    let counts = order.next(
      PictureOrderCount.Picture(header, isReference: isReference), PictureOrderCount.Coding(sps))
    let isSecond = pairing.isSecondField(
      FieldPairing.Picture(
        structure: PictureStructure(header), frameNum: header.frameNum, isReference: isReference,
        isIDR: header.isIDR))
    if isSecond {
      open.add(waiting)
      let last = index.entries.count - 1
      index.entries[last].order = min(index.entries[last].order, counts.picOrderCnt)
      if header.unmarksAll { index.entries[last].flags.insert(.resetsOrder) }
      if isReference { index.entries[last].flags.remove(.disposable) }
      return
    }
    if isOpen { closeFrame() }
    open = waiting
    isOpen = true
    var flags: DecodeIndex.Flags = [.intra]
    if header.isIDR { flags.formUnion([.idr, .resetsOrder]) }
    if header.unmarksAll { flags.insert(.resetsOrder) }
    if !isReference { flags.insert(.disposable) }
    if recoveryFrameCount == 0 { flags.insert(.recoveryPoint) }
    recoveryFrameCount = nil
    if sps.chromaFormatIDC == 0 { flags.insert(.monochrome) }
    let missing = frameNumber.missingFrames(
      before: header.frameNum, maxFrameNum: sps.maxFrameNum, isIDR: header.isIDR,
      isReference: isReference, resets: header.unmarksAll)
    if missing > 0, !sps.gapsInFrameNumValueAllowed {
      flags.insert(.afterGap)
      index.isReliable = false
    }
    index.entries.append(
      DecodeIndex.Entry(offset: 0, order: counts.picOrderCnt, size: 0, flags: flags))
    describe(sps)
  }

  private mutating func describe(_ sps: SequenceParameterSet) {
    if index.entries.count == 1 {
      index.sequence = sps
      index.frameRate = sps.frameRate.map { ($0.numerator, $0.denominator) }
    }
    let size = sps.displaySize ?? sps.codedSize
    let shape = DecodeIndex.Shape(
      width: size.width, height: size.height, chromaFormatIDC: sps.chromaFormatIDC,
      bitDepth: sps.bitDepthLuma)
    if index.shapes.count < 2, !index.shapes.contains(shape) { index.shapes.append(shape) }
    index.largestFrame = max(index.largestFrame, DecodeJudge.frameBytes(sps))
  }

  mutating func closeFrame() {
    let last = index.entries.count - 1
    let start = open.start ?? 0
    index.entries[last].offset = start
    index.entries[last].size = UInt32(clamping: open.end - start)
    if open.isMixed { index.entries[last].flags.insert(.mixed) }
  }
}
