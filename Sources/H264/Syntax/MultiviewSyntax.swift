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
    try skipReferences(&reader, views: 1..<count, .anchor)
    try skipReferences(&reader, views: 1..<count, .nonAnchor)
    try skipLevels(&reader, hasDepth: false)
    if isFrameCompatible { try skipFrameCompatible(&reader, frameMbsOnly: frameMbsOnly) }
    reader.record?.end()
    return viewIDs
  }

  /// Parses `seq_parameter_set_mvcd_extension()` (H.264 §H.7.3.2.1.5).
  static func parseDepthExtension(_ reader: inout BitReader) throws(SyntaxError) -> [Int] {
    reader.record?.beginObject("seq_parameter_set_mvcd_extension")
    let count = try reader.ue("num_views_minus1", within: 0...1023) + 1
    var viewIDs: [Int] = []
    var withDepth: [Int] = []
    reader.record?.beginLoop()
    for view in 0..<count {
      viewIDs.append(try reader.ue("view_id", in: 0...1023))
      if try reader.flag("depth_view_present_flag"), view > 0 { withDepth.append(view) }
      _ = try reader.flag("texture_view_present_flag")
      reader.record?.nextTurn()
    }
    reader.record?.end()
    try skipReferences(&reader, views: withDepth, .anchor)
    try skipReferences(&reader, views: withDepth, .nonAnchor)
    try skipLevels(&reader, hasDepth: true)
    if try reader.flag("mvcd_vui_parameters_present_flag") {
      try skipVUI(&reader, hasDepth: true)
    }
    if try reader.flag("texture_vui_parameters_present_flag") {
      try skipVUI(&reader)
    }
    reader.record?.end()
    return viewIDs
  }
}
