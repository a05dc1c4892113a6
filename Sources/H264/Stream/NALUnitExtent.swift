/// Where a NAL unit lies in a byte stream.
package struct NALUnitExtent: Equatable, Sendable {
  /// The NAL unit header byte, counted from the start of the stream.
  package var offset: Int
  /// `NumBytesInNALunit` (H.264 B.1.2): 0 for a start code with nothing behind it.
  package var size: Int
  /// 3, or 4 with `zero_byte`.
  package var startCodeSize: Int
  /// `trailing_zero_8bits` behind the unit.
  package var trailingZeroBytes = 0
  /// Where bytes follow that belong to no unit: `00 00 00` ended this one, and no start code came.
  package var dataAfterEnd: Int?
  /// Where the unit first has `00 00 02`, or `00 00 03` and then a byte above 3 (§7.4.1).
  package var violation: Int?
  package var place = Place.carried

  package enum Place: Equatable, Sendable {
    /// The kept bytes, by their indices in the chunk.
    case chunk(Range<Int>)
    /// The unit began in an earlier chunk: the scanner has the kept bytes.
    case carried
  }

  package init(offset: Int, size: Int, startCodeSize: Int) {
    self.offset = offset
    self.size = size
    self.startCodeSize = startCodeSize
  }

  package var end: Int { offset + size }
  /// The first byte of the start code.
  package var start: Int { offset - startCodeSize }
}
