package import Codec

/// What coded video is put into.
package enum OutputFormat: String, CaseIterable, Sendable {
  /// Annex B.
  case h264
  /// Four-byte lengths, parameter sets in band.
  case avcc
  /// The index in front.
  case mp4
  /// Fragmented MP4.
  case fmp4
  case flv, mpegts, mkv

  package var contentType: String {
    switch self {
    case .h264: "video/h264"
    case .avcc: "application/octet-stream"
    case .mp4, .fmp4: "video/mp4"
    case .flv: "video/x-flv"
    case .mpegts: "video/mp2t"
    case .mkv: "video/x-matroska"
    }
  }

  /// Media types of all formats, each once.
  static let contentTypes: [String] = allCases.map(\.contentType).reduce(into: []) {
    if !$0.contains($1) { $0.append($1) }
  }

  /// The container; nil for a bare stream.
  package var container: Muxer.Format? {
    switch self {
    case .h264, .avcc: nil
    case .mp4: .mp4
    case .fmp4: .fmp4
    case .flv: .flv
    case .mpegts: .mpegts
    case .mkv: .mkv
    }
  }

  /// NAL units follow start codes, not lengths.
  var hasStartCodes: Bool { self == .h264 || self == .mpegts }

  /// Parameter sets have a place outside the access units, an AVCDecoderConfigurationRecord.
  var hasConfiguration: Bool {
    switch self {
    case .mp4, .fmp4, .flv, .mkv: true
    case .h264, .avcc, .mpegts: false
    }
  }

  /// The result is complete before its first byte is final, so that it waits in a file.
  var isPatched: Bool { container?.patchesOutput ?? false }
}
