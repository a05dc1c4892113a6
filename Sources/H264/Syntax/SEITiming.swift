/// Messages whose elements are as long as the HRD parameters say.
extension SEIParser {
  /// `buffering_period()` (H.264 §D.1.2). The arrays hold the values for the NAL HRD and then those
  /// for the VCL HRD, as far as the sequence parameter set has these.
  mutating func parseBufferingPeriod(_ reader: inout BitReader) throws(SyntaxError) {
    let start = reader.position
    let id = try reader.ue("seq_parameter_set_id", within: 0...31)
    guard !isNested else { return recordBytes(&reader) }
    guard let set = parameterSets.sequenceParameterSet(id) else {
      recordBytes(&reader)
      throw SyntaxError("seq_parameter_set_id", at: start, .missingSequenceParameterSet(id))
    }
    active = set
    reader.record?.beginLoop()
    for decoder in [set.vui?.nalHRD, set.vui?.vclHRD] {
      guard let decoder else { continue }
      for _ in decoder.schedules {
        let length = decoder.initialCpbRemovalDelayLength
        _ = try reader.u(length, "initial_cpb_removal_delay")
        _ = try reader.u(length, "initial_cpb_removal_delay_offset")
        reader.record?.nextTurn()
      }
    }
    reader.record?.end()
  }

  /// `pic_timing()` (H.264 §D.1.3).
  func parsePicTiming(_ reader: inout BitReader) throws(SyntaxError) {
    guard let active else { return recordBytes(&reader) }
    let decoder = active.vui?.nalHRD ?? active.vui?.vclHRD
    if let decoder {
      _ = try reader.u(decoder.cpbRemovalDelayLength, "cpb_removal_delay")
      _ = try reader.u(decoder.dpbOutputDelayLength, "dpb_output_delay")
    }
    guard active.vui?.picStructPresent == true else { return }
    let picStruct = try reader.u(4, "pic_struct", in: 0...8)
    let clocks = [1, 1, 1, 2, 2, 3, 3, 2, 3]
    guard clocks.indices.contains(picStruct) else { return }
    reader.record?.beginLoop()
    for _ in 0..<clocks[picStruct] {
      if try reader.flag("clock_timestamp_flag") {
        try parseClockTimestamp(&reader, timeOffsetLength: decoder?.timeOffsetLength ?? 24)
      }
      reader.record?.nextTurn()
    }
    reader.record?.end()
  }

  private func parseClockTimestamp(
    _ reader: inout BitReader, timeOffsetLength: Int
  ) throws(SyntaxError) {
    _ = try reader.u(2, "ct_type", in: 0...2)
    _ = try reader.flag("nuit_field_based_flag")
    _ = try reader.u(5, "counting_type", in: 0...6)
    let isFull = try reader.flag("full_timestamp_flag")
    _ = try reader.flag("discontinuity_flag")
    _ = try reader.flag("cnt_dropped_flag")
    _ = try reader.u(8, "n_frames")
    if isFull {
      _ = try reader.u(6, "seconds_value", in: 0...59)
      _ = try reader.u(6, "minutes_value", in: 0...59)
      _ = try reader.u(5, "hours_value", in: 0...23)
    } else if try reader.flag("seconds_flag") {
      _ = try reader.u(6, "seconds_value", in: 0...59)
      if try reader.flag("minutes_flag") {
        _ = try reader.u(6, "minutes_value", in: 0...59)
        if try reader.flag("hours_flag") { _ = try reader.u(5, "hours_value", in: 0...23) }
      }
    }
    if timeOffsetLength > 0 { _ = try reader.i(timeOffsetLength, "time_offset") }
  }
}
