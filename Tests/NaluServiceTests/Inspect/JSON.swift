/// A JSON value that tests can look into.
enum JSON: Equatable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  /// Reads a whole text (RFC 8259), and nothing more lenient. Thousands of reports are read, which
  /// takes Foundation's decoder minutes: it throws an error for every case that a value is not.
  init(parsing text: ArraySlice<UInt8>) throws {
    var parser = JSONParser(rest: text)
    self = try parser.value()
    parser.skipSpace()
    guard parser.rest.isEmpty else { throw parser.error }
  }

  /// The member of that name; nil when there is none.
  subscript(name: String) -> JSON? {
    if case .object(let members) = self { members[name] } else { nil }
  }

  var items: [JSON] {
    if case .array(let items) = self { items } else { [] }
  }

  var int: Int? {
    if case .number(let number) = self { Int(exactly: number) } else { nil }
  }

  var text: String? {
    if case .string(let text) = self { text } else { nil }
  }

  var bool: Bool? {
    if case .bool(let flag) = self { flag } else { nil }
  }
}

struct NotJSON: Error {
  /// Where reading stopped.
  var rest: String
}

private struct JSONParser {
  var rest: ArraySlice<UInt8>

  var error: NotJSON { NotJSON(rest: String(decoding: rest.prefix(100), as: UTF8.self)) }

  mutating func skipSpace() {
    rest = rest.drop { [0x20, 0x0A, 0x0D, 0x09].contains($0) }
  }

  mutating func value() throws -> JSON {
    skipSpace()
    switch rest.first {
    case UInt8(ascii: "{"): return try object()
    case UInt8(ascii: "["): return try array()
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return try number()
    }
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    skipSpace()
    guard rest.first == UInt8(ascii: character) else { return false }
    rest.removeFirst()
    return true
  }

  private mutating func word(_ word: String, _ value: JSON) throws -> JSON {
    guard rest.starts(with: word.utf8) else { throw error }
    rest.removeFirst(word.utf8.count)
    return value
  }

  private mutating func object() throws -> JSON {
    var members: [String: JSON] = [:]
    _ = take("{")
    if take("}") { return .object(members) }
    repeat {
      skipSpace()
      let name = try string()
      guard take(":") else { throw error }
      guard members.updateValue(try value(), forKey: name) == nil else { throw error }
    } while take(",")
    guard take("}") else { throw error }
    return .object(members)
  }

  private mutating func array() throws -> JSON {
    var items: [JSON] = []
    _ = take("[")
    if take("]") { return .array(items) }
    repeat { items.append(try value()) } while take(",")
    guard take("]") else { throw error }
    return .array(items)
  }

  private mutating func number() throws -> JSON {
    let digits = rest.prefix { "+-.0123456789eE".utf8.contains($0) }
    let text = String(decoding: digits, as: UTF8.self)
    let whole = text.drop { $0 == "-" }.prefix { $0.isNumber }
    guard text.first != "+", let number = Double(text), whole == "0" || whole.first != "0",
      !whole.isEmpty
    else { throw error }
    rest.removeFirst(digits.count)
    return .number(number)
  }

  private mutating func string() throws -> String {
    guard rest.first == UInt8(ascii: "\"") else { throw error }
    rest.removeFirst()
    var units: [UInt16] = []
    while let byte = rest.first, byte != UInt8(ascii: "\"") {
      if byte == UInt8(ascii: "\\") {
        rest.removeFirst()
        units.append(try escape())
      } else {
        let run = rest.prefix { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
        guard !run.isEmpty, let text = String(validating: run, as: UTF8.self) else { throw error }
        units += Array(text.utf16)
        rest.removeFirst(run.count)
      }
    }
    guard !rest.isEmpty else { throw error }
    rest.removeFirst()
    return String(decoding: units, as: UTF16.self)
  }

  private mutating func escape() throws -> UInt16 {
    guard let letter = rest.popFirst() else { throw error }
    switch letter {
    case UInt8(ascii: "n"): return 0x0A
    case UInt8(ascii: "r"): return 0x0D
    case UInt8(ascii: "t"): return 0x09
    case UInt8(ascii: "b"): return 0x08
    case UInt8(ascii: "f"): return 0x0C
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return UInt16(letter)
    case UInt8(ascii: "u"):
      let digits = String(decoding: rest.prefix(4), as: UTF8.self)
      guard digits.utf8.count == 4, let unit = UInt16(digits, radix: 16) else { throw error }
      rest.removeFirst(4)
      return unit
    default: throw error
    }
  }
}
