internal import CFFmpeg

/// A fraction: frames per second, or the shape of a sample.
package struct Rational: Equatable, Hashable, Sendable {
  package var numerator: Int
  package var denominator: Int

  /// The denominator must not be 0.
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

  /// Terms that do not fit into 31 bits lose their last ones.
  var libav: AVRational {
    var (num, den) = (numerator, denominator)
    while Int32(exactly: num) == nil || Int32(exactly: den) == nil {
      (num, den) = (num / 2, den / 2)
    }
    return AVRational(num: Int32(num), den: Int32(den))
  }
}
