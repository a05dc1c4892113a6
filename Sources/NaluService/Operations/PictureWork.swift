internal import Codec

/// How much work a picture is, judged before it is known how long it takes: its luma samples, times
/// a factor that is 1 for the encoder's default preset.
struct PictureWork: Equatable, Sendable {
  private let work: Int

  init(width: Int, height: Int, factor: Int = 1) {
    work = min(width, 1 << 20) * min(height, 1 << 20) * factor
  }

  /// Of the pictures of a stream, in the size that is asked for.
  init(_ index: DecodeIndex, _ settings: DecodeSettings, factor: Int) {
    let works = index.shapes.flatMap { shape in
      let geometry = DecodeGeometry(
        width: shape.width, height: shape.height, sampleAspectRatio: index.sampleAspectRatio,
        settings, swapsAxes: false, isSubsampled: false)
      return [
        PictureWork(width: shape.width, height: shape.height, factor: factor).work,
        PictureWork(width: geometry.width, height: geometry.height, factor: factor).work,
      ]
    }
    work = works.max() ?? 0
  }

  /// A step is likely to be slow. What this misjudges is known better after the first step.
  var isLarge: Bool { work > 8 << 20 }
}

extension VideoEncoder.Preset {
  /// For `PictureWork`.
  var workFactor: Int {
    switch self {
    case .ultrafast, .superfast, .veryfast, .faster, .fast, .medium: 1
    case .slow: 2
    case .slower: 4
    case .veryslow: 8
    case .placebo: 16
    }
  }
}

extension DecodeSettings {
  /// For `PictureWork`.
  var workFactor: Int { (format == .png ? 2 : 1) * (deinterlaces ? 2 : 1) }
}
