/// A value of the Action Message Format 0 in which FLV has its metadata.
package indirect enum ScriptValue: Equatable, Sendable {
  case number(Double)
  case boolean(Bool)
  case text(String)
  /// Members in their order; an ECMA array too.
  case object([Member])
  case array([ScriptValue])
  /// Milliseconds since 1970.
  case date(Double)
  case null

  package struct Member: Equatable, Sendable {
    package let name: String
    package let value: ScriptValue
  }

  /// The member of that name.
  package subscript(name: String) -> ScriptValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }

  /// The number, if it is one that an Int can hold.
  package var integer: Int? {
    guard case .number(let number) = self, number.magnitude < 1e15 else { return nil }
    return Int(number.rounded())
  }
}

/// Reads the values of a script data tag.
struct ScriptReader: Sendable {
  private static let maxDepth = 16
  private static let maxValues = 200_000

  private var fields: ByteFields
  private var values = 0
  /// Something could not be read; what follows it is lost.
  private(set) var isDamaged = false

  init(_ bytes: [UInt8]) {
    fields = ByteFields(bytes)
  }

  var isAtEnd: Bool { fields.left == 0 || isDamaged }

  /// The next value; null when it cannot be read.
  mutating func next() -> ScriptValue { value(depth: 0) }

  private mutating func value(depth: Int) -> ScriptValue {
    values += 1
    guard !isDamaged, depth < Self.maxDepth, values <= Self.maxValues else { return damaged() }
    let marker = fields.number(1)
    let result: ScriptValue
    switch marker {
    case 0: result = .number(double())
    case 1: result = .boolean(fields.number(1) != 0)
    case 2: result = .text(text(lengthSize: 2))
    case 3: result = .object(members(depth))
    case 5, 6, 13: result = .null
    case 7:
      fields.skip(2)
      result = .null
    case 8:
      fields.skip(4)
      result = .object(members(depth))
    case 10: result = .array(items(depth))
    case 11:
      result = .date(double())
      fields.skip(2)
    case 12, 15: result = .text(text(lengthSize: 4))
    default: return damaged()
    }
    return fields.isShort ? damaged(result) : result
  }

  private mutating func damaged(_ value: ScriptValue = .null) -> ScriptValue {
    isDamaged = true
    return value
  }

  private mutating func double() -> Double {
    let high = UInt64(fields.number(4))
    return Double(bitPattern: high << 32 | UInt64(fields.number(4)))
  }

  private mutating func text(lengthSize: Int) -> String {
    String(decoding: fields.take(fields.number(lengthSize)), as: UTF8.self)
  }

  private mutating func members(_ depth: Int) -> [ScriptValue.Member] {
    var members: [ScriptValue.Member] = []
    while !isDamaged, fields.left > 0 {
      let length = fields.number(2)
      if length == 0, fields.left > 0, fields.bytes[fields.position] == 9 {
        fields.skip(1)
        break
      }
      let name = String(decoding: fields.take(length), as: UTF8.self)
      // Some writers leave the end of the list out.
      guard !fields.isShort, fields.left > 0 else { break }
      members.append(ScriptValue.Member(name: name, value: value(depth: depth + 1)))
    }
    return members
  }

  private mutating func items(_ depth: Int) -> [ScriptValue] {
    let count = fields.number(4)
    var items: [ScriptValue] = []
    while items.count < count, fields.left > 0, !isDamaged {
      items.append(value(depth: depth + 1))
    }
    return items
  }
}
