import FoundationEssentials
import NaluService
import Platform
import Testing

/// A JSON value that tests can look into.
enum JSON: Decodable, Equatable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let flag = try? value.decode(Bool.self) {
      self = .bool(flag)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let text = try? value.decode(String.self) {
      self = .string(text)
    } else if let items = try? value.decode([JSON].self) {
      self = .array(items)
    } else {
      self = .object(try value.decode([String: JSON].self))
    }
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

/// Runs an inspection as a job does, with blocks of `blockSize` bytes.
func inspect(
  _ stream: [UInt8], _ settings: InspectSettings = InspectSettings(), blockSize: Int? = nil
) throws -> [UInt8] {
  var operation = InspectOperation(
    settings, spoolDirectory: SpoolDirectory(path: "/tmp", capacity: 1 << 24))
  var output = Output()
  var start = 0
  while true {
    switch try operation.step(into: &output) {
    case .again: continue
    case .finished: return output.bytes
    case .needsInput: break
    }
    let end = min(stream.count, start + (blockSize ?? operation.blockSize))
    if start == end {
      try operation.endOfInput()
    } else {
      let block = Block(capacity: end - start)
      block.append(stream.span.extracting(start..<end))
      try operation.push(block)
      start = end
    }
  }
}

/// The `json` report.
func report(
  _ stream: [UInt8], _ change: (inout InspectSettings) -> Void = { _ in }
) throws -> JSON {
  var settings = InspectSettings()
  change(&settings)
  return try JSONDecoder().decode(JSON.self, from: Data(inspect(stream, settings)))
}

/// The objects of the `ndjson` report.
func lines(
  _ stream: [UInt8], _ change: (inout InspectSettings) -> Void = { _ in }
) throws -> [JSON] {
  var settings = InspectSettings()
  settings.format = .ndjson
  change(&settings)
  return try inspect(stream, settings).split(separator: UInt8(ascii: "\n")).map {
    try JSONDecoder().decode(JSON.self, from: Data($0))
  }
}

extension StreamBuilder {
  /// What `build` writes after the parameter sets.
  static func stream(
    _ sequence: Sequence = Sequence(), _ build: (inout StreamBuilder) -> Void
  ) -> [UInt8] {
    var builder = StreamBuilder()
    builder.sequence = sequence
    builder.parameterSets()
    build(&builder)
    return builder.bytes
  }

  /// A picture of one slice.
  mutating func add(
    _ type: Int, frameNum: Int, lsb: Int, idr: Bool = false, reference: Bool = true,
    _ change: (inout Slice) -> Void = { _ in }
  ) {
    var slice = Slice()
    slice.type = type
    slice.isIDR = idr
    slice.refIDC = reference ? 1 : 0
    slice.frameNum = frameNum
    slice.lsb = lsb
    change(&slice)
    self.slice(slice)
  }
}
