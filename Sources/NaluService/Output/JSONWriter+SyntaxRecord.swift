package import H264

extension JSONWriter {
  /// The members of a recorded structure, without the braces around them.
  package mutating func members(_ record: SyntaxRecord) {
    // Whether each open structure, innermost last, is an array: its items have no key.
    var arrays = [false]
    for event in record.events {
      let isItem = arrays.last ?? false
      switch event {
      case .number(let name, let number):
        if !isItem { key(name) }
        value(number)
      case .text(let name, let text):
        if !isItem { key(name) }
        value(text)
      case .null(let name):
        if !isItem { key(name) }
        null()
      case .object(let name):
        if !isItem { key(name) }
        beginObject()
        arrays.append(false)
      case .array(let name):
        if !isItem { key(name) }
        beginArray()
        arrays.append(true)
      case .end:
        if isItem { endArray() } else { endObject() }
        arrays.removeLast()
      }
    }
  }
}
