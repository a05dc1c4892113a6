internal import H264

/// Takes the NAL units of a byte stream (H.264 Annex B) out of pieces that lie apart in the upload.
struct ByteStreamUnits: Sendable {
  /// Nil when units are not to be found.
  private var scanner: StartCodeScanner?
  private var bytes: [UInt8] = []
  private var map = StreamMap()
  /// Bytes of the stream so far.
  private(set) var streamOffset = 0

  /// Bytes that were not looked through.
  var waitingBytes: Int { bytes.count }

  init(search: StartCodeScanner.Search?) {
    scanner = search.map { StartCodeScanner(search: $0) }
  }

  /// The next bytes of the stream are `piece`, which is at `offset` in the upload.
  mutating func append(_ piece: Span<UInt8>, at offset: Int) {
    guard piece.count > 0 else { return }
    defer { streamOffset += piece.count }
    guard scanner != nil else { return }
    map.append(stream: streamOffset, upload: offset)
    bytes.append(copying: piece)
  }

  /// Hands on the units that are complete.
  mutating func scan<Sink: ContainerSink>(into sink: inout Sink) throws(Sink.Failure) {
    guard !bytes.isEmpty else { return }
    var chunk: [UInt8] = []
    swap(&chunk, &bytes)
    var place = 0
    while let unit = scanner?.next(in: chunk.span, from: &place) {
      try deliver(unit, in: chunk.span, &sink)
    }
    if let scanner { map.forget(keeping: scanner.openUnitOffset, from: scanner.offset) }
    chunk.removeAll(keepingCapacity: true)
    swap(&chunk, &bytes)
  }

  /// The stream is over.
  mutating func finish<Sink: ContainerSink>(into sink: inout Sink) throws(Sink.Failure) {
    try scan(into: &sink)
    if let last = scanner?.finish() { try deliver(last, in: Span(), &sink) }
  }

  private mutating func deliver<Sink: ContainerSink>(
    _ unit: NALUnitExtent, in chunk: Span<UInt8>, _ sink: inout Sink
  ) throws(Sink.Failure) {
    let found = ContainedUnit(
      unit, offset: map.place(of: unit.offset), start: map.place(of: unit.start), lengthSize: 0)
    switch unit.place {
    case .chunk(let range):
      try sink.take(found, chunk.extracting(range))
    case .carried:
      let carried = scanner?.carried ?? []
      try sink.take(found, carried.span)
    }
  }
}
