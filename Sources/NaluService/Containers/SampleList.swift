internal import Codec
internal import Container
internal import H264
internal import Platform

/// Samples of a track that can go into another container as they are: NAL units behind four-byte
/// lengths, but for parameter sets that the configuration record has too.
struct SampleList: Sendable {
  struct Sample: Sendable {
    fileprivate var pieces: Range<Int>
    /// Bytes of all pieces.
    fileprivate(set) var size: Int
  }

  /// Bytes next to each other in the upload.
  struct Piece: Sendable {
    var offset: Int
    var size: Int
  }

  private(set) var samples: [Sample] = []
  private var pieces: [Piece] = []
  /// NAL units of the configuration record.
  private(set) var parameterSets: [[UInt8]] = []
  /// Bytes from where a packet is said to be to its content.
  private let lead: Int
  private let upload: SpooledUpload
  /// Bytes that the samples would take as a byte stream.
  private(set) var streamSize = 0

  /// Why samples must be made anew instead.
  struct Unsuited: Error {}

  /// Bytes at the beginning of a sample that are looked up in the upload.
  private static let comparedBytes = 64

  /// - Parameters:
  ///   - upload: The container.
  ///   - format: What it is; nil is returned for what has no such samples.
  init?(_ upload: SpooledUpload, _ format: MediaFormat) {
    self.upload = upload
    switch format {
    case .mp4: lead = 0
    // Tag header, FrameType and CodecID, AVCPacketType, CompositionTime.
    case .flv: lead = 11 + 1 + 1 + 3
    // Track number, time, flags.
    case .matroska: lead = 1 + 2 + 1
    case .annexB, .avcc, .mpegTS: return nil
    }
  }

  /// Bytes of memory that the list takes.
  var heldBytes: Int {
    samples.count * MemoryLayout<Sample>.stride + pieces.count * MemoryLayout<Piece>.stride
  }

  func pieces(of sample: Sample) -> ArraySlice<Piece> { pieces[sample.pieces] }

  /// The bytes of a sample; nil when they cannot be read.
  func bytes(of sample: Sample) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(sample.size)
    for piece in pieces(of: sample) {
      bytes.append(addingCapacity: piece.size) { output in
        _ = upload.read(at: piece.offset, into: &output)
      }
    }
    return bytes.count == sample.size ? bytes : nil
  }

  /// Fills the free room of `output` from byte `offset` of the upload on; false: it cannot be read.
  func read(at offset: Int, into output: inout OutputSpan<UInt8>) -> Bool {
    upload.read(at: offset, into: &output)
  }

  /// Takes the configuration record, and has its parameter sets scanned.
  mutating func configure(
    _ extradata: [UInt8], _ scan: inout DecodeScan
  ) throws(Problem) -> Unsuited? {
    guard extradata.first == 1, let record = AVCConfigurationRecord(parsing: extradata),
      record.lengthSize == 4, record.defect == nil
    else { return Unsuited() }
    for unit in record.units {
      guard !unit.bytes.isEmpty else { return Unsuited() }
      parameterSets.append(unit.bytes)
      streamSize += 4
      try scan.take(
        NALUnitExtent(offset: streamSize, size: unit.bytes.count, startCodeSize: 4),
        unit.bytes.span)
      streamSize += unit.bytes.count
    }
    return nil
  }

  /// Takes the next sample, and has its NAL units scanned.
  mutating func add(
    _ packet: borrowing Packet, _ scan: inout DecodeScan
  ) throws(Problem) -> Unsuited? {
    let bytes = packet.bytes
    guard let start = packet.offset.map({ $0 + lead }), isStored(bytes, at: start) else {
      return Unsuited()
    }
    let first = pieces.count
    var pieceStart = 0
    var position = 0
    while position < bytes.count {
      guard position + 5 <= bytes.count else { return Unsuited() }
      var size = 0
      for index in position..<position + 4 { size = size << 8 | Int(bytes[index]) }
      position += 4
      guard size > 0, size <= bytes.count - position else { return Unsuited() }
      let type = NALUnitType(header: bytes[position])
      if ParameterSetStore.holds(type) {
        guard isKnown(bytes.extracting(position..<position + size)) else { return Unsuited() }
        append(pieceStart..<position - 4, of: start)
        pieceStart = position + size
      }
      let kept = position..<position + min(size, type.keptBytes)
      try scan.take(
        NALUnitExtent(offset: streamSize + position, size: size, startCodeSize: 4),
        bytes.extracting(kept))
      position += size
    }
    append(pieceStart..<bytes.count, of: start)
    let size = pieces[first...].reduce(0) { $0 + $1.size }
    guard size > 0 else { return Unsuited() }
    samples.append(Sample(pieces: first..<pieces.count, size: size))
    streamSize += bytes.count
    return nil
  }

  private mutating func append(_ range: Range<Int>, of start: Int) {
    guard !range.isEmpty else { return }
    pieces.append(Piece(offset: start + range.lowerBound, size: range.count))
  }

  /// The record has this parameter set.
  private func isKnown(_ unit: Span<UInt8>) -> Bool {
    parameterSets.contains { set in
      set.count == unit.count && set.indices.allSatisfy { set[$0] == unit[$0] }
    }
  }

  /// The upload has these bytes there, as far as it is worth looking.
  private func isStored(_ bytes: Span<UInt8>, at offset: Int) -> Bool {
    guard !bytes.isEmpty, offset + bytes.count <= upload.count else { return false }
    if lead == 0 { return true }
    let stored = upload.bytes(at: offset, count: min(bytes.count, Self.comparedBytes))
    return !stored.isEmpty && stored.indices.allSatisfy { stored[$0] == bytes[$0] }
  }

  /// Each frame is one sample.
  func suits(_ index: DecodeIndex, _ timeline: StreamTimeline) -> Bool {
    guard index.entries.count == samples.count, timeline.marks.count == samples.count else {
      return false
    }
    for (place, frame) in index.entries.enumerated() {
      let end = place + 1 < samples.count ? timeline.marks[place + 1].streamOffset : streamSize
      guard frame.offset >= timeline.marks[place].streamOffset, frame.offset < end,
        frame.offset + Int(frame.size) <= end
      else { return false }
    }
    return true
  }
}
