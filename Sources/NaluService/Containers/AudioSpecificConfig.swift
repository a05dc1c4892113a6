/// What an AudioSpecificConfig (ISO/IEC 14496-3 §1.6.2.1) says of the core of an AAC stream, of
/// which each frame has 1024 samples, whatever is made of them afterwards.
struct AudioSpecificConfig: Equatable, Sendable {
  /// Samples per second.
  var sampleRate: Int

  /// Table 1.18.
  private static let sampleRates = [
    96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000,
    7_350,
  ]

  /// Reads the beginning of a configuration; `nil` when it makes no sense.
  init?(_ bytes: [UInt8]) {
    guard bytes.count >= 2 else { return nil }
    // audioObjectType, whose escape no AAC uses, and samplingFrequencyIndex.
    guard bytes[0] >> 3 != 31 else { return nil }
    let index = Int(bytes[0] & 7) << 1 | Int(bytes[1] >> 7)
    if index == 15 {
      guard bytes.count >= 5 else { return nil }
      let bits = bytes[1..<5].reduce(0) { $0 << 8 | Int($1) }
      sampleRate = bits >> 7 & 0xFF_FFFF
    } else {
      guard index < Self.sampleRates.count else { return nil }
      sampleRate = Self.sampleRates[index]
    }
    guard sampleRate > 0 else { return nil }
  }
}
