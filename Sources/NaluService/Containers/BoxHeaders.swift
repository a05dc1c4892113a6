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

/// Boxes next to each other at the top of an MP4 file that mean nothing, made one where there are many
/// of them: what reads them one by one would take a long time for a few bytes.
struct IdleBoxes: Sendable {
  /// Changes of headers, so that a box takes in those that follow it.
  private(set) var patches: [SpooledUpload.Patch] = []

  /// Fewer are left as they are.
  private static let least = 16
  private static let maxPatches = 4096
  private static let maxBoxes = 1 << 16
  private static let maxBytes = 1 << 31
  /// free, skip.
  private static let free = 0x6672_6565
  private static let types: Set<Int> = [free, 0x736B_6970]
  private static let movie = 0x6D6F_6F76

  static func contains(_ box: BoxHeaders.Header) -> Bool {
    // A box of no content says nothing, but that there is a movie.
    box.size == 8 ? box.type != movie : types.contains(box.type)
  }

  /// Takes those from `start` on, of which `first` is one.
  ///
  /// - Returns: Where they end, and as how many they count.
  mutating func take(
    _ first: BoxHeaders.Header, at start: Int, _ headers: inout BoxHeaders, of upload: SpooledUpload
  ) -> (end: Int, count: Int) {
    var end = start + first.size
    var count = 1
    while count < Self.maxBoxes, end - start < Self.maxBytes,
      let next = headers.header(at: end, before: upload.count, of: upload), Self.contains(next),
      next.size < Self.maxBytes
    {
      end += next.size
      count += 1
    }
    let size = end - start
    guard count >= Self.least, patches.count < Self.maxPatches, size <= 2 * Self.maxBytes - 1 else {
      return (end, count)
    }
    let bytes = [size, Self.free].flatMap { number in
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
    patches.append(SpooledUpload.Patch(offset: start, bytes: bytes))
    return (end, 1)
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
