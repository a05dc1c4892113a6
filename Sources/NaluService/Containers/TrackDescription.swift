internal import Codec

extension TrackExtraction {
  /// What a container says of its video.
  struct Description: Sendable {
    /// All that the container has.
    var tracks: [Track]
    /// The one that was taken.
    var video: Int?
    /// Others that have further parts of it.
    var parts: [Int]
    var timeline: StreamTimeline
    var sampleAspectRatio: Rational?
    var frameRate: Rational?
    var displayMatrix: [Int32]?
    var orientation: Orientation
    var damage: ContainerDamage?
  }
}
