/// One parameter of an endpoint and of the command of the same name: what it is called, what it
/// takes, what it means. The tables of these drive parsing, the command line's options and help,
/// the suggestions in errors, and `openapi.yaml`.
package struct Parameter<Value: Sendable>: Sendable {
  package let name: String
  package let kind: ParameterKind<Value>
  /// The default in words or as a value, for help; what applies it is the endpoint.
  package let defaultText: String?
  package let help: String
  /// What users of other tools call it; named in the suggestion of an `unknown-parameter` error.
  package let otherNames: [String]

  package init(
    _ name: String, _ kind: ParameterKind<Value>, default defaultText: String? = nil,
    otherNames: [String] = [], help: String
  ) {
    self.name = name
    self.kind = kind
    self.defaultText = defaultText
    self.otherNames = otherNames
    self.help = help
  }
}

/// A `Parameter` of whatever type of value.
package protocol AnyParameter: Sendable {
  var name: String { get }
  var defaultText: String? { get }
  var help: String { get }
  var otherNames: [String] { get }
  /// What the value must be, to follow «must be».
  var expectation: String { get }
  /// The value's JSON Schema.
  var schema: ParameterSchema { get }

  /// The value that `text` stands for, or nil when it stands for none.
  func value(of text: String) -> (any Sendable)?
}

extension Parameter: AnyParameter {
  package var expectation: String { kind.expectation }
  package var schema: ParameterSchema { kind.schema }

  package func value(of text: String) -> (any Sendable)? { kind.parse(text) }
}

/// The JSON Schema of a parameter's text, as far as OpenAPI needs it.
package enum ParameterSchema: Equatable, Sendable {
  case integer(ClosedRange<Int>)
  case number(ClosedRange<Double>)
  case choice([String])
  /// A regular expression that every acceptable text matches, an example, and the characters that
  /// there may be.
  case pattern(String, example: String, maxLength: Int? = nil)

  /// It says all that the parser asks for; otherwise words must add the rest.
  var isComplete: Bool {
    switch self {
    case .integer, .choice: true
    case .number, .pattern: false
    }
  }
}

/// The values that a request or a command line gave, after parsing.
package struct ParameterValues: Sendable {
  private var values: [String: any Sendable] = [:]

  package init() {}

  /// The value given for `parameter`, or nil when it was not given.
  package subscript<Value: Sendable>(_ parameter: Parameter<Value>) -> Value? {
    values[parameter.name] as? Value
  }

  /// Whether any value was given for the parameter of this name.
  package func has(_ name: String) -> Bool { values[name] != nil }

  /// Reads name-value pairs by `table`; the first thing wrong is thrown.
  package init(
    _ pairs: [(name: String, value: String)], table: [any AnyParameter]
  ) throws(Problem) {
    for (name, text) in pairs {
      guard let parameter = table.first(where: { $0.name == name }) else {
        throw .unknownParameter(name, table: table)
      }
      guard values[name] == nil else {
        throw Problem(
          .invalidParameter, "\(name) is given more than once.", parameter: name)
      }
      guard let value = parameter.value(of: text) else {
        throw Problem(
          .invalidParameter,
          "\(name) must be \(parameter.expectation), not \(quoted(text)).", parameter: name)
      }
      values[name] = value
    }
  }
}

extension Problem {
  /// The error for a name that `table` does not have, with the nearest one that it has.
  static func unknownParameter(_ name: String, table: [any AnyParameter]) -> Problem {
    var detail = "There is no parameter \(quoted(name))."
    if let meant = namesMeant(by: name, in: table) {
      detail += " Did you mean \(meant.joined(separator: " and "))?"
    } else if table.isEmpty {
      detail += " This endpoint takes none."
    } else {
      detail += " Known are: \(table.map(\.name).joined(separator: ", "))."
    }
    return Problem(.unknownParameter, detail, parameter: excerpt(of: name))
  }
}

/// The parameters of `table` that go by another name elsewhere, or else the one that is written
/// nearly so.
package func namesMeant(by name: String, in table: [any AnyParameter]) -> [String]? {
  let byOtherName = table.filter { $0.otherNames.contains(name) }.map(\.name)
  guard byOtherName.isEmpty else { return byOtherName }
  return nearestName(to: name, in: table.map(\.name)).map { [$0] }
}

/// `text` in quotes, cut to a length that an error can carry.
package func quoted(_ text: String) -> String { "\"\(excerpt(of: text))\"" }

/// Text of an upload as a message shows it: the beginning of it, on one line.
func shown(_ text: String) -> String {
  let limit = 32
  var shown = ""
  for scalar in text.unicodeScalars.prefix(limit) {
    let isPlain = scalar.properties.generalCategory != .control && scalar.value < 0x2000
    shown += isPlain ? String(scalar) : scalar.escaped(asASCII: true)
  }
  return text.unicodeScalars.count > limit ? shown + "…" : shown
}

private func excerpt(of text: String) -> String {
  text.utf8.count > 60 ? "\(start(of: text, bytes: 60))…" : text
}

/// As much of the beginning as fits into so many bytes. A character can have any number of them.
func start(of text: String, bytes: Int) -> String {
  guard text.utf8.count > bytes else { return text }
  var end = text.utf8.index(text.startIndex, offsetBy: bytes)
  while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
  return String(text.unicodeScalars[..<end])
}

/// The name with the smallest edit distance from `name`, if it is near enough to be meant.
package func nearestName(to name: String, in names: [String]) -> String? {
  let wanted = Array(name.lowercased().utf8.prefix(40))
  var best: (name: String, distance: Int)?
  for candidate in names {
    let distance = editDistance(wanted, Array(candidate.utf8))
    if distance < best?.distance ?? .max { best = (candidate, distance) }
  }
  guard let best, best.distance <= max(1, (best.name.utf8.count + 1) / 2 - 1) else { return nil }
  return best.name
}

/// Insertions, deletions, substitutions and swaps of neighbours that turn one into the other.
private func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
  var before: [Int] = []
  var above = Array(0...right.count)
  for (i, byte) in left.enumerated() {
    var row = [i + 1]
    for (j, other) in right.enumerated() {
      var distance = min(above[j] + (byte == other ? 0 : 1), row[j] + 1, above[j + 1] + 1)
      if i > 0, j > 0, byte == right[j - 1], other == left[i - 1] {
        distance = min(distance, before[j - 1] + 1)
      }
      row.append(distance)
    }
    before = above
    above = row
  }
  return above[right.count]
}
