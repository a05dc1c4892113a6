internal import H264
internal import Platform

/// Reads a stream before it is decoded, while it is uploaded: finds its frames, and refuses what is
/// too large or what libavcodec would decode wrongly.
struct DecodeScan: Sendable {
  private var scanner = StartCodeScanner()
  private var reader: DecodeUnitReader

  init(limits: Limits) {
    reader = DecodeUnitReader(limits: limits)
  }

  /// Goes on with the next bytes of the stream.
  mutating func scan(_ chunk: Span<UInt8>) throws(Problem) {
    var position = 0
    while let unit = scanner.next(in: chunk, from: &position) {
      switch unit.place {
      case .chunk(let range): try reader.take(unit, chunk.extracting(range))
      case .carried: try takeCarried(unit)
      }
    }
  }

  private mutating func takeCarried(_ unit: NALUnitExtent) throws(Problem) {
    let bytes = scanner.carried
    try reader.take(unit, bytes.span)
  }

  /// The stream is complete: the frames in it.
  mutating func finish() throws(Problem) -> DecodeIndex {
    if let unit = scanner.finish() { try takeCarried(unit) }
    return try reader.finish()
  }
}

/// Puts NAL units together to frames.
struct DecodeUnitReader: Sendable {
  private let limits: Limits
  private var judge: DecodeJudge
  private var rbsp = RBSP()
  private var parameterSets = ParameterSets()
  private var header = SliceHeader()
  private var tracker = AccessUnitTracker()
  private var pairing = FieldPairing()
  private var order = PictureOrderCount()
  private var frameNumber = FrameNumber()
  private var index = DecodeIndex()
  private var known: [Int: [UInt8]] = [:]

  private var recognition = InputRecognition()
  private var unitCount = 0
  private var readableSlices = 0
  private var open = Run()
  private var isOpen = false
  private var waiting = Run()
  /// recovery_frame_cnt of a recovery point SEI message that waits for its picture.
  private var recoveryFrameCount: Int?
  private var lastFirstMb = 0

  /// NAL units that lie next to each other.
  private struct Run: Sendable {
    var start: Int?
    var end = 0
    var isMixed = false

    mutating func add(_ unit: NALUnitExtent, isForDecoder: Bool) {
      if start == nil { start = unit.start }
      end = unit.end
      if !isForDecoder { isMixed = true }
    }

    mutating func add(_ other: Run) {
      guard let first = other.start else { return }
      start = start ?? first
      end = other.end
      isMixed = isMixed || other.isMixed
    }
  }

  init(limits: Limits) {
    self.limits = limits
    judge = DecodeJudge(limits: limits)
  }

  /// Takes the next NAL unit, with the bytes of it that were kept.
  mutating func take(_ unit: NALUnitExtent, _ bytes: Span<UInt8>) throws(Problem) {
    guard !bytes.isEmpty else { return }
    unitCount += 1
    guard unitCount <= limits.maxNALUnits else {
      throw Problem(
        .tooManyNALUnits,
        "The stream has more than max_nal_units, \(limits.maxNALUnits) NAL units.",
        members: [.init("limit", limits.maxNALUnits)])
    }
    let unitHeader = NALUnitHeader(bytes)
    let place = DecodeJudge.Place(unit: unitCount - 1, offset: unit.offset)
    var slice: AccessUnitTracker.Slice?
    var evidence = InputRecognition.Evidence.none
    switch unitHeader.type {
    case .sps:
      evidence = try readSPS(unit, bytes, place)
    case .pps:
      evidence = readPPS(unit, bytes)
    case .sei:
      readSEI(bytes)
    case .nonIDRSlice, .idrSlice, .partitionA:
      (slice, evidence) = try readSlice(unitHeader, bytes, place)
      if slice == nil, isOpen { index.isReliable = false }
    case .sliceExtension:
      index.extension = unitHeader.extension?.kind == .svc ? .scalable : .multiview
    case .depthSliceExtension:
      index.extension = .depth
    default:
      break
    }
    recognition.add(unitHeader, bytes, evidence)
    try add(unit, unitHeader, slice, place)
  }

  /// No unit follows.
  mutating func finish() throws(Problem) -> DecodeIndex {
    guard recognition.isRecognised else { throw notRecognised }
    if isOpen {
      open.add(waiting)
      closeFrame()
    }
    guard readableSlices > 0 else {
      if index.picturesWithoutParameterSets == 0, !known.isEmpty {
        throw Problem(.undecodable, "The stream has no pictures.")
      }
      throw Problem(
        .noParameterSets,
        "No slice has the parameter sets that it refers to; nothing can be decoded.")
    }
    index.arrange()
    return index
  }

  private var notRecognised: Problem {
    let detail =
      recognition.looksLikeH265
      ? "The NAL units are those of H.265, not of H.264."
      : unitCount == 0
        ? "There is no start code in the body." : "No NAL unit of type 1, 5, 7 or 8 makes sense."
    return Problem(.unrecognisedInput, detail)
  }
}

// MARK: Syntax

extension DecodeUnitReader {
  private mutating func readSPS(
    _ unit: NALUnitExtent, _ bytes: Span<UInt8>, _ place: DecodeJudge.Place
  ) throws(Problem) -> InputRecognition.Evidence {
    rbsp.load(bytes, headerSize: 1)
    let payload = rbsp.bytes
    var bits = BitReader(payload.span)
    let set: SequenceParameterSet
    do throws(SyntaxError) {
      set = try SequenceParameterSet(parsing: &bits)
    } catch {
      return .none
    }
    try judge.check(set, place)
    note(unit, bytes, id: set.id)
    parameterSets.store(set)
    return set.profileName == nil ? .weak : .strong
  }

  private mutating func readPPS(
    _ unit: NALUnitExtent, _ bytes: Span<UInt8>
  ) -> InputRecognition.Evidence {
    rbsp.load(bytes, headerSize: 1)
    let payload = rbsp.bytes
    var bits = BitReader(payload.span)
    do throws(SyntaxError) {
      let known = parameterSets
      let set = try PictureParameterSet(parsing: &bits) {
        known.chromaFormatIDC(ofSequenceParameterSet: $0)
      }
      note(unit, bytes, id: set.id)
      parameterSets.store(set)
      let hasSPS = known.chromaFormatIDC(ofSequenceParameterSet: set.sequenceParameterSetID) != nil
      return hasSPS && bits.issues.isEmpty ? .strong : .weak
    } catch {
      return .none
    }
  }

  /// Remembers where a parameter set is, unless it repeats the one in force.
  private mutating func note(_ unit: NALUnitExtent, _ bytes: Span<UInt8>, id: Int) {
    let name = Int(bytes[0] & 31) << 8 | id
    var content: [UInt8] = []
    content.append(copying: bytes)
    guard known[name] != content else { return }
    known[name] = content
    guard index.parameterSets.count < DecodeIndex.parameterSetLimit else {
      index.isReliable = false
      return
    }
    index.parameterSets.append(
      DecodeIndex.ParameterSet(name: name, offset: unit.offset, size: unit.size))
  }

  /// Looks for a recovery point among the messages of an SEI NAL unit (H.264 §D.1.8).
  private mutating func readSEI(_ bytes: Span<UInt8>) {
    rbsp.load(bytes, headerSize: 1)
    let payload = rbsp.bytes
    var bits = BitReader(payload.span)
    let messages = SEIMessage.parseAll(&bits, active: nil, parameterSets: parameterSets)
    if let point = messages.lazy.compactMap(\.recoveryPoint).first {
      recoveryFrameCount = point.recoveryFrameCnt
    }
  }

  /// Most slice headers are short; the kept bytes are read whole only for one that is not.
  private static let usualHeaderBytes = 64

  private mutating func readSlice(
    _ unitHeader: NALUnitHeader, _ bytes: Span<UInt8>, _ place: DecodeJudge.Place
  ) throws(Problem) -> (AccessUnitTracker.Slice?, InputRecognition.Evidence) {
    var failure = parseSlice(unitHeader, bytes.extracting(first: Self.usualHeaderBytes))
    if failure?.reason == .truncated { failure = parseSlice(unitHeader, bytes) }
    switch failure?.reason {
    case nil:
      break
    case .missingPictureParameterSet, .missingSequenceParameterSet:
      if !isOpen, header.firstMbInSlice == 0 { index.picturesWithoutParameterSets += 1 }
      return (nil, header.firstMbInSlice < 139_264 ? .weak : .none)
    default:
      return (nil, .none)
    }
    guard let sps = parameterSets.sequenceParameterSet(header.seqParameterSetID),
      let pps = parameterSets.pictureParameterSet(header.picParameterSetID)
    else { return (nil, .none) }
    readableSlices += 1
    try judge.check(header, sps, pps, isPartition: unitHeader.type == .partitionA, place)
    var slice = AccessUnitTracker.Slice(
      picture: PictureIdentity(header, unitHeader), firstMb: header.firstMbInSlice)
    slice.colourPlane = header.colourPlaneID
    slice.isRedundant = header.redundantPicCnt > 0
    return (slice, .strong)
  }

  private mutating func parseSlice(
    _ unitHeader: NALUnitHeader, _ bytes: Span<UInt8>
  ) -> SyntaxError? {
    rbsp.load(bytes, headerSize: 1)
    let payload = rbsp.bytes
    var bits = BitReader(payload.span)
    do throws(SyntaxError) {
      try header.parse(&bits, unit: unitHeader, parameterSets: parameterSets)
      return nil
    } catch {
      return error
    }
  }
}

// MARK: Frames

extension DecodeUnitReader {
  private mutating func add(
    _ unit: NALUnitExtent, _ unitHeader: NALUnitHeader, _ slice: AccessUnitTracker.Slice?,
    _ place: DecodeJudge.Place
  ) throws(Problem) {
    let isForDecoder = DecodeUnits.areForDecoder(unitHeader.type.rawValue)
    var placement = tracker.place(unitHeader.type, slice)
    if let slice, placement == .opens, isOpen, slice.firstMb > lastFirstMb {
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
      try beginPicture(unitHeader, place)
      waiting = Run()
    }
    if let slice, !slice.isRedundant {
      try judge.checkOrder(
        of: header, in: parameterSets, after: placement == .opens ? nil : lastFirstMb, place)
      lastFirstMb = slice.firstMb
      if header.sliceType != .i { index.entries[index.entries.count - 1].flags.remove(.intra) }
    }
  }

  /// A slice opens an access unit: a new frame, or the second field of the one before.
  private mutating func beginPicture(
    _ unitHeader: NALUnitHeader, _ place: DecodeJudge.Place
  ) throws(Problem) {
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
    guard index.entries.count < limits.maxFrames else {
      throw Problem(
        .tooManyFrames, "The stream has more than max_frames, \(limits.maxFrames) frames.",
        members: [.init("limit", limits.maxFrames)])
    }
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
    if index.entries.count == 1, let rate = sps.frameRate {
      index.frameRate = (rate.numerator, rate.denominator)
    }
    let size = sps.displaySize ?? sps.codedSize
    let shape = DecodeIndex.Shape(
      width: size.width, height: size.height, chromaFormatIDC: sps.chromaFormatIDC,
      bitDepth: sps.bitDepthLuma)
    if index.shapes.count < 2, !index.shapes.contains(shape) { index.shapes.append(shape) }
    index.largestFrame = max(index.largestFrame, DecodeJudge.frameBytes(sps))
  }

  private mutating func closeFrame() {
    let last = index.entries.count - 1
    let start = open.start ?? 0
    index.entries[last].offset = start
    index.entries[last].size = UInt32(clamping: open.end - start)
    if open.isMixed { index.entries[last].flags.insert(.mixed) }
  }
}
