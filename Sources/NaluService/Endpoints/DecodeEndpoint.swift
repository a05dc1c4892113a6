extension MediaEndpoint {
  /// `POST /decode`: H.264 in; images, raw frames or digests out.
  package static let decode = MediaEndpoint(
    name: "decode",
    summary: "Decodes H.264 to images, raw frames or their digests.",
    input:
      "H.264 as a byte stream (Annex B), behind lengths (AVCC), or in MP4, MOV, FLV, MPEG-TS or "
      + "Matroska; told by its content.",
    outputTypes: [
      "image/png", "image/jpeg", "application/zip", "application/x-tar",
      "application/octet-stream", "video/x-yuv4mpeg", "text/plain",
    ],
    outputHeaders: [
      ("Nalu-Width", "Columns of the first frame of yuv, y4m or framemd5."),
      ("Nalu-Height", "Rows of the first frame of yuv, y4m or framemd5."),
      ("Nalu-Pix-Fmt", "Layout of the samples of yuv, y4m or framemd5."),
      ("Nalu-Note", "What was left out, such as the second view of MVC."),
      ("Nalu-Frames-Out", "Frames in the answer; a trailer when it is streamed."),
      (
        "Nalu-Frames-Skipped",
        "Pictures before the first IDR picture or recovery point; a trailer when streamed."
      ),
      ("Nalu-Decode-Errors", "Damaged or missing pictures; a trailer when streamed."),
    ],
    parameters: DecodeParameters.all,
    problems: [
      .conflictingParameters, .emptyBody, .unrecognisedInput, .noParameterSets, .undecodable,
      .frameNotFound, .unsupportedFeature, .dimensionsTooLarge, .tooManyFrames, .tooManyNALUnits,
    ],
    makeOperation: { (values, context) throws(Problem) in
      try DecodeOperation(
        DecodeSettings(values), limits: context.limits, spoolDirectory: context.spoolDirectory)
    })
}
