internal import Codec

/// Writes a Y4M stream: its header, and the line before each frame.
struct Y4MWriter: Sendable {
  let format: PixelFormat
  let width: Int
  let height: Int

  /// The line in front of each frame's samples.
  static let frameHeader = [UInt8]("FRAME\n".utf8)

  /// `YUV4MPEG2 W176 H144 F25:1 Ip A1:1 C420mpeg2`, with a newline.
  ///
  /// - Parameters:
  ///   - rate: Frames per second.
  ///   - ratio: Shape of a sample; `nil` when unknown.
  ///   - scan: Of the first frame.
  ///   - isFullRange: Luma runs from 0 on.
  ///   - location: Where the chroma of 4:2:0 lies.
  /// - Returns: The header.
  func header(
    rate: Rational, sampleAspectRatio ratio: Rational?, scan: Scan, isFullRange: Bool,
    chromaLocation location: ChromaLocation
  ) -> [UInt8] {
    let shape = ratio ?? Rational(0, 0)
    var text = "YUV4MPEG2 W\(width) H\(height) F\(rate.numerator):\(rate.denominator)"
    text += " I\(scan.rawValue) A\(shape.numerator):\(shape.denominator) C\(layout(location))"
    text += " XCOLORRANGE=\(isFullRange ? "FULL" : "LIMITED")\n"
    return Array(text.utf8)
  }

  enum Scan: String, Sendable {
    case progressive = "p"
    case topFieldFirst = "t"
    case bottomFieldFirst = "b"
  }

  private func layout(_ location: ChromaLocation) -> String {
    let stem =
      switch format.chroma {
      case .monochrome: "mono"
      case .yuv420: "420"
      case .yuv422: "422"
      case .yuv444: "444"
      }
    if format.bitDepth > 8 {
      return format.chroma == .monochrome
        ? "\(stem)\(format.bitDepth)" : "\(stem)p\(format.bitDepth)"
    }
    guard format.chroma == .yuv420 else { return stem }
    switch location {
    case .left: return "420mpeg2"
    case .center: return "420jpeg"
    case .topLeft: return "420paldv"
    }
  }
}
