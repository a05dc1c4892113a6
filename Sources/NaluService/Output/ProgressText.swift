/// What a person at a terminal is told of a long job: `12.3 MB of 48.0 MB (25 %), 310 frames,
/// 48.2 fps, 0:06`.
package struct ProgressText {
  /// Bytes to read; nil when that is not known.
  private let size: Int?

  package init(size: Int?) {
    self.size = size
  }

  /// - Parameters:
  ///   - bytesRead: of the input, so far.
  ///   - frames: that were encoded or decoded.
  ///   - seconds: since the start.
  /// - Returns: The text, without a newline.
  package func line(bytesRead: Int, frames: Int, seconds: Double) -> String {
    var parts = [ProgressText.megabytes(bytesRead)]
    if let size, size > 0 {
      // A file that grows is never more than whole.
      let percent = min(100, Int(100 * Double(bytesRead) / Double(size)))
      parts[0] += " of \(ProgressText.megabytes(max(size, bytesRead))) (\(percent) %)"
    }
    if frames > 0 {
      parts.append("\(frames) frames")
      if seconds > 0 { parts.append("\(ProgressText.tenths(Double(frames) / seconds)) fps") }
    }
    let whole = Int(seconds)
    parts.append("\(whole / 60):\(whole % 60 < 10 ? "0" : "")\(whole % 60)")
    return parts.joined(separator: ", ")
  }

  private static func megabytes(_ bytes: Int) -> String {
    "\(tenths(Double(bytes) / 1e6)) MB"
  }

  private static func tenths(_ value: Double) -> String {
    let scaled = Int((value * 10).rounded())
    return "\(scaled / 10).\(scaled % 10)"
  }
}
