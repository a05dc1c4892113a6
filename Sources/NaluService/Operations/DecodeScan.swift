internal import H264
internal import Platform

/// Reads a stream before it is decoded, while it is uploaded: finds its frames, and refuses what is
/// too large or what libavcodec would decode wrongly.
struct DecodeScan: Sendable {
  private var scanner = StartCodeScanner(search: vectorSearch)
  private var reader: DecodeUnitReader
  private var hasBegun = false

  /// - Parameters:
  ///   - limits: Bounds sizes and counts.
  ///   - isForDecoder: What libavcodec would decode wrongly is refused.
  init(limits: Limits, isForDecoder: Bool = true) {
    reader = DecodeUnitReader(limits: limits, isForDecoder: isForDecoder)
  }

  /// The units have lengths in the place of start codes, in the upload.
  mutating func noteLengths() {
    reader.recognition.hasLengths = true
  }

  /// Bytes of memory that the list of frames takes.
  var heldBytes: Int {
    reader.index.entries.count * MemoryLayout<DecodeIndex.Entry>.stride
  }

  /// Goes on with the next bytes of the stream.
  mutating func scan(_ chunk: Span<UInt8>) throws(Problem) {
    var position = 0
    while let unit = scanner.next(in: chunk, from: &position) {
      begin()
      switch unit.place {
      case .chunk(let range): try reader.take(unit, chunk.extracting(range))
      case .carried: try takeCarried(unit)
      }
    }
  }

  /// Goes on with a NAL unit that was found otherwise, and the bytes of it that are worth reading.
  mutating func take(_ unit: NALUnitExtent, _ bytes: Span<UInt8>) throws(Problem) {
    hasBegun = true
    try reader.take(unit, bytes)
  }

  /// The first unit was found.
  private mutating func begin() {
    if hasBegun { return }
    hasBegun = true
    if scanner.bytesBeforeFirstUnit > 0 { reader.recognition.noteLeadingData() }
  }

  private mutating func takeCarried(_ unit: NALUnitExtent) throws(Problem) {
    let bytes = scanner.carried
    try reader.take(unit, bytes.span)
  }

  /// The stream is complete: the frames in it.
  mutating func finish() throws(Problem) -> DecodeIndex {
    if let unit = scanner.finish() {
      begin()
      try takeCarried(unit)
    }
    return try reader.finish()
  }
}
