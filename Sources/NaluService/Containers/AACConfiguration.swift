/// What a decoder must know of AAC (ISO/IEC 14496-3 §1.6.2.1), as far as a container needs it.
struct AACConfiguration: Equatable, Sendable {
  /// Samples per second of the core, of which each frame has 1024.
  var sampleRate: Int
  var channels: Int
  /// AudioSpecificConfig.
  var bytes: [UInt8]

  /// Table 1.18.
  private static let sampleRates = [
    96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000,
    7_350,
  ]
  /// Table 1.19: channels by channelConfiguration.
  private static let channelCounts = [0, 1, 2, 3, 4, 5, 6, 8]

  /// Reads an AudioSpecificConfig; `nil` when it makes no sense.
  init?(audioSpecificConfig bytes: [UInt8]) {
    guard bytes.count >= 2 else { return nil }
    let bits = bytes.prefix(6).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    let count = min(bytes.count, 6) * 8
    func field(_ start: Int, _ size: Int) -> Int {
      start + size <= count ? Int(bits >> UInt64(count - start - size)) & (1 << size - 1) : 0
    }
    var position = 5
    // An escape is not used by any AAC.
    guard field(0, 5) != 31, field(0, 5) != 0 else { return nil }
    let index = field(position, 4)
    position += 4
    if index == 15 {
      sampleRate = field(position, 24)
      position += 24
    } else {
      guard index < Self.sampleRates.count else { return nil }
      sampleRate = Self.sampleRates[index]
    }
    let configuration = field(position, 4)
    // 0: a program_config_element says; two is a guess that matters to nobody.
    channels =
      configuration == 0
      ? 2 : configuration < Self.channelCounts.count ? Self.channelCounts[configuration] : 0
    guard sampleRate > 0, channels > 0 else { return nil }
    self.bytes = bytes
  }

  /// Reads the header of an ADTS frame (ISO/IEC 14496-3 §1.A.2.2); `nil` when it is none, or when
  /// its channels are described in the frame itself.
  init?(adtsFrame frame: Span<UInt8>) {
    guard frame.count >= 7, frame[0] == 0xFF, frame[1] & 0xF6 == 0xF0 else { return nil }
    let profile = Int(frame[2] >> 6)
    let index = Int(frame[2] >> 2 & 15)
    let configuration = Int(frame[2] & 1) << 2 | Int(frame[3] >> 6)
    guard index < Self.sampleRates.count, configuration > 0 else { return nil }
    sampleRate = Self.sampleRates[index]
    channels = Self.channelCounts[configuration]
    let packed = (profile + 1) << 11 | index << 7 | configuration << 3
    bytes = [UInt8(packed >> 8), UInt8(packed & 0xFF)]
  }

  /// Bytes of the header of an ADTS frame; 0 when it has none.
  static func adtsHeaderSize(_ frame: Span<UInt8>) -> Int {
    guard frame.count >= 7, frame[0] == 0xFF, frame[1] & 0xF6 == 0xF0 else { return 0 }
    return min(frame.count, frame[1] & 1 == 1 ? 7 : 9)
  }
}
