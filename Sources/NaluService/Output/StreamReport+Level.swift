internal import H264

/// The limits of the level that a stream claims (H.264 table A-1).
extension StreamReport {
  /// Checks what the sequence parameter set itself says.
  mutating func checkLevel(_ set: SequenceParameterSet, _ place: UnitPlace) {
    guard let level = set.level else { return }
    let demand = StreamDemand(set)
    for excess in demand.excesses(over: level) { noteExcess(excess, set, demand, place) }
  }

  /// Checks the bit rate that was measured, once the stream has ended.
  mutating func checkMeasuredBitRate() {
    guard let set = totals.sps, let level = set.level else { return }
    let demand = measuredDemand(set)
    for excess in demand.excesses(over: level) where excess.element == nil {
      noteExcess(excess, set, demand, nil)
    }
  }

  /// The lowest level whose limits the first sequence parameter set and the measured bit rate keep.
  var lowestLevel: Level? {
    totals.sps.flatMap { measuredDemand($0).lowestLevel }
  }

  private func measuredDemand(_ set: SequenceParameterSet) -> StreamDemand {
    var demand = StreamDemand(set)
    if let duration = meter.duration { demand.runs.append((meter.bits, duration)) }
    if let peak = meter.peak { demand.runs.append((peak, 1)) }
    return demand
  }

  private mutating func noteExcess(
    _ excess: StreamDemand.Excess, _ set: SequenceParameterSet, _ demand: StreamDemand,
    _ place: UnitPlace?
  ) {
    let remedy = demand.lowestLevel.map { "level \($0.name) would do" } ?? "no level allows it"
    note(
      .error, .levelExceeded,
      "\(excess.what): more than the \(excess.limit) of level \(set.levelName); \(remedy).", place,
      element: excess.element)
  }
}

/// What a stream asks of a decoder, in the terms of table A-1.
struct StreamDemand {
  struct Excess: Equatable {
    var what: String
    var limit: Int
    /// The element that says so; nil for what was measured.
    var element: String?
  }

  private let set: SequenceParameterSet
  private let factor: BitRateFactor
  /// Bits that were measured over that many seconds.
  var runs: [(bits: Int, seconds: Double)] = []

  init(_ set: SequenceParameterSet) {
    self.set = set
    factor = BitRateFactor(profileIDC: set.profileIDC)
  }

  /// The lowest level that allows all of it.
  var lowestLevel: Level? {
    Level.all.first { excesses(over: $0).isEmpty }
  }

  func excesses(over level: Level) -> [Excess] {
    sizeExcesses(over: level) + bitRateExcesses(over: level)
  }

  /// §A.3.1 items a, b, c, f, g and h.
  private func sizeExcesses(over level: Level) -> [Excess] {
    var found: [Excess] = []
    let size = set.frameSizeInMbs
    if size > level.maxFrameSize {
      found.append(
        Excess(
          what: "A frame has \(size) macroblocks", limit: level.maxFrameSize,
          element: "pic_width_in_mbs_minus1"))
    }
    let sides = [
      (set.picWidthInMbs, "pic_width_in_mbs_minus1"),
      (set.frameHeightInMbs, "pic_height_in_map_units_minus1"),
    ]
    for (side, element) in sides where side * side > 8 * level.maxFrameSize {
      let limit = Int((8 * Double(level.maxFrameSize)).squareRoot())
      found.append(
        Excess(what: "One side of a frame has \(side) macroblocks", limit: limit, element: element))
    }
    if let rate = set.frameRate {
      let perSecond = Double(size) * Double(rate.numerator) / Double(rate.denominator)
      if perSecond > Double(level.maxMbsPerSecond) {
        found.append(
          Excess(
            what: "There are \(Int(perSecond.rounded())) macroblocks per second",
            limit: level.maxMbsPerSecond, element: "time_scale"))
      }
    }
    let frames = level.maxDpbFrames(frameSizeInMbs: size)
    let buffering = set.vui?.bitstreamRestriction?.maxDecFrameBuffering ?? 0
    if max(set.maxNumRefFrames, buffering) > frames {
      let isReferences = set.maxNumRefFrames > frames
      found.append(
        Excess(
          what: "The decoded picture buffer needs \(max(set.maxNumRefFrames, buffering)) frames",
          limit: frames,
          element: isReferences ? "max_num_ref_frames" : "max_dec_frame_buffering"))
    }
    return found
  }

  /// §A.3.1 items i and j, and that no more can arrive than MaxBR and MaxCPB let through (§C.1).
  private func bitRateExcesses(over level: Level) -> [Excess] {
    var found: [Excess] = []
    let decoders = [(set.vui?.nalHRD, factor.nal), (set.vui?.vclHRD, factor.vcl)]
    for case (let decoder?, let unit) in decoders {
      let rate = decoder.schedules.map(decoder.bitRate).max() ?? 0
      if rate > level.maxBitRate * unit {
        found.append(
          Excess(
            what: "The HRD parameters allow \(rate) bits per second",
            limit: level.maxBitRate * unit, element: "bit_rate_value_minus1"))
      }
      let size = decoder.schedules.map(decoder.cpbSize).max() ?? 0
      if size > level.maxCpbSize * unit {
        found.append(
          Excess(
            what: "The coded picture buffer has \(size) bits",
            limit: level.maxCpbSize * unit, element: "cpb_size_value_minus1"))
      }
    }
    let (rate, buffer) = (level.maxBitRate * factor.nal, level.maxCpbSize * factor.nal)
    for run in runs where Double(run.bits) > Double(rate) * run.seconds + Double(buffer) {
      let perSecond = Double(run.bits) / run.seconds
      guard run.seconds > 0, perSecond < 9e18 else { continue }
      found.append(Excess(what: "\(Int(perSecond)) bits per second were measured", limit: rate))
      break
    }
    return found
  }
}
