package import H264

/// Reads bare length-prefixed NAL units.
package struct AVCCReader: Sendable {
  private var units: LengthPrefixedUnits
  private var position = 0

  /// A stream whose length fields have `lengthSize` bytes.
  package init(
    lengthSize: Int, search: StartCodeScanner.Search? = StartCodeScanner.plainSearch
  ) {
    units = LengthPrefixedUnits(lengthSize: lengthSize, search: search)
    units.begin(size: .max)
  }

  /// Goes on with the next bytes of the stream.
  package mutating func read<Sink: ContainerSink>(
    _ chunk: Span<UInt8>, into sink: inout Sink
  ) throws(Sink.Failure) {
    try units.read(chunk, at: position, into: &sink)
    position += chunk.count
  }

  /// The stream is over.
  package mutating func finish<Sink: ContainerSink>(into sink: inout Sink) throws(Sink.Failure) {
    try units.end(at: position, into: &sink)
  }
}
