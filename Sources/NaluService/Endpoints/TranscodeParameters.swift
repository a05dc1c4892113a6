internal import Codec
internal import H264

/// The parameters of `/transcode` beside those of `/encode`.
enum TranscodeParameters {
  static let frameRate = Parameter(
    "fps", .rate(atMost: 1000), default: "as the input",
    otherNames: EncodeParameters.frameRate.otherNames,
    help:
      "Frames per second: frames are dropped and repeated by their times. Without it each is kept "
      + "with the time that it has. A stream without any times has this rate.")
  static let start = Parameter(
    "start", .number(0...1_000_000), default: "0", otherNames: ["ss", "from", "offset", "seek"],
    help: "Seconds from the beginning to the first frame that is kept.")
  static let duration = Parameter(
    "duration", .number(0...1_000_000), default: "to the end", otherNames: ["t", "length"],
    help: "Seconds that are kept, from the first frame on.")
  static let audio: Parameter<TranscodeSettings.Audio> = Parameter(
    "audio", .choice, default: "copy, where the format has room for it",
    otherNames: ["an", "acodec"],
    help: "copy takes the first track of sound along that the format has a place for, cut like the "
      + "pictures; none leaves it out.")

  /// What describes raw video is not there; the input says it.
  static let all: [any AnyParameter] =
    [DecodeParameters.width, DecodeParameters.height, frameRate, start, duration, audio]
    + EncodeParameters.all.filter { parameter in
      ![
        EncodeParameters.width.name, EncodeParameters.height.name,
        EncodeParameters.pixelFormat.name, EncodeParameters.frameRate.name,
      ].contains(parameter.name)
    } + LengthPrefixParameters.all
}

extension TranscodeSettings {
  package init(_ values: ParameterValues) throws(Problem) {
    self.init()
    typealias Table = TranscodeParameters
    encode = EncodeSettings(values)
    encode.width = nil
    encode.height = nil
    encode.frameRate = nil
    width = values[DecodeParameters.width]
    height = values[DecodeParameters.height]
    frameRate = values[Table.frameRate].map { Rational($0.numerator, $0.denominator) }
    start = values[Table.start]
    duration = values[Table.duration]
    audio = values[Table.audio]
    lengthPrefix = try LengthPrefixSettings(values)
  }
}
