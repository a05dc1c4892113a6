package import Codec

/// What `/transcode` was asked for.
package struct TranscodeSettings: Equatable, Sendable {
  package enum Audio: String, CaseIterable, Sendable {
    /// The AAC track goes along.
    case copy
    case none
  }

  /// How to encode. What describes raw video is not set: it comes from the input.
  package var encode = EncodeSettings()
  /// Luma samples to scale to.
  package var width: Int?
  /// Luma samples to scale to.
  package var height: Int?
  /// Frames per second that are made by dropping and repeating frames; `nil`: each is kept.
  package var frameRate: Rational?
  /// Seconds.
  package var start: Double?
  /// Seconds.
  package var duration: Double?
  package var audio: Audio?
  package var lengthPrefix = LengthPrefixSettings()

  package init() {}

  /// Throws what contradicts itself.
  package func check(_ limits: Limits) throws(Problem) {
    try encode.checkWithoutVideo()
    try decode.check(limits)
    if audio == .copy, encode.format.container == nil {
      throw .conflict(
        "audio", "\(encode.format.rawValue) holds no audio; use a container, or audio=none.")
    }
    if let duration, duration <= 0 {
      throw Problem(
        .invalidParameter, "duration must be more than 0 seconds.", parameter: "duration")
    }
  }

  /// How to decode for it.
  var decode: DecodeSettings {
    var settings = DecodeSettings()
    settings.format = .yuv
    settings.width = width
    settings.height = height
    return settings
  }
}
