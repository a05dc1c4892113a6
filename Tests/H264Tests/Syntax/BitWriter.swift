import H264

/// Writes the syntax elements of an RBSP, for tests.
struct BitWriter {
  private(set) var bits: [UInt8] = []

  init(_ write: (inout BitWriter) -> Void = { _ in }) {
    write(&self)
  }

  mutating func u(_ count: Int, _ value: Int) {
    for shift in (0..<count).reversed() { bits.append(UInt8(value >> shift & 1)) }
  }

  mutating func u(_ flags: String) {
    for flag in flags where flag != " " { bits.append(flag == "1" ? 1 : 0) }
  }

  mutating func ue(_ values: Int...) {
    for value in values {
      let length = Int.bitWidth - (value + 1).leadingZeroBitCount
      u(length - 1, 0)
      u(length, value + 1)
    }
  }

  mutating func se(_ values: Int...) {
    for value in values { ue(value > 0 ? 2 * value - 1 : -2 * value) }
  }

  mutating func bytes(_ values: [UInt8]) {
    for value in values { u(8, Int(value)) }
  }

  mutating func trailingBits() {
    bits.append(1)
    while bits.count % 8 != 0 { bits.append(0) }
  }

  /// The bits as bytes, the last one filled up with zeros.
  var rbsp: [UInt8] {
    stride(from: 0, to: bits.count, by: 8).map { start in
      (0..<8).reduce(UInt8(0)) { byte, offset in
        byte << 1 | (start + offset < bits.count ? bits[start + offset] : 0)
      }
    }
  }
}

/// The bytes that hexadecimal digits stand for.
func bytes(_ hex: String) -> [UInt8] {
  let digits = hex.compactMap { $0.hexDigitValue }
  return stride(from: 0, to: digits.count - 1, by: 2).map {
    UInt8(digits[$0] << 4 | digits[$0 + 1])
  }
}

/// The payload of a NAL unit given in hexadecimal digits.
func payload(_ hex: String) -> [UInt8] {
  let unit = bytes(hex)
  var rbsp = RBSP()
  rbsp.load(unit.span, headerSize: NALUnitHeader(unit.span).size)
  return rbsp.bytes
}

extension SyntaxRecord {
  /// The record as text without quotes, `{name:1,list:[1,null]}`, to compare with.
  var text: String {
    var text = ""
    var closers: [String] = []
    func item(_ name: String, _ value: String) {
      if let last = text.last, last != "{", last != "[" { text += "," }
      text += closers.last == "]" ? value : "\(name):\(value)"
    }
    for event in events {
      switch event {
      case .number(let name, let value): item(name, "\(value)")
      case .text(let name, let value): item(name, value)
      case .null(let name): item(name, "null")
      case .object(let name):
        item(name, "{")
        closers.append("}")
      case .array(let name):
        item(name, "[")
        closers.append("]")
      case .end: text += closers.popLast() ?? "unbalanced"
      }
    }
    return text + closers.reversed().joined()
  }
}
