package import Codec

/// What `/encode` was asked for. `nil` means that a parameter was not given: some rules ask.
package struct EncodeSettings: Equatable, Sendable {
  package var width: Int?
  package var height: Int?
  package var pixelFormat: PixelFormat?
  /// What is coded; `nil`: the input's own, or 4:2:0 for packed 4:2:2 and RGB.
  package var chromaFormat: ChromaFormat?
  package var frameRate: Rational?
  /// Bits per second; at most one of the three is given.
  package var bitrate: Int?
  package var crf: Double?
  package var qp: Int?
  /// Bits per second.
  package var maxRate: Int?
  /// Bits.
  package var bufferSize: Int?
  package var gop: Int?
  package var sceneCut: Bool?
  /// Frame numbers, in any order.
  package var forcedKeyframes: [Int] = []
  package var bitrateChanges: [BitrateChange] = []
  package var bframes: Int?
  package var references: Int?
  package var entropyCoding: VideoEncoder.EntropyCoding?
  package var openGOP = false
  package var intraRefresh = false
  package var profile: VideoEncoder.Profile?
  /// One of `levels`.
  package var level: String?
  package var realtime = false
  package var preset = VideoEncoder.Preset.medium
  package var tunes: [VideoEncoder.Tune] = []
  package var slices = 0
  package var threads = 0
  package var accessUnitDelimiters = false
  /// `nil`: where the format has no other place for parameter sets.
  package var repeatsParameterSets: Bool?
  package var interlacing: Interlacing?
  package var colour = ColourDescription()
  package var sampleAspectRatio: Rational?
  package var format = OutputFormat.h264

  package init() {}

  /// The levels of table A-1, lowest first.
  package static let levels = [
    "1.0", "1b", "1.1", "1.2", "1.3", "2.0", "2.1", "2.2", "3.0", "3.1", "3.2", "4.0", "4.1",
    "4.2", "5.0", "5.1", "5.2", "6.0", "6.1", "6.2",
  ]

  /// From that frame on, that many bits per second.
  package struct BitrateChange: Equatable, Sendable {
    package var frame: Int
    package var bitrate: Int

    package init(frame: Int, bitrate: Int) {
      self.frame = frame
      self.bitrate = bitrate
    }
  }

  package enum Interlacing: String, CaseIterable, Sendable {
    case no, tff, bff

    var fieldOrder: VideoEncoder.FieldOrder? {
      switch self {
      case .no: nil
      case .tff: .tff
      case .bff: .bff
      }
    }
  }

  /// No frame may wait for another, whether asked for by `realtime` or by x264's name for it.
  package var isRealtime: Bool { realtime || tunes.contains(.zerolatency) }

  /// These settings with what a Y4M header says. What is the header's to say is refused here,
  /// whether it says it or not.
  package func completed(by header: RawVideo) throws(Problem) -> EncodeSettings {
    let given: [(String, Bool)] = [
      ("width", width != nil), ("height", height != nil),
      ("pix_fmt", pixelFormat != nil), ("fps", frameRate != nil),
      ("sar", sampleAspectRatio != nil), ("interlaced", interlacing != nil),
    ]
    if let name = given.first(where: \.1)?.0 {
      throw .conflict(name, "\(name) comes from the Y4M header; leave it out.")
    }
    var settings = self
    settings.frameRate = header.frameRate
    settings.sampleAspectRatio = header.sampleAspectRatio
    settings.interlacing = header.interlacing
    settings.colour.range = colour.range ?? header.colorRange
    return settings
  }

  /// What headerless video is; `nil` when width and height are not both given, so that the body
  /// must be Y4M.
  package func rawVideo() -> RawVideo? {
    guard let width, let height else { return nil }
    return RawVideo(width: width, height: height, pixelFormat: pixelFormat ?? .yuv420p)
  }
}

extension EncodeSettings {
  /// The problem of a body that is not Y4M although the parameters do not say the size.
  var missingSize: Problem {
    if width != nil { return .missing("height", "Headerless video needs height too.") }
    if height != nil { return .missing("width", "Headerless video needs width too.") }
    return .missing(
      "width", "Headerless video needs width and height; the body is not Y4M either.")
  }
}

extension Problem {
  static func missing(_ parameter: String, _ detail: String) -> Problem {
    Problem(.missingParameter, detail, parameter: parameter)
  }

  static func conflict(_ parameter: String, _ detail: String) -> Problem {
    Problem(.conflictingParameters, detail, parameter: parameter)
  }
}
