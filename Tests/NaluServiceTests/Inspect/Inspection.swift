import NaluService
import Platform
import Testing

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
  return try document(inspect(stream, settings))
}

/// What the bytes of a `json` report say.
func document(_ bytes: [UInt8]) throws -> JSON {
  try JSON(parsing: bytes[...])
}

/// The objects of the `ndjson` report.
func lines(
  _ stream: [UInt8], _ change: (inout InspectSettings) -> Void = { _ in }
) throws -> [JSON] {
  var settings = InspectSettings()
  settings.format = .ndjson
  change(&settings)
  return try inspect(stream, settings).split(separator: UInt8(ascii: "\n")).map {
    try JSON(parsing: $0)
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
