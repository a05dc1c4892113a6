/// `hrd_parameters()` (H.264 §E.1.2).
package struct HypotheticalReferenceDecoder: Equatable, Sendable {
  /// One delivery schedule, as transmitted.
  package struct Schedule: Equatable, Sendable {
    package var bitRateValueMinus1: Int
    package var cpbSizeValueMinus1: Int
    package var constantBitRate: Bool
  }

  package var bitRateScale = 0
  package var cpbSizeScale = 0
  /// One to 32 schedules.
  package var schedules: [Schedule] = []
  /// Lengths in bits of elements in buffering period and picture timing SEI messages.
  package var initialCpbRemovalDelayLength = 24
  package var cpbRemovalDelayLength = 24
  package var dpbOutputDelayLength = 24
  package var timeOffsetLength = 24
}

extension HypotheticalReferenceDecoder {
  /// Parses `hrd_parameters()` and records it as an object called `name`.
  init(parsing reader: inout BitReader, as name: String) throws(SyntaxError) {
    reader.record?.beginObject(name)
    let count = try reader.ue("cpb_cnt_minus1", within: 0...31) + 1
    bitRateScale = try reader.u(4, "bit_rate_scale")
    cpbSizeScale = try reader.u(4, "cpb_size_scale")
    reader.record?.beginLoop()
    for _ in 0..<count {
      schedules.append(
        Schedule(
          bitRateValueMinus1: try reader.ue("bit_rate_value_minus1", in: 0...0xFFFF_FFFE),
          cpbSizeValueMinus1: try reader.ue("cpb_size_value_minus1", in: 0...0xFFFF_FFFE),
          constantBitRate: try reader.flag("cbr_flag")))
      reader.record?.nextTurn()
    }
    reader.record?.end()
    initialCpbRemovalDelayLength = try reader.u(5, "initial_cpb_removal_delay_length_minus1") + 1
    cpbRemovalDelayLength = try reader.u(5, "cpb_removal_delay_length_minus1") + 1
    dpbOutputDelayLength = try reader.u(5, "dpb_output_delay_length_minus1") + 1
    timeOffsetLength = try reader.u(5, "time_offset_length")
    reader.record?.end()
  }

  /// BitRate of a schedule, in bits per second (equation E-37).
  package func bitRate(of schedule: Schedule) -> Int {
    (schedule.bitRateValueMinus1 + 1) << (6 + bitRateScale)
  }

  /// CpbSize of a schedule, in bits (equation E-38).
  package func cpbSize(of schedule: Schedule) -> Int {
    (schedule.cpbSizeValueMinus1 + 1) << (4 + cpbSizeScale)
  }
}
