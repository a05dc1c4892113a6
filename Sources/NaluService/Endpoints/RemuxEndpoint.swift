internal import Codec
internal import H264

/// The parameters of `/remux`.
enum RemuxParameters {
  static let format: Parameter<OutputFormat> = Parameter(
    "format", .choice, otherNames: ["f"],
    help: "What comes out: h264 is Annex B, avcc has four-byte lengths and its parameter sets in "
      + "band; mp4 has its index in front, fmp4 is fragmented. Required.")
  static let frameRate = Parameter(
    "fps", .rate(atMost: 1000), default: "what the stream says, or 25",
    otherNames: ["framerate", "frame_rate", "r", "rate"],
    help: "Frames per second of a bare stream; a container says itself when its frames are shown.")
  static let sound: Parameter<RemuxSettings.Sound> = Parameter(
    "audio", .choice, default: "copy", otherNames: ["an"],
    help:
      "copy keeps the sound of the input, unless a part audio of the form takes its place; what "
      + "the format has no place for is refused. none leaves it out.")

  static let all: [any AnyParameter] =
    [format, frameRate, sound] + LengthPrefixParameters.all
}

extension RemuxSettings {
  package init(_ values: ParameterValues) throws(Problem) {
    guard let format = values[RemuxParameters.format] else {
      throw .missing("format", "Say what is to come out: format=mp4, for instance.")
    }
    self.init(format: format)
    frameRate = values[RemuxParameters.frameRate].map { Rational($0.numerator, $0.denominator) }
    sound = values[RemuxParameters.sound] ?? .copy
    lengthPrefix = try LengthPrefixSettings(values)
  }
}

extension MediaEndpoint {
  /// `POST /remux`: H.264 in any form in, the same in another form out.
  package static let remux = MediaEndpoint(
    name: "remux",
    summary: "Puts H.264 into another container, or takes it out of one, without encoding it anew.",
    input: "H.264: a byte stream (Annex B), length-prefixed NAL units, MP4, FLV, an MPEG transport "
      + "stream or Matroska.",
    secondPart: SecondPart(
      name: "audio", meaning: "AAC in ADTS form, which takes the place of the sound of the input."),
    outputTypes: ["video/mp4"] + OutputFormat.contentTypes.filter { $0 != "video/mp4" },
    outputHeaders: [
      ("Nalu-Frames-Out", "Frames in the answer, always as many as in the input."),
      ("Nalu-Note", "What was assumed, had no room in the format, or was left out."),
    ],
    parameters: RemuxParameters.all,
    usesCodec: false,
    problems: [
      .missingParameter, .conflictingParameters, .emptyBody, .unrecognisedInput, .noParameterSets,
      .undecodable, .unsupportedFeature, .dimensionsTooLarge, .tooManyFrames, .tooManyNALUnits,
    ],
    makeOperation: { (values, context) throws(Problem) in
      RemuxOperation(
        try RemuxSettings(values), limits: context.limits,
        spoolDirectory: context.spoolDirectory, file: context.file)
    })
}
