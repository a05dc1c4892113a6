internal import Codec
internal import NaluService
internal import Platform

/// libFuzzer's entry: the first byte chooses the settings, the rest is the stream, decoded with the
/// whole operation under small limits.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDecode(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard count > 1 else { return 0 }
  let input = [UInt8](UnsafeBufferPointer(start: start, count: count))
  var limits = Limits()
  limits.maxFramePixels = 256 * 256
  limits.maxFrames = 40
  limits.maxNALUnits = 1000
  do throws(Problem) {
    try decode(input, limits)
  } catch {
    // An error of the client's making is a good end; one of ours is not.
    precondition(error.code != .internal, error.detail)
  }
  return 0
}

private func decode(_ input: [UInt8], _ limits: Limits) throws(Problem) {
  let settings = settings(input[0])
  var operation = try DecodeOperation(
    settings, limits: limits, spoolDirectory: SpoolDirectory(path: "/tmp", capacity: 1 << 24))
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
    output.bytes.removeAll(keepingCapacity: true)
    steps += 1
    precondition(steps < 10_000 + input.count, "the operation does not come to an end")
  }
  precondition(output.counters.framesOut > 0)
}

private func settings(_ choice: UInt8) -> DecodeSettings {
  var settings = DecodeSettings()
  settings.format = DecodeSettings.Format.allCases[Int(choice) % 5]
  let selections: [FrameSelection] = [
    .all, .first, .last, .keyframes, .every(3), .numbers([1...2, 5...5]), .time(0.1),
  ]
  settings.frames = selections[Int(choice) / 5 % selections.count]
  settings.onError = choice & 0x20 == 0 ? .conceal : .fail
  settings.appliesCropping = choice & 0x40 == 0
  settings.deinterlaces = settings.format.isImage && choice & 0x80 != 0
  settings.width = choice & 0x11 == 0x11 ? 48 : nil
  return settings
}
