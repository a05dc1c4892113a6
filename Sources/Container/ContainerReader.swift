package import H264

/// Reads any container that ``MediaFormat`` knows.
package struct ContainerReader: Sendable {
  package let format: MediaFormat
  package private(set) var mp4: MP4Reader?
  package private(set) var flv: FLVReader?
  package private(set) var transport: TransportReader?
  package private(set) var matroska: MatroskaReader?
  private var avcc: AVCCReader?
  /// Bytes of the length fields of a bare length-prefixed stream.
  package let lengthSize: Int

  /// - Parameters:
  ///   - format: What the upload is.
  ///   - lengthSize: Of the NAL units of a bare length-prefixed stream.
  ///   - limits: What is kept in memory.
  ///   - search: Finds start codes; nil when NAL units are not to be looked into: then those of byte
  ///     streams are not found either.
  package init(
    _ format: MediaFormat, lengthSize: Int = 4, _ limits: ContainerLimits,
    search: StartCodeScanner.Search? = StartCodeScanner.plainSearch
  ) {
    self.format = format
    self.lengthSize = lengthSize
    switch format {
    case .mp4: mp4 = MP4Reader(limits, search: search)
    case .flv: flv = FLVReader(limits, search: search)
    case .mpegTS: transport = TransportReader(limits, search: search)
    case .matroska: matroska = MatroskaReader(limits, search: search)
    case .annexB, .avcc: avcc = AVCCReader(lengthSize: lengthSize, search: search)
    }
  }

  /// Goes on with the next bytes of the upload.
  package mutating func read<Sink: ContainerSink>(
    _ chunk: Span<UInt8>, into sink: inout Sink
  ) throws(Sink.Failure) {
    try avcc?.read(chunk, into: &sink)
    try mp4?.read(chunk, into: &sink)
    try flv?.read(chunk, into: &sink)
    try transport?.read(chunk, into: &sink)
    try matroska?.read(chunk, into: &sink)
  }

  /// The bytes from the last chunk on must be kept.
  package var needsWholeUpload: Bool { mp4?.needsWholeUpload ?? false }

  /// Bytes that are needed once more, when the upload of `size` bytes is complete.
  package mutating func wanted(of size: Int) -> Range<Int>? { mp4?.wanted(of: size) }

  /// Takes bytes that ``wanted`` asked for.
  package mutating func reread<Sink: ContainerSink>(
    _ bytes: Span<UInt8>, at offset: Int, into sink: inout Sink
  ) throws(Sink.Failure) {
    try mp4?.reread(bytes, at: offset, into: &sink)
  }

  /// The upload is over.
  package mutating func finish<Sink: ContainerSink>(into sink: inout Sink) throws(Sink.Failure) {
    try avcc?.finish(into: &sink)
    try mp4?.finish(into: &sink)
    try flv?.finish(into: &sink)
    try transport?.finish(into: &sink)
    try matroska?.finish(into: &sink)
  }

  /// Bytes of memory that sample tables, and metadata that is kept, take.
  package var heldBytes: Int { (mp4?.heldBytes ?? 0) + (flv?.heldBytes ?? 0) }

  /// The most bytes of one sample that were there, where a format lets samples be large.
  package var largestSample: Int { mp4?.largestSample ?? matroska?.largestBlock ?? 0 }

  /// There is a track to report.
  package var hasH264: Bool { tracks.contains(where: \.isReported) }

  package var tracks: [ContainerTrack] {
    mp4?.file.tracks ?? flv?.file.tracks ?? transport?.tracks ?? matroska?.file.tracks ?? []
  }
}
