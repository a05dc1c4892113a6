package import H264

extension JSONWriter {
  /// The members of a recorded structure, without the braces around them.
  package mutating func members(_ record: SyntaxRecord) {
    // One bit for each open structure, the innermost lowest: it is an array, whose items have no
    // key. No structure of the standard is nested anywhere near 64 times.
    var arrays: UInt64 = 0
    for event in record.events {
      let isItem = arrays & 1 == 1
      switch event {
      case .number(let name, let number):
        if isItem { value(number) } else { member(name, number) }
      case .text(let name, let text):
        if !isItem { key(name) }
        value(text)
      case .null(let name):
        if !isItem { key(name) }
        null()
      case .object(let name):
        if !isItem { key(name) }
        beginObject()
        arrays <<= 1
      case .array(let name):
        if !isItem { key(name) }
        beginArray()
        arrays = arrays << 1 | 1
      case .end:
        if isItem { endArray() } else { endObject() }
        arrays >>= 1
      }
    }
  }
}
