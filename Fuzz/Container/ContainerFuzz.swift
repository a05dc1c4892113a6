internal import NaluService
internal import Platform

/// libFuzzer's entry: the first byte chooses the form of the report and how the upload is cut, the
/// rest is inspected with the whole operation under small limits.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzContainer(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard count > 1 else { return 0 }
  let input = [UInt8](UnsafeBufferPointer(start: start, count: count))
  do throws(Problem) {
    try inspect(input)
  } catch {
    // An error of the client's making is a good end; one of ours is not.
    precondition(error.code != .internal, error.detail)
  }
  return 0
}

private func inspect(_ input: [UInt8]) throws(Problem) {
  var operation = InspectOperation(
    settings(input[0]), spoolDirectory: SpoolDirectory(path: "/tmp", capacity: 1 << 24))
  var output = Output()
  var position = 1
  var step = Step.needsInput
  var steps = 0
  while step != .finished {
    if step == .needsInput {
      // Pieces of different sizes must not make a difference.
      let end = min(position + 1 + Int(input[0]) * 16, input.count)
      if position < end {
        let block = Block(capacity: end - position)
        block.append(input.span.extracting(position..<end))
        try operation.push(block)
        position = end
      } else {
        try operation.endOfInput()
      }
    }
    step = try operation.step(into: &output)
    // A few bytes of input must not become a flood.
    precondition(output.bytes.count < 1 << 24, "a step wrote \(output.bytes.count) bytes")
    output.bytes.removeAll(keepingCapacity: true)
    steps += 1
    precondition(steps < 10_000 + input.count, "the operation does not come to an end")
  }
}

private func settings(_ choice: UInt8) -> InspectSettings {
  var settings = InspectSettings()
  settings.format = InspectSettings.Format.allCases[Int(choice) % 3]
  settings.include = Set(InspectSettings.Section.allCases)
  settings.maxNALUnits = 10_000
  settings.containerLimits.maxTableBytes = 1 << 16
  settings.containerLimits.maxTracks = 8
  if choice == 250 { settings.lengthPrefix.lengthSize = 2 }
  return settings
}
