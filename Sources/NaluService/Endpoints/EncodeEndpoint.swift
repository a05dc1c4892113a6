extension MediaEndpoint {
  /// `POST /encode`: raw frames in; H.264 out, bare or in a container.
  package static let encode = MediaEndpoint(
    name: "encode",
    summary: "Encodes raw video, headerless or Y4M, to H.264.",
    input: "Frames without padding, back to back, as width, height and pix_fmt say; or Y4M.",
    outputTypes: OutputFormat.contentTypes,
    outputHeaders: [
      ("Nalu-Frames-In", "Frames that the body held."),
      ("Nalu-Frames-Out", "Pictures in the answer, always as many."),
    ],
    parameters: EncodeParameters.all,
    problems: [
      .missingParameter, .conflictingParameters, .oddDimensions, .emptyBody, .unrecognisedInput,
      .partialFrame, .unsupportedFeature, .dimensionsTooLarge, .tooManyFrames,
    ],
    makeOperation: { (values, context) throws(Problem) in
      try EncodeOperation(
        EncodeSettings(values), limits: context.limits, spoolDirectory: context.spoolDirectory,
        contentLength: context.contentLength)
    })
}
