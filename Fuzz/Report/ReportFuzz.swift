internal import NaluService
internal import Platform

/// libFuzzer's entry: ``Choices/count`` bytes choose what is asked and where the blocks end, the
/// rest is the stream.
///
/// The report of a stream must be well formed, and the same wherever the blocks end.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzReport(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard count > Choices.count else { return 0 }
  let input = UnsafeBufferPointer(start: start, count: count)
  let choices = Choices(input.prefix(Choices.count).map { $0 })
  let stream = [UInt8](input.dropFirst(Choices.count))
  let settings = choices.settings
  guard let whole = inspect(stream, settings, { stream.count }) else { return 0 }
  var sizes = choices.blockSizes
  let inParts = inspect(stream, settings) { sizes.next() }
  precondition(whole == inParts, "the report depends on where blocks end")
  check(whole, settings)
  return 0
}

/// The report; nil when the stream is refused.
private func inspect(
  _ stream: [UInt8], _ settings: InspectSettings, _ size: () -> Int
) -> [UInt8]? {
  var operation = InspectOperation(
    settings, spoolDirectory: SpoolDirectory(path: "/tmp", capacity: 1 << 24))
  var output = Output()
  var position = 0
  var steps = 0
  do throws(Problem) {
    while true {
      switch try operation.step(into: &output) {
      case .finished: return output.bytes
      case .again: break
      case .needsInput:
        let end = min(position + size(), stream.count)
        if position < end {
          let block = Block(capacity: end - position)
          block.append(stream.span.extracting(position..<end))
          try operation.push(block)
          position = end
        } else {
          try operation.endOfInput()
        }
      }
      steps += 1
      precondition(steps < 100 + 4 * stream.count, "the operation does not come to an end")
    }
  } catch {
    precondition(error.code == .unrecognisedInput || error.code == .tooManyNALUnits, error.detail)
    return nil
  }
}

private func check(_ report: [UInt8], _ settings: InspectSettings) {
  switch settings.format {
  case .json:
    var reader = StrictJSON(report.span)
    reader.object()
    reader.expect("\n")
    precondition(reader.isAtEnd, "something follows the document")
  case .ndjson:
    var reader = StrictJSON(report.span)
    var last: [UInt8] = []
    while !reader.isAtEnd {
      last = reader.object(firstMember: "kind")
      reader.expect("\n")
    }
    if settings.include.contains(.summary) { precondition(last == Array("\"summary\"".utf8)) }
  case .csv:
    checkTable(report)
  }
}

/// Rows of eleven cells, or fourteen for length-prefixed NAL units, that need no quotation marks.
private func checkTable(_ report: [UInt8]) {
  precondition(report.last == UInt8(ascii: "\n"))
  let header = report.prefix { $0 != UInt8(ascii: "\n") }
  let columns = 1 + header.count { $0 == UInt8(ascii: ",") }
  precondition(columns == 11 || columns == 14)
  var cells = 1
  for byte in report {
    switch byte {
    case UInt8(ascii: ","):
      cells += 1
    case UInt8(ascii: "\n"):
      precondition(cells == columns, "a row of another length")
      cells = 1
    default:
      precondition((0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\""))
    }
  }
}

/// What the first bytes of an input choose.
private struct Choices {
  static let count = 8
  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  var settings: InspectSettings {
    var settings = InspectSettings()
    settings.format = InspectSettings.Format.allCases[Int(bytes[0]) % 3]
    settings.keyframeRule = InspectSettings.KeyframeRule.allCases[Int(bytes[0]) / 3 % 3]
    if bytes[0] & 0x80 != 0 { settings.maxNALUnits = 8 }
    if bytes[1] != 0 {
      settings.include = []
      for (bit, section) in InspectSettings.Section.allCases.enumerated()
      where bytes[1] >> UInt8(bit) & 1 == 1 {
        settings.include.insert(section)
      }
    }
    if bytes[2] & 0x80 != 0 { settings.nalUnitTypes = [bytes[2] & 31, bytes[3] & 31, 5] }
    if bytes[4] & 0x80 != 0 { settings.first = Int(bytes[4] & 15) }
    if bytes[5] & 0x80 != 0 { settings.limit = Int(bytes[5] & 63) }
    return settings
  }

  var blockSizes: Sizes {
    Sizes(longest: [1, 2, 3, 7, 16, 64, 300, 2000][Int(bytes[6] & 7)], bytes[7])
  }

  struct Sizes {
    private let longest: UInt64
    private var state: UInt64

    init(longest: UInt64, _ seed: UInt8) {
      self.longest = longest
      state = UInt64(seed)
    }

    mutating func next() -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return 1 + Int((state >> 33) % longest)
    }
  }
}
