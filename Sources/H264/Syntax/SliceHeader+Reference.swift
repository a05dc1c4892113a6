/// The parts of a slice header about reference pictures.
extension SliceHeader {
  /// Reads `ref_pic_list_modification()` (H.264 §7.3.3.1), or `ref_pic_list_mvc_modification()`
  /// (§G.7.3.3.1.1), which adds the commands 4 and 5.
  func skipRefPicListModification(
    _ reader: inout BitReader, isMultiview: Bool
  ) throws(SyntaxError) {
    reader.record?.beginObject(
      isMultiview ? "ref_pic_list_mvc_modification" : "ref_pic_list_modification")
    let commands = 0...(isMultiview ? 5 : 3)
    if sliceType?.isIntra == false, try reader.flag("ref_pic_list_modification_flag_l0") {
      try skipModifications(
        &reader, as: "modifications_l0", commands: commands, entries: numRefIdxL0Active)
    }
    if sliceType == .b, try reader.flag("ref_pic_list_modification_flag_l1") {
      try skipModifications(
        &reader, as: "modifications_l1", commands: commands, entries: numRefIdxL1Active)
    }
    reader.record?.end()
  }

  /// `entries`: of the list, which there must not be more commands than (§7.4.3.1).
  private func skipModifications(
    _ reader: inout BitReader, as name: String, commands: ClosedRange<Int>, entries: Int
  ) throws(SyntaxError) {
    reader.record?.beginArray(name)
    var command: Int
    var count = 0
    repeat {
      let start = reader.position
      reader.record?.beginObject("")
      command = try reader.ue("modification_of_pic_nums_idc", within: commands)
      switch command {
      case 0, 1: _ = try reader.ue("abs_diff_pic_num_minus1")
      case 2: _ = try reader.ue("long_term_pic_num")
      case 4, 5: _ = try reader.ue("abs_diff_view_idx_minus1")
      default: break
      }
      reader.record?.end()
      if command != 3 { count += 1 }
      if count == entries + 1 || count > Self.longestList {
        let excess = SyntaxError("modification_of_pic_nums_idc", at: start, .tooMuch)
        if count > Self.longestList { throw excess }
        if command != 3 { reader.note(excess) }
      }
    } while command != 3
    reader.record?.end()
  }

  /// Entries that a reference picture list can have.
  private static let longestList = 32

  /// Reads `pred_weight_table()` (H.264 §7.3.3.2).
  func skipPredWeightTable(
    _ reader: inout BitReader, sps: SequenceSteering
  ) throws(SyntaxError) {
    let hasChroma = sps.chromaArrayType != 0
    reader.record?.beginObject("pred_weight_table")
    _ = try reader.ue("luma_log2_weight_denom", in: 0...7)
    if hasChroma { _ = try reader.ue("chroma_log2_weight_denom", in: 0...7) }
    try skipWeights(&reader, count: numRefIdxL0Active, hasChroma: hasChroma, names: .l0)
    if sliceType == .b {
      try skipWeights(&reader, count: numRefIdxL1Active, hasChroma: hasChroma, names: .l1)
    }
    reader.record?.end()
  }

  private struct WeightNames {
    let lumaFlag, lumaWeight, lumaOffset, chromaFlag, chromaWeight, chromaOffset: String

    static let l0 = WeightNames(
      lumaFlag: "luma_weight_l0_flag", lumaWeight: "luma_weight_l0",
      lumaOffset: "luma_offset_l0", chromaFlag: "chroma_weight_l0_flag",
      chromaWeight: "chroma_weight_l0", chromaOffset: "chroma_offset_l0")
    static let l1 = WeightNames(
      lumaFlag: "luma_weight_l1_flag", lumaWeight: "luma_weight_l1",
      lumaOffset: "luma_offset_l1", chromaFlag: "chroma_weight_l1_flag",
      chromaWeight: "chroma_weight_l1", chromaOffset: "chroma_offset_l1")
  }

  private func skipWeights(
    _ reader: inout BitReader, count: Int, hasChroma: Bool, names: WeightNames
  ) throws(SyntaxError) {
    reader.record?.beginLoop()
    for _ in 0..<count {
      if try reader.flag(names.lumaFlag) {
        _ = try reader.se(names.lumaWeight, in: -128...127)
        _ = try reader.se(names.lumaOffset, in: -128...127)
      }
      if hasChroma, try reader.flag(names.chromaFlag) {
        reader.record?.beginLoop()
        for _ in 0..<2 {
          _ = try reader.se(names.chromaWeight, in: -128...127)
          _ = try reader.se(names.chromaOffset, in: -128...127)
          reader.record?.nextTurn()
        }
        reader.record?.end()
      }
      reader.record?.nextTurn()
    }
    reader.record?.end()
  }

  /// Parses `dec_ref_pic_marking()` (H.264 §7.3.3.3).
  mutating func parseDecRefPicMarking(_ reader: inout BitReader) throws(SyntaxError) {
    reader.record?.beginObject("dec_ref_pic_marking")
    if isIDR {
      noOutputOfPriorPics = try reader.flag("no_output_of_prior_pics_flag")
      longTermReference = try reader.flag("long_term_reference_flag")
    } else {
      adaptiveRefPicMarkingMode = try reader.flag("adaptive_ref_pic_marking_mode_flag")
      if adaptiveRefPicMarkingMode { try parseMemoryManagement(&reader) }
    }
    reader.record?.end()
  }

  private mutating func parseMemoryManagement(
    _ reader: inout BitReader
  ) throws(SyntaxError) {
    reader.record?.beginArray("memory_management_control_operations")
    while true {
      try Self.checkOperationCount(memoryManagement.count, at: reader.position)
      reader.record?.beginObject("")
      let operation = try reader.ue("memory_management_control_operation", within: 0...6)
      switch operation {
      case 1:
        memoryManagement.append(
          .unmarkShortTerm(
            differenceOfPicNumsMinus1: try reader.ue("difference_of_pic_nums_minus1")))
      case 2:
        memoryManagement.append(
          .unmarkLongTerm(longTermPicNum: try reader.ue("long_term_pic_num")))
      case 3:
        memoryManagement.append(
          .assignLongTerm(
            differenceOfPicNumsMinus1: try reader.ue("difference_of_pic_nums_minus1"),
            longTermFrameIdx: try reader.ue("long_term_frame_idx")))
      case 4:
        memoryManagement.append(
          .limitLongTerm(
            maxLongTermFrameIdxPlus1: try reader.ue("max_long_term_frame_idx_plus1")))
      case 5:
        memoryManagement.append(.unmarkAll)
      case 6:
        memoryManagement.append(
          .markCurrentLongTerm(longTermFrameIdx: try reader.ue("long_term_frame_idx")))
      default:
        break
      }
      reader.record?.end()
      if operation == 0 { break }
    }
    reader.record?.end()
  }

  /// Two for each of 32 fields, and one each of the operations 4, 5 and 6 (§7.4.3.3).
  private static let mostOperations = 67

  /// Reads `dec_ref_base_pic_marking()` (H.264 §F.7.3.3.5).
  static func skipDecRefBasePicMarking(_ reader: inout BitReader) throws(SyntaxError) {
    reader.record?.beginObject("dec_ref_base_pic_marking")
    if try reader.flag("adaptive_ref_base_pic_marking_mode_flag") {
      reader.record?.beginArray("memory_management_base_control_operations")
      var operation: Int
      var count = 0
      repeat {
        try checkOperationCount(count, at: reader.position)
        count += 1
        reader.record?.beginObject("")
        operation = try reader.ue("memory_management_base_control_operation", within: 0...2)
        switch operation {
        case 1: _ = try reader.ue("difference_of_base_pic_nums_minus1")
        case 2: _ = try reader.ue("long_term_base_pic_num")
        default: break
        }
        reader.record?.end()
      } while operation != 0
      reader.record?.end()
    }
    reader.record?.end()
  }

  private static func checkOperationCount(_ count: Int, at position: Int) throws(SyntaxError) {
    guard count <= mostOperations else {
      throw SyntaxError("memory_management_control_operation", at: position, .tooMuch)
    }
  }
}
