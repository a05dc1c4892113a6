/// Reads the syntax elements of an RBSP, most significant bit first.
///
/// Methods are named after the descriptors of H.264 §7.2, so a parser reads like the standard's
/// syntax table. The reader borrows its bytes: it never copies them, and allocates only for a
/// record or an issue.
///
/// A value outside the range given as `in` is noted in ``issues`` and parsing goes on; one outside
/// the range given as `within` is thrown, because nothing after it could be understood.
package struct BitReader: ~Escapable {
  private let rbsp: Span<UInt8>
  /// The byte that reading stops before.
  private var end: Int
  private var nextByte = 0
  /// The next bits, left-aligned and followed by zeros.
  private var window: UInt64 = 0
  /// How many bits of `window` are data.
  private var available = 0

  /// What was read, when somebody wants to print it.
  package var record: SyntaxRecord?
  /// Defects that did not stop the parse, at most `issueLimit` of them.
  package private(set) var issues: [SyntaxError] = []
  package static let issueLimit = 32

  @_lifetime(copy rbsp)
  package init(_ rbsp: Span<UInt8>, record: consuming SyntaxRecord? = nil) {
    self.rbsp = rbsp
    end = rbsp.count
    self.record = record
  }

  /// Bits consumed so far.
  package var position: Int { nextByte * 8 - available }

  package var bitsLeft: Int { end * 8 - position }

  package var isByteAligned: Bool { available % 8 == 0 }

  package mutating func note(_ issue: SyntaxError) {
    if issues.count < Self.issueLimit { issues.append(issue) }
  }

  /// Gives up the record, with everything closed that a failed parse left open.
  package mutating func takeRecord() -> SyntaxRecord? {
    var taken = record
    record = nil
    taken?.end(to: 0)
    if taken?.isFull == true { note(SyntaxError("the payload", at: position, .tooMuch)) }
    return taken
  }

  private mutating func refill() {
    while available <= 56, nextByte < end {
      window |= UInt64(rbsp[nextByte]) &<< UInt64(56 - available)
      nextByte += 1
      available += 8
    }
  }

  /// The next `count` bits, 0 to 32 of them, unrecorded.
  @inline(always)
  private mutating func bits(_ count: Int, _ element: String) throws(SyntaxError) -> Int {
    if available < count || count > 32 {
      guard count <= 32 else { throw SyntaxError(element, at: position, .codeTooLong) }
      refill()
      guard available >= count else { throw SyntaxError(element, at: position, .truncated) }
    }
    guard count > 0 else { return 0 }
    let value = window &>> UInt64(64 - count)
    window &<<= UInt64(count)
    available -= count
    return Int(value)
  }

  /// The next Exp-Golomb code number (H.264 §9.1), unrecorded.
  @inline(always)
  private mutating func codeNumber(_ element: String) throws(SyntaxError) -> Int {
    if available < 32 { refill() }
    let zeros = window.leadingZeroBitCount
    let length = 2 * zeros + 1
    if length <= available {
      let value = window &>> UInt64(64 - length)
      window &<<= UInt64(length)
      available -= length
      return Int(value) - 1
    }
    return try longCodeNumber(element, leadingZeros: zeros)
  }

  /// A code that the window does not hold whole.
  private mutating func longCodeNumber(
    _ element: String, leadingZeros: Int
  ) throws(SyntaxError) -> Int {
    let start = position
    guard leadingZeros < 32 else {
      throw SyntaxError(element, at: start, bitsLeft < 32 ? .truncated : .codeTooLong)
    }
    guard 2 * leadingZeros < bitsLeft else { throw SyntaxError(element, at: start, .truncated) }
    _ = try bits(leadingZeros, element)
    return try bits(leadingZeros + 1, element) - 1
  }

  @inline(never)
  private mutating func outside(
    _ value: Int, _ possible: ClosedRange<Int>, _ element: String, _ start: Int
  ) throws(SyntaxError) {
    let issue = SyntaxError(element, at: start, .outOfRange(value))
    guard possible.contains(value) else { throw issue }
    note(issue)
  }
}

// MARK: Descriptors

extension BitReader {
  package static let anyUnsigned = 0...0xFFFF_FFFF
  package static let anySigned = -0x8000_0000...0x7FFF_FFFF

  /// `u(n)`: the next `count` bits, 0 to 32 of them, as an unsigned number.
  package mutating func u(_ count: Int, _ element: String) throws(SyntaxError) -> Int {
    let value = try bits(count, element)
    record?.add(element, value)
    return value
  }

  /// `u(n)` of which not every value is legal.
  package mutating func u(
    _ count: Int, _ element: String, in legal: ClosedRange<Int>,
    within possible: ClosedRange<Int> = anyUnsigned
  ) throws(SyntaxError) -> Int {
    let start = position
    let value = try u(count, element)
    if !legal.contains(value) { try outside(value, possible, element, start) }
    return value
  }

  /// `u(n)` that is not to be recorded, because it is no element of its own.
  package mutating func unrecorded(_ count: Int, _ element: String) throws(SyntaxError) -> Int {
    try bits(count, element)
  }

  /// `u(1)` as a truth value.
  package mutating func flag(_ element: String) throws(SyntaxError) -> Bool {
    try u(1, element) != 0
  }

  /// `i(n)`: the next `count` bits as a two's complement number.
  package mutating func i(_ count: Int, _ element: String) throws(SyntaxError) -> Int {
    var value = try bits(count, element)
    if count > 0, value >> (count - 1) == 1 { value -= 1 << count }
    record?.add(element, value)
    return value
  }

  /// `ue(v)`: an unsigned Exp-Golomb code.
  package mutating func ue(
    _ element: String, in legal: ClosedRange<Int> = anyUnsigned,
    within possible: ClosedRange<Int> = anyUnsigned
  ) throws(SyntaxError) -> Int {
    let start = position
    let value = try codeNumber(element)
    record?.add(element, value)
    if !legal.contains(value) || !possible.contains(value) {
      try outside(value, possible, element, start)
    }
    return value
  }

  /// `se(v)`: a signed Exp-Golomb code (H.264 §9.1.1).
  package mutating func se(
    _ element: String, in legal: ClosedRange<Int> = anySigned,
    within possible: ClosedRange<Int> = anySigned
  ) throws(SyntaxError) -> Int {
    let start = position
    let code = try codeNumber(element)
    let value = code & 1 == 1 ? (code + 1) / 2 : -(code / 2)
    record?.add(element, value)
    if !legal.contains(value) || !possible.contains(value) {
      try outside(value, possible, element, start)
    }
    return value
  }
}

// MARK: The end of the payload

extension BitReader {
  /// `more_rbsp_data()` (H.264 §7.2): whether anything precedes the last one bit, which is the
  /// stop bit of rbsp_trailing_bits().
  package func moreRBSPData() -> Bool {
    position < lastOneBit
  }

  /// Position of the last one bit, or -1.
  private var lastOneBit: Int {
    var last = end - 1
    while last >= 0, rbsp[last] == 0 { last -= 1 }
    return last < 0 ? -1 : last * 8 + 7 - rbsp[last].trailingZeroBitCount
  }

  /// Checks `rbsp_trailing_bits()` (H.264 §7.3.2.11) and that nothing follows them; notes an issue
  /// where that does not hold.
  package mutating func rbspTrailingBits() {
    let start = position
    let count = 8 - start % 8
    guard bitsLeft == count, let value = try? bits(count, "rbsp_trailing_bits"),
      value == 1 << (count - 1)
    else {
      note(SyntaxError("rbsp_trailing_bits", at: start, .trailingData))
      return
    }
  }

  /// Skips what the standard reserves for later editions: all up to the trailing bits.
  package mutating func skipToTrailingBits() {
    let end = lastOneBit
    if end > position { seek(to: end) }
  }

  /// Skips up to the next byte border.
  package mutating func alignToByte() {
    seek(to: (position + 7) / 8 * 8)
  }
}

// MARK: Payloads inside the payload

extension BitReader {
  /// The next bytes up to the end, at most `limit` of them, not consumed; for an aligned reader.
  package func bytesAhead(limit: Int) -> [UInt8] {
    let start = position / 8
    let count = min(limit, end - start)
    return [UInt8](capacity: count) { output in
      for index in start..<start + count { output.append(rbsp[index]) }
    }
  }

  /// Skips bytes that `bytesAhead` gave.
  mutating func skip(bytes count: Int) throws(SyntaxError) {
    guard count * 8 <= bitsLeft else { throw SyntaxError("bytes", at: position, .truncated) }
    seek(to: position + count * 8)
  }

  /// Makes the data end `count` bytes after the aligned position, or where it ended before if that
  /// is earlier; returns where it ended, for `endPart`.
  mutating func beginPart(bytes count: Int) -> Int {
    let whole = end
    end = position / 8 + min(count, bitsLeft / 8)
    seek(to: position)
    return whole
  }

  /// Moves to the end of the part and makes the data end at `whole` again.
  mutating func endPart(_ whole: Int) {
    let next = end
    end = whole
    seek(to: next * 8)
  }

  /// Moves to a bit position inside the payload.
  private mutating func seek(to bit: Int) {
    let target = min(bit, end * 8)
    nextByte = target / 8
    window = 0
    available = 0
    refill()
    window &<<= UInt64(target % 8)
    available -= target % 8
  }
}
