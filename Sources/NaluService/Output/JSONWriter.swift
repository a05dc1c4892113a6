/// Writes JSON into a growing array of bytes, without building a document first.
///
/// Commas are its business; that keys and values alternate is the caller's. Keys are ASCII without
/// characters that need an escape.
package struct JSONWriter: Sendable {
  package private(set) var bytes: [UInt8] = []
  private var needsComma = false

  package init() {}

  /// Forgets what is written, not where in the document that was.
  package mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
  }

  /// Puts what is written at the end of `other`; forgets it, not where in the document that was.
  mutating func moveBytes(to other: inout [UInt8]) {
    if other.isEmpty { swap(&bytes, &other) } else { other += bytes }
    removeAll()
  }

  /// Forgets what is written, and where: what follows is another document.
  mutating func beginDocument() {
    removeAll()
    needsComma = false
  }

  package mutating func beginObject() {
    separate()
    bytes.append(UInt8(ascii: "{"))
    needsComma = false
  }

  package mutating func endObject() {
    bytes.append(UInt8(ascii: "}"))
    needsComma = true
  }

  package mutating func beginArray() {
    separate()
    bytes.append(UInt8(ascii: "["))
    needsComma = false
  }

  package mutating func endArray() {
    bytes.append(UInt8(ascii: "]"))
    needsComma = true
  }

  /// A name that somebody else has chosen.
  package mutating func key(escaping name: String) {
    value(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  /// A name of ours, of letters that need no escape.
  package mutating func key(_ name: String) {
    let comma = needsComma
    needsComma = false
    bytes.append(addingCapacity: name.utf8.count + 4) { text in
      if comma { text.append(UInt8(ascii: ",")) }
      text.append(UInt8(ascii: "\""))
      text.put(name)
      text.append(UInt8(ascii: "\""))
      text.append(UInt8(ascii: ":"))
    }
  }

  /// A key of any characters.
  mutating func textKey(_ name: String) {
    value(name)
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  package mutating func null() {
    separate()
    bytes.append(contentsOf: "null".utf8)
  }

  package mutating func value(_ number: Int) {
    separate()
    append(number)
  }

  package mutating func value(_ flag: Bool) {
    separate()
    bytes.append(contentsOf: flag ? "true".utf8 : "false".utf8)
  }

  /// A number with a fraction; it must be finite.
  package mutating func value(_ number: Double) {
    separate()
    bytes.append(contentsOf: number.description.utf8)
  }

  package mutating func value(_ text: String) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    if text.utf8.contains(where: { Self.needsEscape($0) || $0 == Self.latinLead }) {
      append(escaping: text)
    } else {
      bytes.append(contentsOf: text.utf8)
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Two lower-case digits for each byte.
  package mutating func hex(_ data: Span<UInt8>) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    for index in data.indices {
      bytes.append(Self.hexDigits[Int(data[index] >> 4)])
      bytes.append(Self.hexDigits[Int(data[index] & 15)])
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// A complete value, or complete members, written elsewhere.
  package mutating func raw(_ json: [UInt8]) {
    guard !json.isEmpty else { return }
    separate()
    bytes.append(contentsOf: json)
  }

  /// What `write` puts into `capacity` bytes of room: a complete value, or complete members.
  mutating func appendRaw(capacity: Int, _ write: (inout OutputSpan<UInt8>) -> Void) {
    separate()
    bytes.append(addingCapacity: capacity, initializingWith: write)
  }

  /// Ends a line: what follows is another document.
  package mutating func newLine() {
    bytes.append(UInt8(ascii: "\n"))
    needsComma = false
  }

  /// Text as it is, with a comma in front where one is due; nothing but values may follow it.
  package mutating func literal(_ text: String) {
    separate()
    bytes.append(contentsOf: text.utf8)
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }
}

// MARK: Members

extension JSONWriter {
  package mutating func member(_ name: String, _ number: Int) {
    let comma = needsComma
    needsComma = true
    // A comma, two quotes, a colon and the longest number.
    bytes.append(addingCapacity: name.utf8.count + 24) { text in
      if comma { text.append(UInt8(ascii: ",")) }
      text.append(UInt8(ascii: "\""))
      text.put(name)
      text.append(UInt8(ascii: "\""))
      text.append(UInt8(ascii: ":"))
      text.append(decimal: number)
    }
  }

  package mutating func member(_ name: String, _ flag: Bool) {
    key(name)
    value(flag)
  }

  package mutating func member(_ name: String, _ text: String) {
    key(name)
    value(text)
  }

  /// Unknown is `null`.
  package mutating func member(_ name: String, _ number: Int?) {
    key(name)
    if let number { value(number) } else { null() }
  }

  /// Unknown is `null`.
  package mutating func member(_ name: String, _ text: String?) {
    key(name)
    if let text { value(text) } else { null() }
  }

  /// Unknown is `null`.
  package mutating func member(_ name: String, _ number: Double?) {
    key(name)
    if let number { value(number) } else { null() }
  }
}

// MARK: Characters

extension JSONWriter {
  private mutating func append(_ number: Int) {
    bytes.append(addingCapacity: 20) { $0.append(decimal: number) }
  }

  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  /// The first byte of U+0080 to U+00BF in UTF-8. Those up to U+009F are control characters too, to a
  /// terminal on which somebody reads a log.
  private static let latinLead: UInt8 = 0xC2

  private mutating func append(escaping text: String) {
    var followsLead = false
    for byte in text.utf8 {
      if followsLead, byte < 0xA0 {
        bytes.append(UInt8(ascii: "\\"))
        appendNumber(byte)
      } else if followsLead {
        bytes.append(Self.latinLead)
        bytes.append(byte)
      } else if byte != Self.latinLead {
        append(escaping: byte)
      }
      followsLead = byte == Self.latinLead && !followsLead
    }
  }

  private mutating func append(escaping byte: UInt8) {
    guard Self.needsEscape(byte) else {
      bytes.append(byte)
      return
    }
    bytes.append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
    case UInt8(ascii: "\n"): bytes.append(UInt8(ascii: "n"))
    case UInt8(ascii: "\r"): bytes.append(UInt8(ascii: "r"))
    case UInt8(ascii: "\t"): bytes.append(UInt8(ascii: "t"))
    default: appendNumber(byte)
    }
  }

  private mutating func appendNumber(_ character: UInt8) {
    bytes.append(contentsOf: "u00".utf8)
    bytes.append(Self.hexDigits[Int(character >> 4)])
    bytes.append(Self.hexDigits[Int(character & 15)])
  }

  static let hexDigits = Array("0123456789abcdef".utf8)
}
