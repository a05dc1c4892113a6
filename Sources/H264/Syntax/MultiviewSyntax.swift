/// The sequence parameter set extensions of Annexes G and H, which say which views there are and
/// what they are predicted from.
enum MultiviewSyntax {
  /// Parses `seq_parameter_set_mvc_extension()` (H.264 §G.7.3.2.1.4); returns each view's view_id.
  static func parseExtension(
    _ reader: inout BitReader, isFrameCompatible: Bool, frameMbsOnly: Bool
  ) throws(SyntaxError) -> [Int] {
    reader.record?.beginObject("seq_parameter_set_mvc_extension")
    let count = try reader.ue("num_views_minus1", within: 0...1023) + 1
    var viewIDs: [Int] = []
    reader.record?.beginLoop()
    for _ in 0..<count {
      viewIDs.append(try reader.ue("view_id", in: 0...1023))
      reader.record?.nextTurn()
    }
    reader.record?.end()
    try skipReferences(&reader, ofViews: [Bool](repeating: true, count: count))
    try skipLevels(&reader, hasDepth: false)
    if isFrameCompatible { try skipFrameCompatible(&reader, frameMbsOnly: frameMbsOnly) }
    reader.record?.end()
    return viewIDs
  }

  /// The views of a stream with depth, in coding order.
  struct DepthViews {
    var ids: [Int] = []
    var hasDepth: [Bool] = []
    var hasTexture: [Bool] = []
  }

  /// Parses `seq_parameter_set_mvcd_extension()` (H.264 §H.7.3.2.1.5).
  static func parseDepthExtension(_ reader: inout BitReader) throws(SyntaxError) -> DepthViews {
    reader.record?.beginObject("seq_parameter_set_mvcd_extension")
    let count = try reader.ue("num_views_minus1", within: 0...1023) + 1
    var views = DepthViews()
    reader.record?.beginLoop()
    for _ in 0..<count {
      views.ids.append(try reader.ue("view_id", in: 0...1023))
      views.hasDepth.append(try reader.flag("depth_view_present_flag"))
      views.hasTexture.append(try reader.flag("texture_view_present_flag"))
      reader.record?.nextTurn()
    }
    reader.record?.end()
    try skipReferences(&reader, ofViews: views.hasDepth)
    try skipLevels(&reader, hasDepth: true)
    if try reader.flag("mvcd_vui_parameters_present_flag") {
      try skipDepthVUI(&reader)
    }
    if try reader.flag("texture_vui_parameters_present_flag") {
      try skipVUI(&reader)
    }
    reader.record?.end()
    return views
  }
}

// MARK: Parts

extension MultiviewSyntax {
  private struct ReferenceNames {
    let countL0, referenceL0, countL1, referenceL1: String

    static let anchor = ReferenceNames(
      countL0: "num_anchor_refs_l0", referenceL0: "anchor_ref_l0",
      countL1: "num_anchor_refs_l1", referenceL1: "anchor_ref_l1")
    static let nonAnchor = ReferenceNames(
      countL0: "num_non_anchor_refs_l0", referenceL0: "non_anchor_ref_l0",
      countL1: "num_non_anchor_refs_l1", referenceL1: "non_anchor_ref_l1")
  }

  /// Reads what each of the views that `isPresent` says is predicted from; the first from none.
  static func skipReferences(
    _ reader: inout BitReader, ofViews isPresent: [Bool]
  ) throws(SyntaxError) {
    try skipReferences(&reader, isPresent, .anchor)
    try skipReferences(&reader, isPresent, .nonAnchor)
  }

  private static func skipReferences(
    _ reader: inout BitReader, _ isPresent: [Bool], _ names: ReferenceNames
  ) throws(SyntaxError) {
    reader.record?.beginLoop(from: 1)
    for isPresent in isPresent.dropFirst() {
      if isPresent {
        let countL0 = try reader.ue(names.countL0, within: 0...15)
        try reader.skipList(names.referenceL0, count: countL0)
        let countL1 = try reader.ue(names.countL1, within: 0...15)
        try reader.skipList(names.referenceL1, count: countL1)
      }
      reader.record?.nextTurn()
    }
    reader.record?.end()
  }

  private static func skipLevels(
    _ reader: inout BitReader, hasDepth: Bool
  ) throws(SyntaxError) {
    let count = try reader.ue("num_level_values_signalled_minus1", within: 0...63) + 1
    reader.record?.beginLoop()
    for _ in 0..<count {
      _ = try reader.u(8, "level_idc")
      let points = try reader.ue("num_applicable_ops_minus1", within: 0...1023) + 1
      reader.record?.beginLoop()
      for _ in 0..<points {
        try skipOperationPoint(&reader, hasDepth: hasDepth)
        reader.record?.nextTurn()
      }
      reader.record?.end()
      reader.record?.nextTurn()
    }
    reader.record?.end()
  }

  private static func skipOperationPoint(
    _ reader: inout BitReader, hasDepth: Bool
  ) throws(SyntaxError) {
    _ = try reader.u(3, "applicable_op_temporal_id")
    let views = try reader.ue("applicable_op_num_target_views_minus1", within: 0...1023) + 1
    reader.record?.beginLoop()
    for _ in 0..<views {
      _ = try reader.ue("applicable_op_target_view_id")
      if hasDepth {
        _ = try reader.flag("applicable_op_depth_flag")
        _ = try reader.flag("applicable_op_texture_flag")
      }
      reader.record?.nextTurn()
    }
    reader.record?.end()
    if hasDepth {
      _ = try reader.ue("applicable_op_num_texture_views_minus1")
      _ = try reader.ue("applicable_op_num_depth_views")
    } else {
      _ = try reader.ue("applicable_op_num_views_minus1")
    }
  }

  /// Reads how a frame-compatible signal is enhanced (profile_idc 134).
  private static func skipFrameCompatible(
    _ reader: inout BitReader, frameMbsOnly: Bool
  ) throws(SyntaxError) {
    let format = try reader.u(6, "mfc_format_idc")
    if format <= 1, try !reader.flag("default_grid_position_flag") {
      _ = try reader.u(4, "view0_grid_position_x")
      _ = try reader.u(4, "view0_grid_position_y")
      _ = try reader.u(4, "view1_grid_position_x")
      _ = try reader.u(4, "view1_grid_position_y")
    }
    _ = try reader.flag("rpu_filter_enabled_flag")
    if !frameMbsOnly { _ = try reader.flag("rpu_field_processing_flag") }
  }

  /// Reads `mvc_vui_parameters_extension()` (H.264 §G.14.1).
  static func skipVUI(_ reader: inout BitReader) throws(SyntaxError) {
    reader.record?.beginObject("mvc_vui_parameters_extension")
    let count = try reader.ue("vui_mvc_num_ops_minus1", within: 0...1023) + 1
    reader.record?.beginLoop()
    for _ in 0..<count {
      _ = try reader.u(3, "vui_mvc_temporal_id")
      let views =
        try reader.ue("vui_mvc_num_target_output_views_minus1", within: 0...1023) + 1
      try reader.skipList("vui_mvc_view_id", count: views)
      try OperationPointTiming.skip(&reader, names: .multiview)
      reader.record?.nextTurn()
    }
    reader.record?.end()
    reader.record?.end()
  }

  /// Reads `mvcd_vui_parameters_extension()` (H.264 §H.14.1).
  private static func skipDepthVUI(_ reader: inout BitReader) throws(SyntaxError) {
    reader.record?.beginObject("mvcd_vui_parameters_extension")
    let count = try reader.ue("vui_mvcd_num_ops_minus1", within: 0...1023) + 1
    reader.record?.beginLoop()
    for _ in 0..<count {
      _ = try reader.u(3, "vui_mvcd_temporal_id")
      let views =
        try reader.ue("vui_mvcd_num_target_output_views_minus1", within: 0...1023) + 1
      reader.record?.beginLoop()
      for _ in 0..<views {
        _ = try reader.ue("vui_mvcd_view_id")
        _ = try reader.flag("vui_mvcd_depth_flag")
        _ = try reader.flag("vui_mvcd_texture_flag")
        reader.record?.nextTurn()
      }
      reader.record?.end()
      try OperationPointTiming.skip(&reader, names: .depth)
      reader.record?.nextTurn()
    }
    reader.record?.end()
    reader.record?.end()
  }
}

extension BitReader {
  /// Reads a loop of one `ue(v)` element.
  mutating func skipList(_ element: String, count: Int) throws(SyntaxError) {
    record?.beginLoop()
    for _ in 0..<count {
      _ = try ue(element)
      record?.nextTurn()
    }
    record?.end()
  }
}
