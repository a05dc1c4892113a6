internal import Codec
internal import H264

/// What keeps the pictures inside libx264 from taking more memory than their use is worth.
extension EncodeSettings {
  /// Bytes of the pictures that libx264 looks ahead at.
  private static let lookaheadBytes = 2 << 30

  /// Frames that libx264 looks ahead, where the preset's number of them would take too much memory;
  /// nil: as the preset says. Pictures up to 4096x2160 are never concerned.
  func boundedLookahead(of video: RawVideo) -> Int? {
    let usual =
      switch preset {
      case .ultrafast, .superfast: 0
      case .veryfast: 10
      case .faster: 20
      case .fast: 30
      case .medium: 40
      case .slow: 50
      case .slower, .veryslow, .placebo: 60
      }
    let sampleSize = video.pixelFormat.bitDepth > 8 ? 2 : 1
    // The planes, four luma planes of half the width and height, vectors and costs.
    let picture = 4 * video.width * video.height * sampleSize
    let most = max(2, Self.lookaheadBytes / picture)
    return usual > most ? most : nil
  }

  /// Refuses more reference frames than any level has room for (H.264 table A-1).
  func checkReferences(_ video: RawVideo) throws(Problem) {
    guard let references, let largest = Level.all.last else { return }
    let size = ((video.width + 15) / 16) * ((video.height + 15) / 16)
    let room = max(1, largest.maxDpbFrames(frameSizeInMbs: size))
    guard references > room else { return }
    throw .conflict(
      "refs",
      "refs=\(references) is more than any level allows for \(video.width)x\(video.height); "
        + "level \(largest.name) has room for \(room).")
  }
}
