internal import Codec
internal import H264

extension MediaWriter {
  /// A writer of what an encoder makes, whose first access unit has all parameter sets.
  init(
    _ format: OutputFormat, firstAccessUnit bytes: [UInt8], _ layout: AccessUnitLayout,
    frameRate: Rational, _ presentation: EncodeSession.Presentation, repeatsParameterSets: Bool,
    spoolDirectory: SpoolDirectory
  ) throws(Problem) {
    var store = ParameterSetStore()
    for range in layout.units
    where ParameterSetStore.holds(NALUnitType(header: bytes[range.lowerBound])) {
      store.add(Array(bytes[range]))
    }
    guard let sps = store.sequence() else {
      throw Problem(.internal, "The encoder gave no sequence parameter set.")
    }
    var video =
      presentation.timeBase.map { MuxerTrack.Video(sps, timeBase: $0) }
      ?? MuxerTrack.Video(sps, frameRate: frameRate)
    video.displayMatrix = presentation.displayMatrix
    try self.init(
      format, video: video, parameterSets: store, repeatsParameterSets: repeatsParameterSets,
      audio: presentation.audio, spoolDirectory: spoolDirectory)
  }
}

extension VideoEncoder.Framing {
  /// Where the NAL units of an access unit in this form are; nil when it is none.
  func layout(of bytes: Span<UInt8>) -> AccessUnitLayout? {
    switch self {
    case .annexB: AccessUnitLayout.annexB(bytes)
    case .lengthPrefixed: AccessUnitLayout.lengthPrefixed(bytes, lengthSize: 4)
    }
  }
}

extension MuxerTrack.Video {
  /// What the sequence parameter set says of the pictures, one tick being a frame.
  init(_ sps: SequenceParameterSet, frameRate: Rational) {
    self.init(sps, timeBase: Rational(frameRate.denominator, frameRate.numerator))
    self.frameRate = frameRate
  }

  /// What the sequence parameter set says of the pictures.
  init(_ sps: SequenceParameterSet, timeBase: Rational) {
    let size = sps.displaySize ?? sps.codedSize
    self.init(width: size.width, height: size.height, timeBase: timeBase)
    sampleAspectRatio = sps.sampleAspectRatio.map { Rational($0.numerator, $0.denominator) }
    colour.isFullRange = sps.vui?.videoFullRange
    if let given = sps.vui?.colour {
      colour.primaries = given.primaries
      colour.transfer = given.transferCharacteristics
      colour.matrix = given.matrixCoefficients
    }
  }
}
