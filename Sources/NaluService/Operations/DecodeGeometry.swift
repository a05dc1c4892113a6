internal import Codec

/// The size of a picture that goes out.
struct DecodeGeometry: Equatable, Sendable {
  /// Luma samples, before the picture is turned.
  var width: Int
  /// Luma samples, before the picture is turned.
  var height: Int
  /// Before the picture is turned; `nil` when the stream does not say.
  var sampleAspectRatio: Rational?
  /// The parameter that the size follows from.
  private var parameter: String?

  /// - Parameters:
  ///   - width: Of the decoded picture.
  ///   - height: Of the decoded picture.
  ///   - sampleAspectRatio: Of the decoded picture.
  ///   - settings: Ask for a width or height, or both, of what is shown.
  ///   - swapsAxes: The picture will be turned by 90 degrees.
  ///   - isSubsampled: Only even numbers are chosen where there is a choice.
  init(
    width: Int, height: Int, sampleAspectRatio: Rational?, _ settings: DecodeSettings,
    swapsAxes: Bool, isSubsampled: Bool
  ) {
    self.width = width
    self.height = height
    self.sampleAspectRatio = sampleAspectRatio
    parameter = settings.width != nil ? "width" : settings.height != nil ? "height" : nil
    let ratio = sampleAspectRatio ?? Rational(1)
    let columns = swapsAxes ? settings.height : settings.width
    let rows = swapsAxes ? settings.width : settings.height
    // The display aspect ratio is width·numerator to height·denominator.
    switch (columns, rows) {
    case (nil, nil):
      return
    case (let columns?, let rows?):
      self.width = columns
      self.height = rows
      if sampleAspectRatio != nil {
        self.sampleAspectRatio =
          Rational(width * ratio.numerator * rows, height * ratio.denominator * columns).fitting
      }
    case (let columns?, nil):
      self.width = columns
      self.height = Self.rounded(
        columns * height * ratio.denominator, by: width * ratio.numerator, isSubsampled)
      if sampleAspectRatio != nil { self.sampleAspectRatio = Rational(1) }
    case (nil, let rows?):
      self.width = Self.rounded(
        rows * width * ratio.numerator, by: height * ratio.denominator, isSubsampled)
      self.height = rows
      if sampleAspectRatio != nil { self.sampleAspectRatio = Rational(1) }
    }
  }

  private static func rounded(_ dividend: Int, by divisor: Int, _ toEven: Bool) -> Int {
    let unit = toEven ? 2 : 1
    return max(unit, (2 * dividend / unit + divisor) / (2 * divisor) * unit)
  }

  /// Refuses a size beyond the limits, which an odd sample aspect ratio can lead to.
  func check(_ limits: Limits) throws(Problem) {
    guard width <= limits.maxDimension, height <= limits.maxDimension,
      width * height <= limits.maxFramePixels
    else {
      throw Problem(
        .dimensionsTooLarge, "The display aspect ratio leads to \(width)x\(height).",
        parameter: parameter, members: [.init("limit", limits.maxFramePixels)])
    }
  }
}

extension Rational {
  /// The value in lowest terms that fit into 31 bits, the last bits lost if need be.
  fileprivate var fitting: Rational {
    var ratio = reduced
    while max(ratio.numerator, ratio.denominator) > Int(Int32.max) {
      ratio = Rational(max(1, ratio.numerator / 2), max(1, ratio.denominator / 2))
    }
    return ratio
  }
}
