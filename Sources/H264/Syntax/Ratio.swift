/// A fraction of two numbers that are not negative.
package struct Ratio: Equatable, Sendable {
  package var numerator: Int
  package var denominator: Int

  package init(_ numerator: Int, _ denominator: Int) {
    self.numerator = numerator
    self.denominator = denominator
  }

  /// The same fraction in lowest terms.
  package var reduced: Ratio {
    var (divisor, rest) = (numerator, denominator)
    while rest != 0 { (divisor, rest) = (rest, divisor % rest) }
    return divisor == 0 ? self : Ratio(numerator / divisor, denominator / divisor)
  }
}
