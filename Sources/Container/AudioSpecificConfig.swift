internal import H264

/// What an AudioSpecificConfig (ISO/IEC 14496-3 §1.6.2.1) says of an AAC stream.
package struct AudioSpecificConfig: Equatable, Sendable {
  /// Samples per second of the core, of which each frame has 1024, whatever is made of them
  /// afterwards.
  package let sampleRate: Int
  /// Samples per second that are heard, as far as that is said.
  package let outputRate: Int
  /// How many are heard; nil where that is said in another place.
  package let channels: Int?

  /// Table 1.18.
  private static let sampleRates = [
    96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000,
    7_350,
  ]
  /// Table 1.19; 0 for what is reserved.
  private static let channelCounts = [0, 1, 2, 3, 4, 5, 6, 8, 0, 0, 0, 7, 8, 24, 8, 0]

  /// Reads the beginning of a configuration; `nil` when it makes no sense.
  package init?(_ bytes: [UInt8]) {
    var reader = BitReader(bytes.span)
    do throws(SyntaxError) {
      let type = try reader.u(5, "audioObjectType")
      // No AAC uses the escape.
      guard type != 31, let rate = try Self.rate(&reader) else { return nil }
      sampleRate = rate
      let count = Self.channelCounts[try reader.u(4, "channelConfiguration")]
      // Spectral band replication, and parametric stereo with it.
      let hasMore = type == 5 || type == 29
      outputRate = hasMore ? try Self.rate(&reader) ?? rate : rate
      channels = count == 0 ? nil : count == 1 && type == 29 ? 2 : count
    } catch {
      return nil
    }
  }

  private static func rate(_ reader: inout BitReader) throws(SyntaxError) -> Int? {
    let index = try reader.u(4, "samplingFrequencyIndex")
    guard index == 15 else { return index < sampleRates.count ? sampleRates[index] : nil }
    let rate = try reader.u(24, "samplingFrequency")
    return rate > 0 ? rate : nil
  }
}
