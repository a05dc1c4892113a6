/// A field value of the form `value; name=text; name="text"` (RFC 9110 §5.6.6).
struct FieldParameters {
  /// What precedes the first semicolon.
  private(set) var value: String
  private var parameters: [(name: String, value: String)] = []

  init(_ field: String) {
    var rest = Substring(field)
    value = FieldParameters.trimmed(FieldParameters.take(from: &rest, until: ";"))
    while !rest.isEmpty {
      rest.removeFirst()
      let name = FieldParameters.trimmed(FieldParameters.take(from: &rest, until: ";", "="))
      guard rest.first == "=" else { continue }
      rest.removeFirst()
      rest = rest.drop { $0 == " " || $0 == "\t" }
      if rest.first == "\"" {
        parameters.append((name, FieldParameters.quoted(from: &rest)))
        _ = FieldParameters.take(from: &rest, until: ";")
      } else {
        let text = FieldParameters.trimmed(FieldParameters.take(from: &rest, until: ";"))
        parameters.append((name, text))
      }
    }
  }

  /// The first parameter of that name, in any case.
  subscript(name: String) -> String? {
    parameters.first { equalIgnoringCase($0.name, name) }?.value
  }

  private static func take(from rest: inout Substring, until ends: Character...) -> Substring {
    let taken = rest.prefix { !ends.contains($0) }
    rest = rest[taken.endIndex...]
    return taken
  }

  /// A string in quotes; a backslash makes the next character stand for itself.
  private static func quoted(from rest: inout Substring) -> String {
    var text = ""
    rest.removeFirst()
    while let character = rest.popFirst(), character != "\"" {
      if character == "\\", let escaped = rest.popFirst() {
        text.append(escaped)
      } else {
        text.append(character)
      }
    }
    return text
  }

  private static func trimmed(_ text: Substring) -> String {
    var text = text.drop { $0 == " " || $0 == "\t" }
    while text.last == " " || text.last == "\t" { text.removeLast() }
    return String(text)
  }
}
