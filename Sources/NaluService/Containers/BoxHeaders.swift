internal import Platform

/// Reads the headers of boxes (ISO/IEC 14496-12 §4.2) here and there in an upload, those next to
/// each other at once.
struct BoxHeaders: Sendable {
  struct Header: Equatable, Sendable {
    /// Four characters.
    var type: Int
    /// Of all of the box: what it says, or what is left where that is less or no size at all.
    var size: Int
    var headerSize: Int
    /// The size that it says is that of a header at least, or none.
    var isPossible = true
  }

  private var window: [UInt8] = []
  private var windowStart = 0

  private static let windowSize = 4 << 10
  private static let longestHeader = 16

  /// The header at `position` of what ends at `end`; nil when there is no room for one.
  mutating func header(at position: Int, before end: Int, of upload: SpooledUpload) -> Header? {
    guard position + 8 <= end else { return nil }
    let windowEnd = windowStart + window.count
    if position < windowStart || min(position + Self.longestHeader, end) > windowEnd {
      window = upload.bytes(at: position, count: Self.windowSize)
      windowStart = position
    }
    let place = position - windowStart
    guard place + 8 <= window.count else { return nil }
    var size = window.number(place)
    var headerSize = 8
    if size == 1 {
      size = window.number(place + 8) << 32 | window.number(place + 12)
      headerSize = Self.longestHeader
    }
    let left = end - position
    let isPossible = size == 0 || size >= headerSize
    if size < headerSize || size > left { size = left }
    return Header(
      type: window.number(place + 4), size: size, headerSize: min(headerSize, left),
      isPossible: isPossible)
  }

  /// The content of the first box of that type in `range`, of the first `most` boxes.
  mutating func content(
    of type: Int, in range: Range<Int>, atMost most: Int, of upload: SpooledUpload
  ) -> Range<Int>? {
    var position = range.lowerBound
    for _ in 0..<most {
      guard let box = header(at: position, before: range.upperBound, of: upload) else { break }
      if box.type == type { return position + box.headerSize..<position + box.size }
      position += box.size
    }
    return nil
  }
}

extension [UInt8] {
  /// Four bytes, big-endian; what is missing counts as 0.
  func number(_ start: Int) -> Int {
    var value = 0
    for index in start..<start + 4 { value = value << 8 | (index < count ? Int(self[index]) : 0) }
    return value
  }
}
