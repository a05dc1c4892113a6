/// The header of an ADTS frame (ISO/IEC 13818-7 §6.2, ISO/IEC 14496-3 §1.A.2.2).
struct ADTSHeader: Equatable, Sendable {
  /// audio object type less 1, as the header has it.
  var profile: Int
  var samplingFrequencyIndex: Int
  /// channel_configuration: 0 says that the stream itself tells.
  var channelConfiguration: Int
  /// Bytes of the header, with its check sum.
  var headerSize: Int
  /// Bytes of header and data.
  var frameSize: Int

  /// Bytes that are needed to read a header.
  static let size = 7
  /// Samples of a channel in a frame.
  static let samples = 1024

  private static let frequencies = [
    96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350,
  ]

  /// Hertz.
  var sampleRate: Int { Self.frequencies[samplingFrequencyIndex] }

  var channels: Int { channelConfiguration == 7 ? 8 : channelConfiguration }

  /// The AudioSpecificConfig that says the same (ISO/IEC 14496-3 §1.6.2.1).
  var configuration: [UInt8] {
    let bits = (profile + 1) << 11 | samplingFrequencyIndex << 7 | channelConfiguration << 3
    return [UInt8(bits >> 8), UInt8(bits & 0xFF)]
  }

  /// Reads the header at `position`; what is wrong with it is thrown in words.
  init(_ bytes: Span<UInt8>, at position: Int) throws(ADTSError) {
    guard position + Self.size <= bytes.count else { throw .truncated }
    let byte = (0..<Self.size).map { Int(bytes[position + $0]) }
    // syncword, and layer, which is always 0.
    guard byte[0] == 0xFF, byte[1] & 0xF6 == 0xF0 else { throw .noHeader }
    profile = byte[2] >> 6
    samplingFrequencyIndex = byte[2] >> 2 & 15
    channelConfiguration = (byte[2] & 1) << 2 | byte[3] >> 6
    headerSize = byte[1] & 1 == 1 ? 7 : 9
    frameSize = (byte[3] & 3) << 11 | byte[4] << 3 | byte[5] >> 5
    guard samplingFrequencyIndex < Self.frequencies.count else { throw .reserved }
    guard byte[6] & 3 == 0 else { throw .severalBlocks }
    guard channelConfiguration > 0 else { throw .noChannels }
    guard frameSize > headerSize else { throw .reserved }
  }

  /// Frames that can follow each other in one track.
  func continues(_ other: ADTSHeader) -> Bool {
    profile == other.profile && samplingFrequencyIndex == other.samplingFrequencyIndex
      && channelConfiguration == other.channelConfiguration
  }
}

enum ADTSError: Error, Equatable, Sendable {
  case truncated
  case noHeader
  case reserved
  case severalBlocks
  case noChannels

  var words: String {
    switch self {
    case .truncated: "the last frame is cut off"
    case .noHeader: "no ADTS header is there"
    case .reserved: "the header has a value that is reserved"
    case .severalBlocks: "the frame holds several blocks, which no container takes"
    case .noChannels: "the number of channels is left to the stream"
    }
  }
}
