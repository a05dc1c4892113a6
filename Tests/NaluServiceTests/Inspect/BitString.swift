/// Writes the elements of a payload, most significant bit first.
struct BitString {
  private(set) var bits: [Bool] = []

  mutating func u(_ width: Int, _ value: Int) {
    for shift in stride(from: width - 1, through: 0, by: -1) {
      bits.append(value >> shift & 1 == 1)
    }
  }

  mutating func flag(_ value: Bool) {
    bits.append(value)
  }

  mutating func ue(_ value: Int) {
    let width = Int.bitWidth - (value + 1).leadingZeroBitCount
    u(2 * width - 1, value + 1)
  }

  mutating func se(_ value: Int) {
    ue(value > 0 ? 2 * value - 1 : -2 * value)
  }

  /// The bits with rbsp_trailing_bits().
  func payload() -> [UInt8] {
    var all = bits + [true]
    while all.count % 8 != 0 { all.append(false) }
    return Self.bytes(all)
  }

  private static func bytes(_ bits: [Bool]) -> [UInt8] {
    stride(from: 0, to: bits.count, by: 8).map { start in
      bits[start..<start + 8].reduce(0) { $0 << 1 | ($1 ? 1 : 0) }
    }
  }
}
