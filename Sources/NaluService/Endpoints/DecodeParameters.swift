internal import Codec

/// The parameters of `/decode`.
enum DecodeParameters {
  static let format: Parameter<DecodeSettings.Format> = Parameter(
    "format", .choice, default: "png", otherNames: ["f", "output", "type"],
    help: "png and jpeg are images; yuv is headerless frames, y4m has headers, framemd5 is the "
      + "text that ffmpeg writes under that name.")
  static let frames = Parameter(
    "frames", .frameSelection, default: "0 for images, else all",
    otherNames: ["frame", "vframes", "frames:v", "select", "ss", "time"],
    help: "Which frames, numbered from 0 in output order: numbers and ranges with commas, all, "
      + "keyframes, every:N, last, or t:SECONDS.")
  static let pixelFormat = Parameter(
    "pix_fmt", .choice(of: pixelFormats), default: "the stream's own",
    otherNames: ["pixel_format", "csp"],
    help: "How the samples of yuv, y4m and framemd5 lie. Monochrome video comes out as 4:2:0 "
      + "unless it is gray. Y4M takes the planar ones.")
  static let width = Parameter(
    "width", .integer(1...16384), otherNames: ["video_size", "size", "s", "w"],
    help: "Columns to scale to. Without height, the display aspect ratio is kept.")
  static let height = Parameter(
    "height", .integer(1...16384), otherNames: ["video_size", "size", "s", "h"],
    help: "Rows to scale to. Without width, the display aspect ratio is kept.")
  static let appliesCropping = Parameter(
    "apply_cropping", .boolean, default: "1", otherNames: ["crop", "cropping"],
    help: "Crop as the SPS says; 0 gives the coded size.")
  static let rotation: Parameter<DecodeSettings.Rotation> = Parameter(
    "rotate", .choice, default: "auto", otherNames: ["autorotate", "rotation", "transpose"],
    help: "auto turns images as the stream or its container asks, and raw frames as the container "
      + "asks.")
  static let deinterlaces = Parameter(
    "deinterlace", .boolean, default: "0", otherNames: ["yadif", "bwdif", "vf"],
    help: "Images of interlaced frames without combing.")
  static let onError: Parameter<DecodeSettings.ErrorPolicy> = Parameter(
    "on_error", .choice, default: "conceal", otherNames: ["err_detect", "strict"],
    help: "conceal shows what can be shown and counts errors; fail ends the job at the first.")
  static let onResolutionChange: Parameter<DecodeSettings.ResolutionChange> = Parameter(
    "resolution_change", .choice, default: "split",
    help: "split gives each frame its own size; fail ends the job when the size changes.")
  static let archive: Parameter<DecodeSettings.Archive> = Parameter(
    "archive", .choice, default: "zip for several images, none for one",
    otherNames: ["container", "pack"],
    help: "How images are packed.")

  static let all: [any AnyParameter] =
    [
      format, frames, pixelFormat, width, height, appliesCropping, rotation, deinterlaces, onError,
      onResolutionChange, archive,
    ] + LengthPrefixParameters.all

  private static let pixelFormats =
    [(name: "i420", value: PixelFormat.yuv420p)]
    + PixelFormat.allCases.map { (name: $0.rawValue, value: $0) }
}

extension ParameterKind<FrameSelection> {
  fileprivate static var frameSelection: ParameterKind {
    let number = "[0-9]{1,\(FrameSelection.digitLimit)}"
    let item = "\(number)(-\(number))?"
    return ParameterKind(
      "frame numbers and ranges with commas such as 0,10,20-29 (at most "
        + "\(FrameSelection.itemLimit)), or all, keyframes, every:N, last, t:SECONDS; numbers have "
        + "at most \(FrameSelection.digitLimit) digits, N is at least 1, SECONDS is below 1e9",
      schema: .pattern(
        "^(\(item)(,\(item)){0,\(FrameSelection.itemLimit - 1)}|all|keyframes|last|every:\(number)|"
          + #"t:[0-9]+(\.[0-9]+)?)$"#,
        example: "0,10,20-29")
    ) { FrameSelection($0) }
  }
}

extension DecodeSettings {
  package init(_ values: ParameterValues) throws(Problem) {
    self.init()
    typealias Table = DecodeParameters
    format = values[Table.format] ?? .png
    frames = values[Table.frames]
    pixelFormat = values[Table.pixelFormat]
    width = values[Table.width]
    height = values[Table.height]
    appliesCropping = values[Table.appliesCropping] ?? true
    rotation = values[Table.rotation] ?? .auto
    deinterlaces = values[Table.deinterlaces] ?? false
    onError = values[Table.onError] ?? .conceal
    onResolutionChange = values[Table.onResolutionChange] ?? .split
    archive = values[Table.archive]
    lengthPrefix = try LengthPrefixSettings(values)
  }
}
