extension MediaEndpoint {
  /// `POST /transcode`: H.264 in, H.264 out.
  package static let transcode = MediaEndpoint(
    name: "transcode",
    summary: "Decodes H.264 and encodes it anew.",
    input: MediaEndpoint.decode.input,
    outputTypes: OutputFormat.contentTypes,
    outputHeaders: [
      ("Nalu-Frames-In", "Frames that were decoded; a trailer when the answer is streamed."),
      ("Nalu-Frames-Out", "Frames that were encoded; a trailer when the answer is streamed."),
      (
        "Nalu-Frames-Skipped",
        "Pictures before the first IDR picture or recovery point; a trailer when streamed."
      ),
      ("Nalu-Decode-Errors", "Damaged or missing pictures; a trailer when streamed."),
      ("Nalu-Note", "What was left out, such as a second track."),
    ],
    parameters: TranscodeParameters.all,
    problems: [
      .conflictingParameters, .oddDimensions, .emptyBody, .unrecognisedInput, .noParameterSets,
      .undecodable, .frameNotFound, .unsupportedFeature, .dimensionsTooLarge, .tooManyFrames,
      .tooManyNALUnits,
    ],
    makeOperation: { (values, context) throws(Problem) in
      try TranscodeOperation(
        TranscodeSettings(values), limits: context.limits, spoolDirectory: context.spoolDirectory)
    })
}
