/// Reads JSON (RFC 8259) and stops the program at the first byte that is not as it must be:
/// white space, names that come twice in an object and text that is no UTF-8 are faults, too.
struct StrictJSON: ~Escapable {
  private let bytes: Span<UInt8>
  private var position = 0
  private var depth = 0

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>) {
    self.bytes = bytes
  }

  var isAtEnd: Bool { position == bytes.count }

  /// Reads an object whose first member has that name; gives the member's value as it is written.
  @discardableResult
  mutating func object(firstMember name: String? = nil) -> [UInt8] {
    enter("{")
    var names: [Range<Int>] = []
    var first: [UInt8] = []
    while next != UInt8(ascii: "}") {
      if !names.isEmpty { expect(",") }
      let range = string()
      precondition(!names.contains { isSame($0, range) }, "a name comes twice")
      expect(":")
      let start = position
      value()
      if names.isEmpty, let name {
        precondition(copy(range) == Array("\"\(name)\"".utf8), "another first member")
        first = copy(start..<position)
      }
      names.append(range)
    }
    precondition(name == nil || !names.isEmpty)
    leave("}")
    return first
  }

  mutating func expect(_ text: StaticString) {
    text.withUTF8Buffer { expected in
      for byte in expected {
        precondition(next == byte, "another byte")
        position += 1
      }
    }
  }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private mutating func value() {
    switch next {
    case UInt8(ascii: "{"): object()
    case UInt8(ascii: "["): array()
    case UInt8(ascii: "\""): _ = string()
    case UInt8(ascii: "t"): expect("true")
    case UInt8(ascii: "f"): expect("false")
    case UInt8(ascii: "n"): expect("null")
    default: number()
    }
  }

  private mutating func array() {
    enter("[")
    var isFirst = true
    while next != UInt8(ascii: "]") {
      if !isFirst { expect(",") }
      isFirst = false
      value()
    }
    leave("]")
  }

  private mutating func enter(_ bracket: StaticString) {
    expect(bracket)
    depth += 1
    precondition(depth <= 64, "nested too deeply")
  }

  private mutating func leave(_ bracket: StaticString) {
    expect(bracket)
    depth -= 1
  }

  private mutating func number() {
    if next == UInt8(ascii: "-") { position += 1 }
    if next == UInt8(ascii: "0") { position += 1 } else { digits() }
    if next == UInt8(ascii: ".") {
      position += 1
      digits()
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      position += 1
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
      digits()
    }
  }

  private mutating func digits() {
    let start = position
    while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
    precondition(position > start, "a digit is missing")
  }

  private mutating func string() -> Range<Int> {
    let start = position
    expect("\"")
    while let byte = next, byte != UInt8(ascii: "\"") {
      precondition(byte >= 0x20, "a control character")
      if byte == UInt8(ascii: "\\") {
        escape()
      } else if byte < 0x80 {
        position += 1
      } else {
        scalar()
      }
    }
    expect("\"")
    return start..<position
  }

  private mutating func escape() {
    position += 1
    guard next == UInt8(ascii: "u") else {
      precondition(next.map { Array("\"\\/bfnrt".utf8).contains($0) } ?? false, "an escape")
      position += 1
      return
    }
    position += 1
    for _ in 0..<4 {
      precondition(next.map { Character(UnicodeScalar($0)).isHexDigit } ?? false, "an escape")
      position += 1
    }
  }

  /// A character of two to four bytes (RFC 3629).
  private mutating func scalar() {
    guard let first = next else { return }
    let size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
    precondition((0xC2...0xF4).contains(first) && position + size <= bytes.count, "no UTF-8")
    var code = UInt32(first) & (0x7F >> UInt32(size))
    for index in position + 1..<position + size {
      precondition(bytes[index] & 0xC0 == 0x80, "no UTF-8")
      code = code << 6 | UInt32(bytes[index] & 0x3F)
    }
    precondition(
      UnicodeScalar(code) != nil && code >= [0, 0, 0x80, 0x800, 0x10000][size], "no UTF-8")
    position += size
  }

  private func isSame(_ one: Range<Int>, _ other: Range<Int>) -> Bool {
    one.count == other.count
      && zip(one, other).allSatisfy { bytes[$0] == bytes[$1] }
  }

  private func copy(_ range: Range<Int>) -> [UInt8] {
    range.map { bytes[$0] }
  }
}
