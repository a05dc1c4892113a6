internal import Codec
internal import H264

/// The parameters of `/encode`.
enum EncodeParameters {
  static let width = Parameter(
    "width", .integer(1...1_000_000), otherNames: ["video_size", "size", "s", "w"],
    help: "Luma samples in a row; required for headerless input.")
  static let height = Parameter(
    "height", .integer(1...1_000_000), otherNames: ["video_size", "size", "s", "h"],
    help: "Luma rows; required for headerless input.")
  static let pixelFormat = Parameter(
    "pix_fmt", .choice(of: pixelFormats), default: "yuv420p",
    otherNames: ["pixel_format", "csp", "input-csp"],
    help: "How the samples of headerless input lie in memory, rows without padding.")
  static let chromaFormat = Parameter(
    "chroma_format", .choice(of: named(["auto", "4:2:0", "4:2:2", "4:4:4"])), default: "auto",
    otherNames: ["output-csp"],
    help: "What is coded: auto keeps planar and semi-planar input, and makes 4:2:0 of packed "
      + "4:2:2 and of RGB.")
  static let frameRate = Parameter(
    "fps", .rate(atMost: 1000), default: "25",
    otherNames: ["framerate", "frame_rate", "r", "rate", "ExpectedFrameRate"],
    help: "Frames per second; the VUI says exactly this.")

  static let bitrate = Parameter(
    "bitrate", .bits(bits),
    otherNames: ["b", "b:v", "vb", "bit_rate", "AverageBitRate"],
    help: "Average bits per second, rounded to thousands. At most one of bitrate, crf and qp.")
  static let crf = Parameter(
    "crf", .number(0...51), default: "23",
    help: "Constant quality; lower is better. Below 1, 8-bit video is lossless.")
  static let qp = Parameter(
    "qp", .integer(0...63), otherNames: ["cqp"],
    help: "Constant quantiser, up to 51 for 8-bit video; 0 is lossless.")
  static let maxRate = Parameter(
    "maxrate", .bits(bits),
    otherNames: ["vbv-maxrate", "vbv_maxrate", "DataRateLimits"],
    help: "Bits per second that fill the decoder's buffer (VBV), rounded to thousands.")
  static let bufferSize = Parameter(
    "bufsize", .bits(bits), default: "one second of maxrate",
    otherNames: ["vbv-bufsize", "vbv_bufsize"],
    help: "Bits that the decoder's buffer (VBV) holds, rounded to thousands.")
  static let bitrateChanges = Parameter(
    "bitrate_changes", .bitrateChanges(limit: 1000),
    help: "Frame numbers and the bit rate from there on, rounded to thousands: 50:2M,200:800k. "
      + "Needs bitrate; the stream becomes CBR with a buffer of one second.")

  static let gop = Parameter(
    "gop", .integer(1...1_000_000_000), default: "two seconds",
    otherNames: ["keyint", "g", "MaxKeyFrameInterval"],
    help: "Frames from one keyframe to the next at most. When given, scene cuts insert none "
      + "unless scenecut=1.")
  static let sceneCut = Parameter(
    "scenecut", .boolean, default: "1, or 0 when gop is given", otherNames: ["sc_threshold"],
    help: "Keyframes at scene cuts.")
  static let forcedKeyframes = Parameter(
    "force_keyframes", .integers(0...1_000_000_000, limit: 5000),
    otherNames: ["force_key_frames", "force_keyframe", "ForceKeyFrame"],
    help: "Numbers of frames that become IDR pictures whatever gop says. A request target holds "
      + "30000 bytes, about 4200 numbers of six digits.")
  static let bframes = Parameter(
    "bframes", .integer(0...16), default: "the preset's",
    otherNames: ["bf", "AllowFrameReordering"],
    help: "B-frames in a row at most; none with realtime=1 and in baseline.")
  static let references = Parameter(
    "refs", .integer(1...16), default: "the preset's", otherNames: ["ref"],
    help: "Reference frames.")
  static let entropyCoding: Parameter<VideoEncoder.EntropyCoding> = Parameter(
    "entropy", .choice, default: "the preset's", otherNames: ["coder", "H264EntropyMode"],
    help: "Entropy coding; cavlc in baseline.")
  static let openGOP = Parameter(
    "open_gop", .boolean, default: "0", otherNames: ["open-gop"],
    help: "B-frames may refer across keyframes, which are recovery points then and no IDR.")
  static let intraRefresh = Parameter(
    "intra_refresh", .boolean, default: "0", otherNames: ["intra-refresh"],
    help: "A moving column of intra blocks instead of keyframes.")

  static let profile = Parameter(
    "profile", .choice(of: named(["auto"] + VideoEncoder.Profile.allCases.map(\.rawValue))),
    default: "auto", otherNames: ["profile:v", "ProfileLevel"],
    help: "The profile that the stream must not exceed.")
  static let level = Parameter(
    "level", .choice(of: levels), default: "auto", otherNames: ["level_idc", "level:v"],
    help: "The level that the stream must not exceed; auto is the lowest that fits.")
  static let realtime = Parameter(
    "realtime", .boolean, default: "0", otherNames: ["zerolatency", "RealTime"],
    help: "No delay: no look-ahead, no B-frames, one frame in and its NAL units out.")
  static let preset: Parameter<VideoEncoder.Preset> = Parameter(
    "preset", .choice, default: "medium", otherNames: ["preset:v"],
    help: "How much work goes into compression.")
  static let tunes = Parameter(
    "tune", .tunes, otherNames: ["tune:v"],
    help: "What to favour: one of \(tuneNames), or several with commas.")
  static let slices = Parameter(
    "slices", .integer(0...1024), default: "0",
    help: "Slices in a picture; 0 is the encoder's choice.")
  static let threads = Parameter(
    "threads", .integer(0...128), default: "0",
    help: "Encoder threads, as many as the server allows; 0 is the server's choice: all it allows, "
      + "divided by the jobs that run when the encoder is opened. The bytes depend on it.")

  static let accessUnitDelimiters = Parameter(
    "aud", .boolean, default: "0", help: "An access unit delimiter before every picture.")
  static let repeatsParameterSets = Parameter(
    "repeat_headers", .boolean, default: "1 for h264, avcc and mpegts, else 0",
    otherNames: ["repeat-headers"],
    help: "SPS and PPS before every keyframe, not only the first, or not only in the container's "
      + "configuration record.")
  static let interlacing: Parameter<EncodeSettings.Interlacing> = Parameter(
    "interlaced", .choice, default: "no", otherNames: ["tff", "bff", "field_order"],
    help: "Frames are two fields: top field first or bottom field first.")
  static let colorRange: Parameter<ColourDescription.Range> = Parameter(
    "color_range", .choice, otherNames: ["range", "colour_range"],
    help: "What the VUI says of the range of samples: tv is limited, pc is full.")
  static let colorspace: Parameter<ColourDescription.Matrix> = Parameter(
    "colorspace", .choice, otherNames: ["colormatrix", "color_space", "matrix_coefficients"],
    help: "Matrix coefficients for the VUI. RGB input is converted with them.")
  static let colorPrimaries: Parameter<ColourDescription.Primaries> = Parameter(
    "color_primaries", .choice, otherNames: ["colorprim", "colour_primaries"],
    help: "Colour primaries for the VUI.")
  static let colorTransfer: Parameter<ColourDescription.Transfer> = Parameter(
    "color_trc", .choice, otherNames: ["transfer", "transfer_characteristics"],
    help: "Transfer characteristics for the VUI.")
  static let sampleAspectRatio = Parameter(
    "sar", .aspectRatio, otherNames: ["aspect", "sample_aspect_ratio"],
    help: "Width and height of a sample.")
  static let format: Parameter<OutputFormat> = Parameter(
    "format", .choice, default: "h264", otherNames: ["f"],
    help: "h264 is Annex B; avcc has four-byte lengths and its parameter sets in band; mp4 has its "
      + "index in front, fmp4 is fragmented; flv, mpegts and mkv are containers too.")

  static let all: [any AnyParameter] = [
    width, height, pixelFormat, chromaFormat, frameRate, bitrate, crf, qp, maxRate, bufferSize,
    gop, sceneCut, forcedKeyframes, bitrateChanges, bframes, references, entropyCoding, openGOP,
    intraRefresh, profile, level, realtime, preset, tunes, slices, threads, accessUnitDelimiters,
    repeatsParameterSets, interlacing, colorRange, colorspace, colorPrimaries, colorTransfer,
    sampleAspectRatio, format,
  ]

  private static let pixelFormats =
    [(name: "i420", value: PixelFormat.yuv420p)]
    + PixelFormat.encodable.map { (name: $0.rawValue, value: $0) }

  /// Names that stand for themselves; `auto` is no raw value of the type they are turned into.
  private static func named(_ names: [String]) -> [(name: String, value: String)] {
    names.map { (name: $0, value: $0) }
  }

  /// `4` and `4.0` are the same.
  private static let levels: [(name: String, value: String)] =
    named(["auto"])
    + EncodeSettings.levels.flatMap { level in
      level.hasSuffix(".0")
        ? [(name: level, value: level), (name: String(level.dropLast(2)), value: level)]
        : [(name: level, value: level)]
    }

  /// Bits, and bits per second, that libx264 can count.
  fileprivate static let bits = 1000...2_000_000_000

  fileprivate static let tuneNames = VideoEncoder.Tune.allCases.map(\.rawValue)
    .joined(separator: ", ")
}

extension ParameterKind<[VideoEncoder.Tune]> {
  fileprivate static var tunes: ParameterKind {
    let names = VideoEncoder.Tune.allCases.map(\.rawValue).joined(separator: "|")
    return ParameterKind(
      "one of \(EncodeParameters.tuneNames), or several with commas, each once",
      schema: .pattern("^(\(names))(,(\(names)))*$", example: "film")
    ) { text in
      let parts = text.split(separator: ",", omittingEmptySubsequences: false)
      let tunes = parts.compactMap { VideoEncoder.Tune(rawValue: String($0)) }
      return tunes.count == parts.count && Set(tunes).count == tunes.count ? tunes : nil
    }
  }
}

extension ParameterKind<[EncodeSettings.BitrateChange]> {
  /// `50:2M,200:800k`: each frame once.
  fileprivate static func bitrateChanges(limit: Int) -> ParameterKind {
    let change = "[0-9]+:\(decimalPattern)[kM]?"
    return ParameterKind(
      "frame:bitrate pairs with commas, such as 50:2M,200:800k: frames from "
        + "\(frames.lowerBound) to \(frames.upperBound) and each once, "
        + "\(EncodeParameters.bits.lowerBound) to \(EncodeParameters.bits.upperBound) bits, at most "
        + "\(limit)",
      schema: .pattern("^\(change)(,\(change)){0,\(limit - 1)}$", example: "50:2M,200:800k")
    ) { text in
      let parts = text.split(separator: ",", omittingEmptySubsequences: false)
      guard parts.count <= limit else { return nil }
      let changes = parts.compactMap(bitrateChange)
      guard changes.count == parts.count, Set(changes.map(\.frame)).count == changes.count else {
        return nil
      }
      return changes
    }
  }

  private static var frames: ClosedRange<Int> { 1...1_000_000_000 }

  private static func bitrateChange(_ text: Substring) -> EncodeSettings.BitrateChange? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let frame = decimalInteger(parts[0]),
      let bitrate = scaledBits(parts[1]),
      frames.contains(frame), EncodeParameters.bits.contains(bitrate)
    else { return nil }
    return .init(frame: frame, bitrate: wholeThousands(bitrate))
  }
}

/// libx264 counts in thousands of bits; what is between is rounded.
private func wholeThousands(_ bits: Int) -> Int { (bits + 500) / 1000 * 1000 }

extension EncodeSettings {
  package init(_ values: ParameterValues) {
    self.init()
    typealias Table = EncodeParameters
    width = values[Table.width]
    height = values[Table.height]
    pixelFormat = values[Table.pixelFormat]
    chromaFormat = values[Table.chromaFormat].flatMap { ChromaFormat(rawValue: $0) }
    frameRate = values[Table.frameRate].map { Rational($0.numerator, $0.denominator) }
    bitrate = values[Table.bitrate].map(wholeThousands)
    crf = values[Table.crf]
    qp = values[Table.qp]
    maxRate = values[Table.maxRate].map(wholeThousands)
    bufferSize = values[Table.bufferSize].map(wholeThousands)
    gop = values[Table.gop]
    sceneCut = values[Table.sceneCut]
    forcedKeyframes = values[Table.forcedKeyframes] ?? []
    bitrateChanges = values[Table.bitrateChanges] ?? []
    bframes = values[Table.bframes]
    references = values[Table.references]
    entropyCoding = values[Table.entropyCoding]
    openGOP = values[Table.openGOP] ?? false
    intraRefresh = values[Table.intraRefresh] ?? false
    profile = values[Table.profile].flatMap { VideoEncoder.Profile(rawValue: $0) }
    level = values[Table.level].flatMap { Self.levels.contains($0) ? $0 : nil }
    realtime = values[Table.realtime] ?? false
    preset = values[Table.preset] ?? .medium
    tunes = values[Table.tunes] ?? []
    slices = values[Table.slices] ?? 0
    threads = values[Table.threads] ?? 0
    accessUnitDelimiters = values[Table.accessUnitDelimiters] ?? false
    repeatsParameterSets = values[Table.repeatsParameterSets]
    interlacing = values[Table.interlacing]
    colour.range = values[Table.colorRange]
    colour.matrix = values[Table.colorspace]
    colour.primaries = values[Table.colorPrimaries]
    colour.transfer = values[Table.colorTransfer]
    sampleAspectRatio = values[Table.sampleAspectRatio].map {
      Rational($0.numerator, $0.denominator)
    }
    format = values[Table.format] ?? .h264
  }
}
