internal import Codec
internal import FuzzSupport
internal import NaluService

/// libFuzzer's entry: the first byte chooses the settings, the rest is the stream, decoded with the
/// whole operation under small limits.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDecode(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard count > 1 else { return 0 }
  let input = [UInt8](UnsafeBufferPointer(start: start, count: count))
  do throws(Problem) {
    let operation = try DecodeOperation(
      settings(input[0]), limits: .forFuzzing, spoolDirectory: .forFuzzing)
    // Pieces of different sizes must not make a difference.
    let counters = try runToEnd(
      operation, on: input.dropFirst(), pieceSize: 1 + Int(input[0]) * 16)
    precondition(counters.framesOut > 0)
  } catch {}
  return 0
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
