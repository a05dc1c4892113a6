/// A NAL unit as libx264 wrote it.
struct EncodedUnit {
  /// With the start code or length in front.
  var framed: Slice<UnsafeBufferPointer<UInt8>>
  /// Without.
  var payload: Slice<UnsafeBufferPointer<UInt8>>

  /// nal_unit_type (H.264 table 7-1).
  var type: UInt8 { payload.first.map { $0 & 0x1F } ?? 0 }
  /// A sequence or picture parameter set.
  var isParameterSet: Bool { type == 7 || type == 8 }
}

extension VideoEncoder.Framing {
  /// What stands before a NAL unit of `size` bytes.
  func prefix(ofUnitOf size: Int) -> [UInt8] {
    switch self {
    case .annexB: [0, 0, 0, 1]
    case .lengthPrefixed: (0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - 8 * $0)) }
    }
  }
}

extension UnsafeBufferPointer where Element == UInt8 {
  /// Visits the NAL units up to and including the first slice; the rest of the access unit counts
  /// as part of that slice, so that little is searched.
  func forEachNALUnit<Failure: Error>(
    _ framing: VideoEncoder.Framing, _ visit: (EncodedUnit) throws(Failure) -> Void
  ) throws(Failure) {
    var start = 0
    while let first = firstByte(ofUnitAt: start, framing) {
      let isSlice = (1...5).contains(self[first] & 0x1F)
      let end = isSlice ? count : endOfUnit(at: start, first, framing)
      try visit(EncodedUnit(framed: self[start..<end], payload: self[first..<end]))
      start = end
    }
  }

  /// Where the NAL header behind the start code or length at `start` is.
  private func firstByte(ofUnitAt start: Int, _ framing: VideoEncoder.Framing) -> Int? {
    switch framing {
    case .lengthPrefixed:
      return start + 4 < count ? start + 4 : nil
    case .annexB:
      var index = start
      while index < count, self[index] == 0 { index += 1 }
      return index + 1 < count && self[index] == 1 ? index + 1 : nil
    }
  }

  private func endOfUnit(at start: Int, _ first: Int, _ framing: VideoEncoder.Framing) -> Int {
    switch framing {
    case .lengthPrefixed:
      let length = self[start..<first].reduce(0) { $0 << 8 | Int($1) }
      return Swift.min(first + length, count)
    case .annexB:
      return startCode(from: first) ?? count
    }
  }

  /// Where the next start code begins, its zero byte included.
  private func startCode(from position: Int) -> Int? {
    var index = position
    while index + 2 < count {
      if self[index] == 0, self[index + 1] == 0, self[index + 2] == 1 {
        return index > position && self[index - 1] == 0 ? index - 1 : index
      }
      index += 1
    }
    return nil
  }
}
