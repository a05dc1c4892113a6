/// Frames of sound on their way into a container, which are bounded as those of video are.
struct SoundCount: Sendable {
  /// By track.
  private var counts: [Int: Int] = [:]
  private var all = 0

  /// Bytes of memory that a frame takes until the index of an MP4 file is out.
  private static let bytesInMovie = 72

  /// Counts the next frame.
  mutating func add(_ frame: SoundFrame, _ limits: Limits) throws(Problem) {
    all += 1
    counts[frame.track, default: 0] += 1
    guard counts[frame.track, default: 0] <= limits.maxNALUnits else {
      throw Problem(
        .tooManyNALUnits,
        "A track of sound has more than max_nal_units, \(limits.maxNALUnits) frames.",
        members: [.init("limit", limits.maxNALUnits)])
    }
  }

  /// Bytes of memory that the frames so far take in a file of that format.
  func heldBytes(_ format: OutputFormat) -> Int { format == .mp4 ? all * Self.bytesInMovie : 0 }

  /// What is said of sound that ends too early.
  static let damageNote = "some of the sound that the input announces is missing or cannot be read"
}
