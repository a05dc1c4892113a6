internal import H264

/// How the text of a parameter is read.
package struct ParameterKind<Value: Sendable>: Sendable {
  package let expectation: String
  package let schema: ParameterSchema
  package let parse: @Sendable (String) -> Value?

  package init(
    _ expectation: String, schema: ParameterSchema, parse: @escaping @Sendable (String) -> Value?
  ) {
    self.expectation = expectation
    self.schema = schema
    self.parse = parse
  }
}

extension ParameterKind<Int> {
  package static func integer(_ range: ClosedRange<Int>) -> ParameterKind {
    ParameterKind(
      "an integer from \(range.lowerBound) to \(range.upperBound)", schema: .integer(range)
    ) { text in
      guard let value = decimalInteger(text), range.contains(value) else { return nil }
      return value
    }
  }

  /// Bits per second, or bits: digits with an optional `k` or `M` (powers of 1000).
  package static func bits(_ range: ClosedRange<Int>) -> ParameterKind {
    ParameterKind(
      "a whole number of bits from \(range.lowerBound) to \(range.upperBound), such as 800k or 2.5M, "
        + "with at most six decimals",
      schema: .pattern("^\(decimalPattern)[kM]?$", example: "800k")
    ) { text in
      guard let value = scaledBits(text), range.contains(value) else { return nil }
      return value
    }
  }
}

extension ParameterKind<Double> {
  package static func number(_ range: ClosedRange<Double>) -> ParameterKind {
    ParameterKind(
      "a number from \(shortest(range.lowerBound)) to \(shortest(range.upperBound)) with at most six "
        + "decimals",
      schema: .number(range)
    ) { text in
      guard let value = plainDecimal(text), range.contains(value) else { return nil }
      return value
    }
  }
}

extension ParameterKind<Bool> {
  package static var boolean: ParameterKind {
    ParameterKind(
      "1, 0, true or false", schema: .choice(["1", "0", "true", "false"])
    ) { text in
      switch text {
      case "1", "true": true
      case "0", "false": false
      default: nil
      }
    }
  }
}

extension ParameterKind where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
  /// One of the raw values of an enumeration.
  package static var choice: ParameterKind {
    let names = Value.allCases.map(\.rawValue)
    return ParameterKind("one of \(names.joined(separator: ", "))", schema: .choice(names)) {
      Value(rawValue: $0)
    }
  }
}

extension ParameterKind {
  /// One of the keys of a table, standing for its value there.
  package static func choice(of table: [(name: String, value: Value)]) -> ParameterKind {
    let names = table.map(\.name)
    return ParameterKind("one of \(names.joined(separator: ", "))", schema: .choice(names)) {
      text in table.first { $0.name == text }?.value
    }
  }
}

extension ParameterKind<Ratio> {
  /// Frames per second: `25`, `30000/1001`, `12.5`; `23.976`, `29.97`, `59.94` and `119.88` mean
  /// n·1000/1001.
  static func rate(atMost highest: Int) -> ParameterKind {
    ParameterKind(
      "a frame rate above 0 and at most \(highest), with at most six decimals, such as 25, "
        + "30000/1001 (numbers up to \(largestRateTerm)) or 29.97",
      schema: .pattern("^(\(decimalPattern)|[0-9]+/[0-9]+)$", example: "30000/1001")
    ) { text in
      guard let rate = frameRate(text) else { return nil }
      guard rate.numerator <= highest * rate.denominator else { return nil }
      return rate
    }
  }

  /// A sample aspect ratio: `4:3` or `4/3`, each part from 1 to 65535 (H.264 §E.2.1).
  static var aspectRatio: ParameterKind {
    let range = 1...65535
    return ParameterKind(
      "a ratio such as 4:3, each part from \(range.lowerBound) to \(range.upperBound)",
      schema: .pattern("^[0-9]+[:/][0-9]+$", example: "4:3")
    ) { text in
      let parts = text.split(separator: text.contains(":") ? ":" : "/", maxSplits: 1)
        .compactMap { decimalInteger($0) }
      guard parts.count == 2, parts.allSatisfy(range.contains) else { return nil }
      return Ratio(parts[0], parts[1]).reduced
    }
  }
}

extension ParameterKind<[Int]> {
  /// Numbers with commas between them, at most `limit`.
  package static func integers(_ range: ClosedRange<Int>, limit: Int) -> ParameterKind {
    ParameterKind(
      "integers from \(range.lowerBound) to \(range.upperBound) with commas, at most \(limit)",
      schema: .pattern(
        "^[0-9]+(,[0-9]+){0,\(limit - 1)}$", example: "\(range.lowerBound)")
    ) { text in
      let parts = text.split(separator: ",", omittingEmptySubsequences: false)
      guard parts.count <= limit else { return nil }
      let values = parts.compactMap { decimalInteger($0) }.filter(range.contains)
      return values.count == parts.count ? values : nil
    }
  }
}

private let largestRateTerm = 1_000_000_000

/// Digits only, with an optional minus: no plus, no spaces, no other digits than ASCII ones.
package func decimalInteger(_ text: some StringProtocol) -> Int? {
  let digits = text.utf8.first == UInt8(ascii: "-") ? text.utf8.dropFirst() : text.utf8[...]
  guard !digits.isEmpty, digits.allSatisfy(isDigit) else { return nil }
  return Int(text)
}

/// `800k`, `2.5M`, `640000`: an exact number of bits, or nil.
package func scaledBits(_ text: some StringProtocol) -> Int? {
  var digits = text[...]
  var scale = 1
  if digits.last == "k" { scale = 1000 }
  if digits.last == "M" { scale = 1_000_000 }
  if scale > 1 { digits.removeLast() }
  guard let number = exactDecimal(digits) else { return nil }
  let (product, overflow) = number.numerator.multipliedReportingOverflow(by: scale)
  guard !overflow, product % number.denominator == 0 else { return nil }
  return product / number.denominator
}

private func frameRate(_ text: String) -> Ratio? {
  let ntsc = ["23.976": 24, "29.97": 30, "59.94": 60, "119.88": 120]
  if let nominal = ntsc[text] { return Ratio(nominal * 1000, 1001).reduced }
  if text.contains("/") {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
      .compactMap { decimalInteger($0) }
    guard parts.count == 2, parts.allSatisfy((1...largestRateTerm).contains) else {
      return nil
    }
    return Ratio(parts[0], parts[1]).reduced
  }
  guard let number = exactDecimal(text), number.numerator > 0 else { return nil }
  return Ratio(number.numerator, number.denominator).reduced
}

/// What `exactDecimal` reads.
let decimalPattern = #"[0-9]{1,12}(\.[0-9]{1,6})?"#

/// `12`, `12.5`: digits with at most six decimals, as numerator and power of ten.
private func exactDecimal(_ text: some StringProtocol) -> (numerator: Int, denominator: Int)? {
  let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
  guard let whole = parts.first else { return nil }
  let fraction = parts.count == 2 ? parts[1] : "0"
  guard !whole.isEmpty, whole.utf8.count <= 12, !fraction.isEmpty, fraction.utf8.count <= 6,
    whole.utf8.allSatisfy(isDigit), fraction.utf8.allSatisfy(isDigit),
    let wholeNumber = Int(whole), let fractionNumber = Int(fraction)
  else { return nil }
  var denominator = 1
  for _ in fraction.utf8 { denominator *= 10 }
  return (wholeNumber * denominator + fractionNumber, denominator)
}

/// A decimal without exponent, sign only in front.
private func plainDecimal(_ text: String) -> Double? {
  let digits = text.utf8.first == UInt8(ascii: "-") ? text.dropFirst() : text[...]
  guard let number = exactDecimal(digits) else { return nil }
  let magnitude = Double(number.numerator) / Double(number.denominator)
  return digits.count == text.count ? magnitude : -magnitude
}

private func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

/// A number without a useless `.0`.
package func shortest(_ value: Double) -> String {
  Int(exactly: value).map(String.init) ?? String(value)
}
