internal import H264
internal import Platform

/// Puts NAL units together to frames.
struct DecodeUnitReader: Sendable {
  let limits: Limits
  var judge: DecodeJudge
  var rbsp = RBSP()
  var parameterSets = ParameterSets()
  var header = SliceHeader()
  var tracker = AccessUnitTracker()
  var pairing = FieldPairing()
  var order = PictureOrderCount()
  var frameNumber = FrameNumber()
  var index = DecodeIndex()
  var known: [Int: [UInt8]] = [:]

  var recognition = InputRecognition()
  /// Why the stream is refused, once it is known to be H.264.
  var objection: Problem?
  var unitCount = 0
  var readableSlices = 0
  var open = Run()
  var isOpen = false
  var waiting = Run()
  /// recovery_frame_cnt of a recovery point SEI message that waits for its picture.
  var recoveryFrameCount: Int?
  var lastFirstMb = 0

  /// NAL units that lie next to each other.
  struct Run: Sendable {
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

  init(limits: Limits, isForDecoder: Bool) {
    self.limits = limits
    judge = DecodeJudge(limits: limits, isForDecoder: isForDecoder)
  }

  /// Takes the next NAL unit, with the bytes of it that were kept.
  mutating func take(_ unit: NALUnitExtent, _ bytes: Span<UInt8>) throws(Problem) {
    guard !bytes.isEmpty else {
      recognition.add(unit, bytes, .none)
      return
    }
    unitCount += 1
    guard unitCount <= limits.maxNALUnits else {
      guard recognition.isRecognised else { throw notRecognised }
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
      evidence = readSPS(unit, bytes, place)
    case .pps:
      evidence = readPPS(unit, bytes)
    case .sei:
      readSEI(bytes)
    case .nonIDRSlice, .idrSlice, .partitionA:
      (slice, evidence) = readSlice(unitHeader, bytes, place)
      if slice == nil, isOpen { index.isReliable = false }
    case .sliceExtension:
      index.extension = unitHeader.extension?.kind == .svc ? .scalable : .multiview
    case .depthSliceExtension:
      index.extension = .depth
    default:
      break
    }
    recognition.add(unit, bytes, evidence)
    add(unit, unitHeader, slice, place)
    if recognition.isRecognised, let objection { throw objection }
    guard index.entries.count <= limits.maxFrames else {
      guard recognition.isRecognised else { throw notRecognised }
      throw Problem(
        .tooManyFrames, "The stream has more than max_frames, \(limits.maxFrames) frames.",
        members: [.init("limit", limits.maxFrames)])
    }
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

  var notRecognised: Problem { recognition.problem(units: unitCount) }

  /// Notes the first reason to refuse the stream. Other data may look like a strange stream, so
  /// that nothing is said before it is recognised.
  mutating func object(_ check: () throws(Problem) -> Void) {
    guard objection == nil else { return }
    do throws(Problem) { try check() } catch { objection = error }
  }
}
