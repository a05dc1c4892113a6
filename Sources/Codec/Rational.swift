internal import CFFmpeg

/// A fraction: frames per second, or the shape of a sample.
package struct Rational: Equatable, Hashable, Sendable {
  package var numerator: Int
  package var denominator: Int

  /// Both terms must fit into 31 bits and the denominator must not be 0.
  package init(_ numerator: Int, _ denominator: Int = 1) {
    self.numerator = numerator
    self.denominator = denominator
  }

  /// The same value in lowest terms.
  package var reduced: Rational {
    var (divisor, rest) = (numerator, denominator)
    while rest != 0 { (divisor, rest) = (rest, divisor % rest) }
    guard divisor != 0 else { return self }
    return Rational(numerator / divisor, denominator / divisor)
  }

  package var doubleValue: Double { Double(numerator) / Double(denominator) }

  var libav: AVRational { AVRational(num: Int32(numerator), den: Int32(denominator)) }
}
