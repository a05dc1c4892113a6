/// One scaling list as transmitted, in zig-zag or field scan order (H.264 §7.3.2.1.1.1).
package struct ScalingList: Equatable, Sendable {
  /// 16 or 64 values, 1 to 255; those of the default list are not filled in.
  package var values: [UInt8] = []
  /// The stream asks for the default list of table 7-2 and sent no values.
  package var useDefault = false
}

extension ScalingList {
  /// Parses `scaling_list()` of `size` values.
  init(parsing reader: inout BitReader, size: Int) throws(SyntaxError) {
    reader.record?.beginObject("scaling_list")
    var lastScale = 8
    var nextScale = 8
    values.reserveCapacity(size)
    reader.record?.beginLoop()
    for index in 0..<size {
      if nextScale != 0 {
        let delta = try reader.se("delta_scale", in: -128...127)
        nextScale = ((lastScale + delta) % 256 + 256) % 256
        useDefault = index == 0 && nextScale == 0
      }
      // After the first, a zero means that the last value holds to the end.
      if nextScale != 0 { lastScale = nextScale }
      values.append(UInt8(lastScale))
    }
    reader.record?.end()
    if useDefault { values = [] }
    if reader.record != nil { record(in: &reader) }
    reader.record?.end()
  }

  private func record(in reader: inout BitReader) {
    reader.record?.add("use_default", useDefault ? 1 : 0)
    guard !useDefault else { return }
    reader.record?.beginArray("values")
    for value in values { reader.record?.add("", Int(value)) }
    reader.record?.end()
  }
}

/// The scaling lists of a parameter set: six of 4x4, then two or six of 8x8, in the order of
/// table 7-2. Nil where the list was not sent and falls back.
package struct ScalingMatrix: Equatable, Sendable {
  package var lists: [ScalingList?] = []
}

extension ScalingMatrix {
  /// Which table-7-2 column an absent list takes its values from.
  enum FallBackRule {
    /// Rule set A: the default lists.
    case defaults
    /// Rule set B: the lists of the sequence parameter set.
    case sequence
  }

  init(
    parsing reader: inout BitReader, count: Int, presentFlag: String, fallBack: FallBackRule
  ) throws(SyntaxError) {
    reader.record?.beginLoop()
    for index in 0..<count {
      if try reader.flag(presentFlag) {
        lists.append(try ScalingList(parsing: &reader, size: index < 6 ? 16 : 64))
      } else {
        lists.append(nil)
        if reader.record != nil {
          reader.record?.beginObject("scaling_list")
          reader.record?.add("fall_back", fallBack.source(ofList: index))
          reader.record?.end()
        }
      }
      reader.record?.nextTurn()
    }
    reader.record?.end()
  }
}

extension ScalingMatrix.FallBackRule {
  /// Table 7-2: where list `index` comes from when it is not sent.
  func source(ofList index: Int) -> String {
    switch (index, self) {
    case (0, .defaults): "Default_4x4_Intra"
    case (3, .defaults): "Default_4x4_Inter"
    case (6, .defaults): "Default_8x8_Intra"
    case (7, .defaults): "Default_8x8_Inter"
    case (0, .sequence), (3, .sequence), (6, .sequence), (7, .sequence):
      "sequence-level list \(index)"
    case (..<6, _): "list \(index - 1)"
    default: "list \(index - 2)"
    }
  }
}
