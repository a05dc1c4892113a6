internal import Platform

/// Puts start codes in the place of the lengths of NAL units (ISO/IEC 14496-15 §5.3.2), however the
/// bytes are cut into pieces.
struct LengthsToStartCodes: Sendable {
  /// Bytes of a length field.
  let lengthSize: Int
  private var length = 0
  private var lengthBytes = 0
  /// Bytes of the unit that have not come.
  private var left = 0

  init(lengthSize: Int) {
    self.lengthSize = lengthSize
  }

  /// A sample begins: what is missing of the one before does not come.
  mutating func begin() {
    length = 0
    lengthBytes = 0
    left = 0
  }

  /// Appends the next bytes in Annex B form. A unit that is longer than its sample ends there.
  mutating func convert(_ bytes: Span<UInt8>, into output: inout [UInt8]) {
    var position = 0
    while position < bytes.count {
      if left > 0 {
        let taken = min(left, bytes.count - position)
        output.append(copying: bytes.extracting(position..<position + taken))
        left -= taken
        position += taken
        continue
      }
      length = length << 8 | Int(bytes[position])
      lengthBytes += 1
      position += 1
      guard lengthBytes == lengthSize else { continue }
      if length > 0 { output += [0, 0, 0, 1] }
      left = length
      length = 0
      lengthBytes = 0
    }
  }
}
