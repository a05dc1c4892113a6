/// Messages about the decoding and the place of pictures.
extension SEIParser {
  /// `recovery_point()` (H.264 §D.1.8).
  func parseRecoveryPoint(
    _ reader: inout BitReader
  ) throws(SyntaxError) -> SEIMessage.RecoveryPoint {
    let point = SEIMessage.RecoveryPoint(
      recoveryFrameCnt: try reader.ue(
        "recovery_frame_cnt", in: 0...(active?.maxFrameNum ?? 1 << 16) - 1),
      exactMatch: try reader.flag("exact_match_flag"),
      brokenLink: try reader.flag("broken_link_flag"))
    _ = try reader.u(2, "changing_slice_group_idc", in: 0...2)
    return point
  }

  /// `dec_ref_pic_marking_repetition()` (H.264 §D.1.9).
  func parseDecRefPicMarkingRepetition(_ reader: inout BitReader) throws(SyntaxError) {
    guard let active else { return recordBytes(&reader) }
    var header = SliceHeader()
    header.isIDR = try reader.flag("original_idr_flag")
    _ = try reader.ue("original_frame_num")
    if !active.frameMbsOnly, try reader.flag("original_field_pic_flag") {
      _ = try reader.flag("original_bottom_field_flag")
    }
    try header.parseDecRefPicMarking(&reader)
  }

  /// `scene_info()` (H.264 §D.1.11).
  func parseSceneInfo(_ reader: inout BitReader) throws(SyntaxError) {
    guard try reader.flag("scene_info_present_flag") else { return }
    _ = try reader.ue("scene_id")
    if try reader.ue("scene_transition_type", in: 0...6) > 3 {
      _ = try reader.ue("second_scene_id")
    }
  }

  /// `sub_seq_info()` (H.264 §D.1.12).
  func parseSubSeqInfo(_ reader: inout BitReader) throws(SyntaxError) {
    _ = try reader.ue("sub_seq_layer_num", in: 0...255)
    _ = try reader.ue("sub_seq_id", in: 0...65535)
    _ = try reader.flag("first_ref_pic_flag")
    _ = try reader.flag("leading_non_ref_pic_flag")
    _ = try reader.flag("last_pic_flag")
    if try reader.flag("sub_seq_frame_num_flag") { _ = try reader.ue("sub_seq_frame_num") }
  }
}

/// Messages that hold messages for other layers and views; these are listed in their own `sei`.
extension SEIParser {
  /// `scalable_nesting()` (H.264 §F.13.1.7).
  func parseScalableNesting(_ reader: inout BitReader) throws(SyntaxError) {
    if try !reader.flag("all_layer_representations_in_au_flag") {
      let count = try reader.ue("num_layer_representations_minus1", within: 0...2047) + 1
      reader.record?.beginLoop()
      for _ in 0..<count {
        _ = try reader.u(3, "sei_dependency_id")
        _ = try reader.u(4, "sei_quality_id")
        reader.record?.nextTurn()
      }
      reader.record?.end()
      _ = try reader.u(3, "sei_temporal_id")
    }
    try parseNested(&reader, isList: true)
  }

  /// `mvc_scalable_nesting()` (H.264 §G.13.1.2).
  func parseMultiviewNesting(_ reader: inout BitReader) throws(SyntaxError) {
    if try reader.flag("operation_point_flag") {
      let count = try reader.ue("num_view_components_op_minus1", within: 0...1023) + 1
      try parseViews(&reader, "sei_op_view_id", count: count)
      _ = try reader.u(3, "sei_op_temporal_id")
    } else if try !reader.flag("all_view_components_in_au_flag") {
      let count = try reader.ue("num_view_components_minus1", within: 0...1023) + 1
      try parseViews(&reader, "sei_view_id", count: count)
    }
    try parseNested(&reader, isList: false)
  }

  private func parseViews(
    _ reader: inout BitReader, _ element: String, count: Int
  ) throws(SyntaxError) {
    reader.record?.beginLoop()
    for _ in 0..<count {
      _ = try reader.u(10, element)
      reader.record?.nextTurn()
    }
    reader.record?.end()
  }

  private func parseNested(_ reader: inout BitReader, isList: Bool) throws(SyntaxError) {
    var inner = self
    inner.active = nil
    inner.isNested = true
    reader.alignToByte()
    reader.record?.beginArray("sei")
    repeat {
      _ = try inner.parseMessage(&reader)
    } while isList && reader.bitsLeft >= 16
    reader.record?.end()
  }
}
