internal import H264

/// Takes samples of length-prefixed NAL units apart (ISO/IEC 14496-15 §5.3.2), however their bytes
/// are cut into pieces.
///
/// It keeps no more than `NALUnitType.keptBytes` of a unit that crosses a border.
struct LengthPrefixedUnits: Sendable {
  /// Bytes of a length field.
  var lengthSize: Int
  /// Bytes of all samples so far.
  private(set) var streamOffset = 0

  /// Bytes of the sample that have not come.
  private var sampleLeft = 0
  /// The length field so far, and how many of its bytes came.
  private var length = 0
  private var lengthBytes = 0
  private var unit: ContainedUnit?
  /// Bytes of the unit that have not come.
  private var unitLeft = 0
  private var kept: [UInt8] = []
  private var emulation: EmulationCheck

  init(lengthSize: Int, search: StartCodeScanner.Search?) {
    self.lengthSize = lengthSize
    emulation = EmulationCheck(search: search)
  }

  /// A sample of that many bytes begins.
  mutating func begin(size: Int) {
    sampleLeft = size
    lengthBytes = 0
    length = 0
    unit = nil
  }

  /// Goes on with the sample: `piece` is at `offset` in the upload.
  mutating func read<Sink: ContainerSink>(
    _ piece: Span<UInt8>, at offset: Int, into sink: inout Sink
  ) throws(Sink.Failure) {
    var index = 0
    while index < piece.count {
      if unit != nil {
        let taken = min(unitLeft, piece.count - index)
        keep(piece.extracting(index..<index + taken))
        emulation.add(piece.extracting(index..<index + taken))
        index += taken
        advance(taken)
        unitLeft -= taken
        if unitLeft == 0 { try deliverKept(&sink) }
      } else {
        length = length << 8 | Int(piece[index])
        lengthBytes += 1
        index += 1
        advance(1)
        if lengthBytes == lengthSize {
          index += try beginUnit(piece, index, offset + index, &sink)
        }
      }
    }
  }

  /// The sample is over, or the upload is.
  mutating func end<Sink: ContainerSink>(at offset: Int, into sink: inout Sink)
    throws(Sink.Failure)
  {
    if var cut = unit {
      cut.extent.size -= unitLeft
      cut.isCut = true
      unit = cut
      noteOverrun(cut.start, &sink)
      try deliverKept(&sink)
    } else if lengthBytes > 0 {
      sink.note(
        ContainerFinding(
          .error, .lengthExceedsSample,
          "The sample ends inside the length of a NAL unit.", at: offset))
    }
    lengthBytes = 0
    length = 0
  }

  private mutating func advance(_ count: Int) {
    streamOffset += count
    sampleLeft -= count
  }

  /// A length is complete, and `piece[index]`, at `offset`, follows. Gives the bytes that it took.
  private mutating func beginUnit<Sink: ContainerSink>(
    _ piece: Span<UInt8>, _ index: Int, _ offset: Int, _ sink: inout Sink
  ) throws(Sink.Failure) -> Int {
    let size = min(length, sampleLeft)
    let isCut = length > sampleLeft
    lengthBytes = 0
    length = 0
    var found = ContainedUnit(
      NALUnitExtent(offset: streamOffset, size: size, startCodeSize: lengthSize),
      offset: offset, start: offset - lengthSize, lengthSize: lengthSize)
    found.isCut = isCut
    if isCut { noteOverrun(found.start, &sink) }
    emulation.begin()
    guard size <= piece.count - index else {
      unit = found
      unitLeft = size
      kept.removeAll(keepingCapacity: true)
      return 0
    }
    let limit = size > 0 ? min(size, NALUnitType(header: piece[index]).keptBytes) : 0
    emulation.add(piece.extracting(index..<index + size))
    found.extent.violation = emulation.violation.map { streamOffset + $0 }
    found.trailingZeros = emulation.trailingZeros
    advance(size)
    try sink.take(found, piece.extracting(index..<index + limit))
    return size
  }

  private mutating func keep(_ bytes: Span<UInt8>) {
    guard let header = kept.first ?? (bytes.isEmpty ? nil : bytes[0]) else { return }
    let room = NALUnitType(header: header).keptBytes - kept.count
    guard room > 0 else { return }
    let count = min(room, bytes.count)
    kept.append(copying: bytes.extracting(0..<count))
  }

  private mutating func deliverKept<Sink: ContainerSink>(_ sink: inout Sink) throws(Sink.Failure) {
    guard var found = unit else { return }
    unit = nil
    found.extent.violation = emulation.violation.map { found.extent.offset + $0 }
    found.trailingZeros = emulation.trailingZeros
    // What the sink does with a unit must not keep its bytes from being reused.
    var bytes: [UInt8] = []
    swap(&bytes, &kept)
    defer { swap(&bytes, &kept) }
    try sink.take(found, bytes.span)
  }

  private func noteOverrun<Sink: ContainerSink>(_ offset: Int, _ sink: inout Sink) {
    sink.note(
      ContainerFinding(
        .error, .lengthExceedsSample,
        "The length of a NAL unit goes past the end of its sample or of the upload.", at: offset))
  }
}
