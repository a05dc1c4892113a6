internal import Platform

/// What lines are put together from. There must be room: what does not fit is cut off.
extension OutputSpan where Element == UInt8 {
  @_lifetime(self: copy self)
  mutating func put(_ piece: [UInt8]) {
    append(fitting: piece.span)
  }

  @_lifetime(self: copy self)
  mutating func put(_ piece: [UInt8], _ number: Int) {
    append(fitting: piece.span)
    append(decimal: number)
  }

  @_lifetime(self: copy self)
  mutating func put(_ piece: [UInt8], _ number: Int?) {
    append(fitting: piece.span)
    if let number {
      append(decimal: number)
    } else {
      append(fitting: "null".utf8.span)
    }
  }

  @_lifetime(self: copy self)
  mutating func put(_ text: String) {
    append(fitting: text.utf8.span)
  }

  /// Appends the digits of a number, for which there must be room.
  @_lifetime(self: copy self)
  mutating func append(decimal number: Int) {
    if number < 0 { append(UInt8(ascii: "-")) }
    var rest = number.magnitude
    guard rest > 9 else {
      append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest))
      return
    }
    var digits = InlineArray<20, UInt8>(repeating: 0)
    var first = 20
    while rest > 0 {
      first &-= 1
      let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
      digits[first] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit)
      rest = quotient
    }
    for index in first..<20 { append(digits[index]) }
  }
}
