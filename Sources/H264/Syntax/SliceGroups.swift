/// How the slice groups of a picture are laid out (H.264 §7.3.2.2, §8.2.2), as transmitted, but for
/// the map of type 6, which is as large as a picture.
package enum SliceGroups: Equatable, Sendable {
  /// slice_group_map_type 0: `run_length_minus1` of each group.
  case interleaved(runLengthMinus1: [Int])
  /// Type 1.
  case dispersed
  /// Type 2: corners of every group but the last, as map unit numbers.
  case foreground(topLeft: [Int], bottomRight: [Int])
  /// Types 3 (box-out), 4 (raster) and 5 (wipe).
  case changing(type: Int, directionFlag: Bool, rateMinus1: Int)
  /// Type 6: a group is given for each of so many map units.
  case explicit(mapUnits: Int)
}

extension SliceGroups {
  /// Parses from `slice_group_map_type` on; `count` is the number of slice groups, 2 to 8.
  init(parsing reader: inout BitReader, count: Int) throws(SyntaxError) {
    let type = try reader.ue("slice_group_map_type", within: 0...6)
    switch type {
    case 0:
      var runs: [Int] = []
      reader.record?.beginLoop()
      for _ in 0..<count {
        runs.append(try reader.ue("run_length_minus1"))
        reader.record?.nextTurn()
      }
      reader.record?.end()
      self = .interleaved(runLengthMinus1: runs)
    case 1:
      self = .dispersed
    case 2:
      var topLeft: [Int] = []
      var bottomRight: [Int] = []
      reader.record?.beginLoop()
      for _ in 0..<count - 1 {
        topLeft.append(try reader.ue("top_left"))
        bottomRight.append(try reader.ue("bottom_right"))
        reader.record?.nextTurn()
      }
      reader.record?.end()
      self = .foreground(topLeft: topLeft, bottomRight: bottomRight)
    case 6:
      self = .explicit(mapUnits: try Self.parseMap(&reader, count: count))
    default:
      self = .changing(
        type: type,
        directionFlag: try reader.flag("slice_group_change_direction_flag"),
        rateMinus1: try reader.ue("slice_group_change_rate_minus1"))
    }
  }

  private static func parseMap(
    _ reader: inout BitReader, count: Int
  ) throws(SyntaxError) -> Int {
    let size = try reader.ue("pic_size_in_map_units_minus1") + 1
    let length = (count - 1).bitLength
    guard size * length <= reader.bitsLeft else {
      throw SyntaxError("slice_group_id", at: reader.position, .truncated)
    }
    reader.record?.beginArray("slice_group_id")
    for _ in 0..<size {
      _ = try reader.u(length, "slice_group_id", in: 0...count - 1)
    }
    reader.record?.end()
    return size
  }
}

extension Int {
  /// Bits needed to write a number that is not negative: Ceil(Log2(self + 1)).
  var bitLength: Int { Int.bitWidth - leadingZeroBitCount }
}
