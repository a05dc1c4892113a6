package import Codec

/// What `/remux` was asked for.
package struct RemuxSettings: Equatable, Sendable {
  package enum Sound: String, CaseIterable, Sendable {
    /// The sound that is sent along, or else all of the input.
    case copy
    case none
  }

  package var format: OutputFormat
  /// Of bare streams; `nil`: what they say.
  package var frameRate: Rational?
  package var sound = Sound.copy
  package var lengthPrefix = LengthPrefixSettings()

  package init(format: OutputFormat) {
    self.format = format
  }
}
