import Platform
import Testing

@testable import NaluService

/// What a decode gave.
struct Decoded {
  var bytes: [UInt8] = []
  var answer = Answer()
  var counters = Counters()

  func header(_ name: String) -> String? { answer.headers.first { $0.name == name }?.value }
  func trailer(_ name: String) -> String? { answer.trailers.first { $0.name == name }?.value }

  /// The files of a tar or a zip without compression, by what their headers say.
  var tarNames: [String] {
    var names: [String] = []
    var position = 0
    while position + 512 <= bytes.count, bytes[position] != 0 {
      names.append(text(position, 100))
      let size = Int(text(position + 124, 11), radix: 8) ?? 0
      position += 512 + (size + 511) / 512 * 512
    }
    return names
  }

  private func text(_ start: Int, _ count: Int) -> String {
    String(decoding: bytes[start..<start + count].prefix { $0 != 0 }, as: UTF8.self)
  }

  /// A big-endian number.
  func number(_ start: Int, _ count: Int) -> Int {
    bytes[start..<start + count].reduce(0) { $0 << 8 | Int($1) }
  }
}

/// Runs the whole operation over `stream`, uploaded in pieces of `piece` bytes.
func decode(
  _ stream: [UInt8], _ settings: DecodeSettings = DecodeSettings(), limits: Limits = Limits(),
  piece: Int? = nil
) throws(Problem) -> Decoded {
  var operation = try DecodeOperation(
    settings, limits: limits, spoolDirectory: SpoolDirectory(path: "/tmp", capacity: 1 << 30))
  var output = Output()
  var position = 0
  let size = piece ?? operation.blockSize
  var step = Step.needsInput
  while step != .finished {
    if step == .needsInput {
      let end = min(position + size, stream.count)
      if position < end {
        let block = Block(capacity: size)
        block.append(stream.span.extracting(position..<end))
        try operation.push(block)
        position = end
      } else {
        try operation.endOfInput()
      }
    }
    step = try operation.step(into: &output)
  }
  return Decoded(bytes: output.bytes, answer: output.answer, counters: output.counters)
}

/// Settings by name, as a query would give them.
func decodeSettings(_ pairs: KeyValuePairs<String, String>) throws(Problem) -> DecodeSettings {
  try DecodeSettings(
    ParameterValues(pairs.map { ($0.key, $0.value) }, table: DecodeParameters.all))
}

extension Decoded: CustomTestStringConvertible {
  var testDescription: String { "\(bytes.count) bytes of \(answer.contentType)" }
}

/// A stream of a moving pattern, made by the whole encode operation.
func encoded(frames: Int, _ settings: EncodeSettings) throws(Problem) -> [UInt8] {
  let (width, height) = (settings.width ?? 64, settings.height ?? 48)
  var samples: [UInt8] = []
  for number in 0..<frames {
    for y in 0..<height {
      for x in 0..<width {
        let isInBox = abs(x - 3 * number % width) < 8 && abs(y - height / 2) < 10
        samples.append(isInBox ? 220 : UInt8(truncatingIfNeeded: 40 + 2 * x + y))
      }
    }
    samples += [UInt8](repeating: UInt8(100 + number % 50), count: width * height / 2)
  }
  var operation = try EncodeOperation(settings, limits: Limits(), spoolDirectory: .test)
  var output = Output()
  var position = 0
  var step = Step.needsInput
  while step != .finished {
    if step == .needsInput {
      let end = min(position + operation.blockSize, samples.count)
      if position < end {
        let block = Block(capacity: end - position)
        block.append(samples.span.extracting(position..<end))
        try operation.push(block)
        position = end
      } else {
        try operation.endOfInput()
      }
    }
    step = try operation.step(into: &output)
  }
  return output.bytes
}
