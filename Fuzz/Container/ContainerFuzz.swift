internal import Container
internal import FuzzSupport
internal import NaluService

/// libFuzzer's entry: the first byte chooses the form of the report and how the upload is cut, the
/// rest is inspected with the whole operation under small limits.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzContainer(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard count > 1 else { return 0 }
  let input = [UInt8](UnsafeBufferPointer(start: start, count: count))
  // Pieces of different sizes must not make a difference, nor a few bytes become a flood.
  _ = try? runToEnd(
    InspectOperation(settings(input[0]), spoolDirectory: .forFuzzing), on: input.dropFirst(),
    pieceSize: 1 + Int(input[0]) * 16, maxStepBytes: 1 << 24)
  return 0
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
