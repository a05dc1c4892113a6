internal import Codec

/// How a frame of sound begins in a stream that says itself where its frames end.
struct SoundFrameHeader: Equatable, Sendable {
  /// Bytes of header that containers do not want.
  var headerSize = 0
  /// Bytes, those of the header included.
  var frameSize: Int
  var sampleRate: Int
  var channels: Int
  /// Samples of one channel.
  var samples: Int
  /// It belongs to the frame before it.
  var isDependent = false
  /// What the container says once for all frames.
  var configuration: [UInt8] = []

  /// Streams that are told apart by their frames.
  enum Form: Equatable, Sendable {
    case adts
    /// MPEG-1 and MPEG-2 audio, layers I to III.
    case mpegAudio
    /// AC-3 and E-AC-3.
    case ac3
    /// Opus packets as they are in a transport stream.
    case opusControl
  }

  /// Bytes that are needed to read a header.
  static let size = 8

  /// Reads the header at `position`; nil when there is none.
  init?(_ form: Form, _ bytes: Span<UInt8>, at position: Int) {
    guard position + Self.size <= bytes.count else { return nil }
    let byte = (0..<Self.size).map { Int(bytes[position + $0]) }
    switch form {
    case .adts: self.init(adts: bytes, at: position)
    case .mpegAudio: self.init(mpegAudio: byte)
    case .ac3: self.init(ac3: byte)
    case .opusControl: self.init(opusControl: bytes, at: position)
    }
  }

  /// Frames that can follow each other in one track.
  func continues(_ other: SoundFrameHeader) -> Bool {
    sampleRate == other.sampleRate && configuration == other.configuration
  }

  private init?(adts bytes: Span<UInt8>, at position: Int) {
    guard let header = try? ADTSHeader(bytes, at: position) else { return nil }
    headerSize = header.headerSize
    frameSize = header.frameSize
    sampleRate = header.sampleRate
    channels = header.channels
    samples = ADTSHeader.samples
    configuration = header.configuration
  }
}

// MARK: MPEG audio (ISO/IEC 11172-3 §2.4.1.3, ISO/IEC 13818-3 §2.4.1.3)

extension SoundFrameHeader {
  /// Kilobits per second of MPEG-1 layers I, II and III, then of MPEG-2 layers I and the others.
  private static let mpegRates = [
    [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
    [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
    [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
    [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
    [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  ]

  private init?(mpegAudio byte: [Int]) {
    guard byte[0] == 0xFF, byte[1] & 0xE0 == 0xE0 else { return nil }
    // 3 is MPEG-1, 2 is MPEG-2, 0 its extension to lower rates.
    let version = byte[1] >> 3 & 3
    let layer = 4 - (byte[1] >> 1 & 3)
    let rateIndex = byte[2] >> 4
    let frequencyIndex = byte[2] >> 2 & 3
    guard version != 1, layer < 4, (1...14).contains(rateIndex), frequencyIndex < 3 else {
      return nil
    }
    let halvings = version == 3 ? 0 : version == 2 ? 1 : 2
    let table = version == 3 ? layer - 1 : layer == 1 ? 3 : 4
    let rate = Self.mpegRates[table][rateIndex - 1] * 1000
    let padding = byte[2] >> 1 & 1
    sampleRate = [44_100, 48_000, 32_000][frequencyIndex] >> halvings
    samples = layer == 1 ? 384 : layer == 3 && halvings > 0 ? 576 : 1152
    frameSize =
      layer == 1
      ? (12 * rate / sampleRate + padding) * 4 : samples / 8 * rate / sampleRate + padding
    channels = byte[3] >> 6 == 3 ? 1 : 2
  }
}

// MARK: AC-3 and E-AC-3 (ETSI TS 102 366 §4.3 and §E.1.2)

extension SoundFrameHeader {
  private static let ac3Rates = [
    32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640,
  ]
  private static let frequencies = [48_000, 44_100, 32_000]
  /// By acmod.
  private static let channelCounts = [2, 1, 2, 3, 3, 4, 4, 5]

  private init?(ac3 byte: [Int]) {
    guard byte[0] == 0x0B, byte[1] == 0x77 else { return nil }
    // bsid
    switch byte[5] >> 3 {
    case 0...10: self.init(plainAC3: byte)
    case 11...16: self.init(enhancedAC3: byte)
    default: return nil
    }
  }

  private init?(plainAC3 byte: [Int]) {
    let code = byte[4] & 63
    guard byte[4] >> 6 < 3, code < 38 else { return nil }
    let rate = Self.ac3Rates[code / 2]
    sampleRate = Self.frequencies[byte[4] >> 6]
    // Words of 16 bits; at 44100 Hz the last bit of the code says which way they are rounded.
    let words =
      switch sampleRate {
      case 48_000: rate * 2
      case 44_100: rate * 320 / 147 + code & 1
      default: rate * 3
      }
    frameSize = 2 * words
    samples = 1536
    let mode = byte[6] >> 5
    // lfeon follows the mix levels that the mode has.
    var skipped = 3
    if mode & 1 == 1, mode != 1 { skipped += 2 }
    if mode & 4 != 0 { skipped += 2 }
    if mode == 2 { skipped += 2 }
    channels = Self.channelCounts[mode] + (byte[6] << 8 | byte[7]) >> (15 - skipped) & 1
  }

  private init?(enhancedAC3 byte: [Int]) {
    frameSize = 2 * ((byte[2] & 7) << 8 | byte[3]) + 2
    guard byte[2] >> 6 < 3, frameSize >= Self.size else { return nil }
    isDependent = byte[2] >> 6 == 1
    var blocks = 6
    if byte[4] >> 6 == 3 {
      guard byte[4] >> 4 & 3 < 3 else { return nil }
      sampleRate = Self.frequencies[byte[4] >> 4 & 3] / 2
    } else {
      sampleRate = Self.frequencies[byte[4] >> 6]
      blocks = [1, 2, 3, 6][byte[4] >> 4 & 3]
    }
    samples = 256 * blocks
    channels = Self.channelCounts[byte[4] >> 1 & 7] + byte[4] & 1
  }
}

// MARK: Opus (ETSI TS 103 491 §5, RFC 6716 §3.1)

extension SoundFrameHeader {
  private init?(opusControl bytes: Span<UInt8>, at start: Int) {
    let flags = Int(bytes[start]) << 8 | Int(bytes[start + 1])
    guard flags & 0xFFE0 == 0x7FE0 else { return nil }
    var position = start + 2
    var size = 0
    var isLast = false
    while !isLast {
      guard position < bytes.count else { return nil }
      size += Int(bytes[position])
      isLast = bytes[position] < 255
      position += 1
    }
    // start_trim and end_trim.
    position += 2 * (flags >> 4 & 1) + 2 * (flags >> 3 & 1)
    if flags & 4 != 0 {
      guard position < bytes.count else { return nil }
      position += 1 + Int(bytes[position])
    }
    guard (1...Self.largestOpus).contains(size), position < bytes.count else { return nil }
    headerSize = position - start
    frameSize = headerSize + size
    sampleRate = Self.opusRate
    channels = 0
    samples = Self.opusSamples(bytes, at: position) ?? Self.opusRate / 50
  }

  static let opusRate = 48_000
  /// 48 frames of 1275 bytes, their lengths and the rest (RFC 6716 §3.4).
  private static let largestOpus = 1 << 16

  /// Samples of a channel in the Opus packet that begins there, at 48000 Hz.
  static func opusSamples(_ bytes: Span<UInt8>, at position: Int) -> Int? {
    guard position < bytes.count else { return nil }
    let configuration = Int(bytes[position] >> 3)
    let frame =
      switch configuration {
      case 0..<12: [480, 960, 1920, 2880][configuration & 3]
      case 12..<16: [480, 960][configuration & 1]
      default: [120, 240, 480, 960][configuration & 3]
      }
    switch bytes[position] & 3 {
    case 0: return frame
    case 1, 2: return 2 * frame
    default:
      guard position + 1 < bytes.count else { return nil }
      let samples = frame * Int(bytes[position + 1] & 63)
      return samples > 0 && samples <= 5760 ? samples : nil
    }
  }
}
