internal import Codec
internal import FuzzSupport
internal import NaluService

/// libFuzzer's entry: the first byte chooses the settings, the rest is a file, decoded and encoded
/// anew with the whole operation under small limits.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTranscode(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard count > 1 else { return 0 }
  let input = [UInt8](UnsafeBufferPointer(start: start, count: count))
  do throws(Problem) {
    let operation = try TranscodeOperation(
      settings(input[0]), limits: .forFuzzing, spoolDirectory: .forFuzzing)
    let counters = try runToEnd(operation, on: input.dropFirst())
    precondition(counters.framesOut > 0)
  } catch {}
  return 0
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
