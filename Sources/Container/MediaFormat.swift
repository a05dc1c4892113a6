/// What an upload is, told by its content.
package enum MediaFormat: String, CaseIterable, Sendable {
  /// So many bytes of an upload decide what it is, however it is cut into blocks.
  package static let headBytes = 64 << 10

  /// NAL units with start codes in front (H.264 Annex B).
  case annexB = "annexb"
  /// NAL units with their length in front, and nothing else (ISO/IEC 14496-15 §5.3.2).
  case avcc
  /// ISO/IEC 14496-12 boxes: MP4, fragmented MP4, QuickTime.
  case mp4
  case flv
  /// ISO/IEC 13818-1 transport stream, in packets of 188, 192 or 204 bytes.
  case mpegTS = "mpegts"
  case matroska

  /// What begins with `head`: the more of it the better, a few KiB at least where there are so many.
  ///
  /// Nil when it is none of these, or when only what follows can tell. A length-prefixed stream is
  /// found only by its parameter sets: without them somebody must say what it is.
  package init?(head: Span<UInt8>) {
    if Self.begins(head, [0x46, 0x4C, 0x56]) {
      self = .flv
    } else if Self.begins(head, [0x1A, 0x45, 0xDF, 0xA3]) {
      self = .matroska
    } else if Self.beginsWithBox(head) {
      self = .mp4
    } else if LengthPrefix.size(in: head) != nil {
      self = .avcc
    } else if Self.isByteStream(head) {
      self = .annexB
    } else if TransportPacketing(head: head) != nil {
      self = .mpegTS
    } else if Self.hasStartCode(head) {
      self = .annexB
    } else {
      return nil
    }
  }

  /// For messages: "an MP4 file".
  package var title: String {
    switch self {
    case .annexB: "an H.264 byte stream"
    case .avcc: "a stream of length-prefixed NAL units"
    case .mp4: "an MP4 file"
    case .flv: "an FLV file"
    case .mpegTS: "an MPEG transport stream"
    case .matroska: "a Matroska file"
    }
  }
}

extension MediaFormat {
  private static func begins(_ head: Span<UInt8>, _ signature: [UInt8], at first: Int = 0) -> Bool {
    head.count >= first + signature.count
      && signature.indices.allSatisfy { head[first + $0] == signature[$0] }
  }

  /// Types of boxes that files and media segments begin with.
  private static let firstBoxes: [[UInt8]] = [
    "ftyp", "styp", "moov", "moof", "mdat", "free", "skip", "wide", "pnot", "sidx", "emsg", "prft",
  ].map { Array($0.utf8) }

  private static func beginsWithBox(_ head: Span<UInt8>) -> Bool {
    guard head.count >= 8, firstBoxes.contains(where: { begins(head, $0, at: 4) }) else {
      return false
    }
    let size = (0..<4).reduce(0) { $0 << 8 | Int(head[$1]) }
    // 0: to the end of the file. 1: the size follows in 64 bits.
    return size <= 1 || size >= 8
  }

  /// The first byte that is not zero ends a start code.
  package static func isByteStream(_ head: Span<UInt8>) -> Bool {
    var zeros = 0
    while zeros < head.count, head[zeros] == 0 { zeros += 1 }
    return zeros >= 2 && zeros < head.count && head[zeros] == 1
  }

  private static func hasStartCode(_ head: Span<UInt8>) -> Bool {
    var zeros = 0
    for index in head.indices {
      let byte = head[index]
      if byte == 1, zeros >= 2 { return true }
      zeros = byte == 0 ? zeros + 1 : 0
    }
    return false
  }
}
