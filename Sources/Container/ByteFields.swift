/// Big-endian numbers out of a structure that was read whole. Reading past the end gives zeros, and
/// ``isShort`` says so.
struct ByteFields: Sendable {
  let bytes: [UInt8]
  private(set) var position: Int
  let end: Int
  private(set) var isShort = false

  init(_ bytes: [UInt8], in range: Range<Int>? = nil) {
    self.bytes = bytes
    position = min(range?.lowerBound ?? 0, bytes.count)
    end = min(range?.upperBound ?? bytes.count, bytes.count)
  }

  var left: Int { max(0, end - position) }

  /// Up to 8 bytes; what does not fit becomes the largest Int.
  mutating func number(_ count: Int) -> Int {
    guard count <= left else {
      isShort = true
      position = end
      return 0
    }
    var value: UInt64 = 0
    for index in position..<position + count { value = value << 8 | UInt64(bytes[index]) }
    position += count
    return Int(clamping: value)
  }

  mutating func signed16() -> Int { Int(Int16(truncatingIfNeeded: number(2))) }

  mutating func signed32() -> Int { Int(Int32(truncatingIfNeeded: number(4))) }

  mutating func signed64() -> Int {
    let high = signed32()
    return high << 32 | number(4)
  }

  mutating func skip(_ count: Int) {
    guard count <= left else {
      isShort = true
      position = end
      return
    }
    position += count
  }

  mutating func take(_ count: Int) -> [UInt8] {
    guard count <= left else {
      isShort = true
      position = end
      return []
    }
    defer { position += count }
    return Array(bytes[position..<position + count])
  }

  /// The range of the next `count` bytes, which are passed over.
  mutating func range(_ count: Int) -> Range<Int> {
    let first = position
    skip(count)
    return first..<position
  }
}

extension [UInt8] {
  /// Appends a copy of `bytes`.
  mutating func append(copying bytes: Span<UInt8>) {
    append(addingCapacity: bytes.count) { copy in
      for index in bytes.indices { copy.append(bytes[index]) }
    }
  }

  /// The big-endian number in 4 bytes, which must be there.
  func number32(at index: Int) -> Int {
    Int(self[index]) << 24 | Int(self[index + 1]) << 16 | Int(self[index + 2]) << 8
      | Int(self[index + 3])
  }

  /// The big-endian number in 8 bytes, which must be there; what does not fit is the largest Int.
  func number64(at index: Int) -> Int {
    let high = number32(at: index)
    return high > 0x7FFF_FFFF ? .max : high << 32 | number32(at: index + 4)
  }
}

/// Text that containers have: UTF-8, up to a zero byte, damaged characters replaced.
func containerText(_ bytes: some Collection<UInt8>) -> String {
  String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
}

/// Such text, cut behind its last whole character that ends within so many bytes.
func containerText(_ bytes: ArraySlice<UInt8>, atMost limit: Int) -> String {
  guard bytes.count > limit else { return containerText(bytes) }
  var end = bytes.startIndex + limit
  while end > bytes.startIndex, bytes[end] & 0xC0 == 0x80 { end -= 1 }
  return containerText(bytes[..<end])
}

extension Int {
  /// The sum, or the largest or smallest number when it does not fit.
  func addingClamped(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  /// The difference, or the largest or smallest number when it does not fit.
  func subtractingClamped(_ other: Int) -> Int {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }

  /// The product, or the largest number when it does not fit; both must not be negative.
  func multipliedClamped(_ other: Int) -> Int {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? .max : product
  }

  /// This times `factor` by `divisor`, rounded down; nil when that does not fit.
  func scaled(_ factor: Int, by divisor: Int) -> Int? {
    guard divisor > 0 else { return nil }
    let (quotient, rest) = (Int128(self) * Int128(factor)).quotientAndRemainder(
      dividingBy: Int128(divisor))
    return Int(exactly: rest < 0 ? quotient - 1 : quotient)
  }
}
