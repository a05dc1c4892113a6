internal import Codec
internal import NaluService
internal import Platform

/// libFuzzer's entry: the first byte chooses the settings, the rest is a file, decoded and encoded
/// anew with the whole operation under small limits.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTranscode(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard count > 1 else { return 0 }
  let input = [UInt8](UnsafeBufferPointer(start: start, count: count))
  var limits = Limits()
  limits.maxFramePixels = 256 * 256
  limits.maxFrames = 40
  limits.maxNALUnits = 1000
  do throws(Problem) {
    try transcode(input, limits)
  } catch {
    // An error of the client's making is a good end; one of ours is not.
    precondition(error.code != .internal, error.detail)
  }
  return 0
}

private func transcode(_ input: [UInt8], _ limits: Limits) throws(Problem) {
  var operation = try TranscodeOperation(
    settings(input[0]), limits: limits,
    spoolDirectory: SpoolDirectory(path: "/tmp", capacity: 1 << 24))
  var output = Output()
  var position = 1
  var step = Step.needsInput
  var steps = 0
  while step != .finished {
    if step == .needsInput {
      let end = min(position + operation.blockSize, input.count)
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
    output.bytes.removeAll(keepingCapacity: true)
    steps += 1
    precondition(steps < 10_000 + input.count, "the operation does not come to an end")
  }
  precondition(output.counters.framesOut > 0)
}

private func settings(_ choice: UInt8) -> TranscodeSettings {
  var settings = TranscodeSettings()
  settings.encode.preset = .ultrafast
  settings.encode.threads = 1
  settings.encode.format = OutputFormat.allCases[Int(choice) % OutputFormat.allCases.count]
  settings.frameRate = choice & 0x20 == 0 ? nil : Rational(10)
  settings.start = choice & 0x40 == 0 ? nil : 0.1
  settings.duration = choice & 0x80 == 0 ? nil : 0.2
  settings.width = choice & 0x11 == 0x11 ? 48 : nil
  return settings
}
