internal import H264
internal import Platform

/// Where the NAL units of an access unit lie in its bytes.
struct AccessUnitLayout: Equatable, Sendable {
  /// From the NAL header byte to the last byte, without start codes, lengths and trailing zeros.
  var units: [Range<Int>] = []
  /// The bytes are four-byte lengths and these units, and nothing else.
  var isPlain = false

  /// Finds the units between start codes.
  static func annexB(_ bytes: Span<UInt8>) -> AccessUnitLayout {
    var layout = AccessUnitLayout()
    var scanner = StartCodeScanner(search: vectorSearch)
    var position = 0
    while let unit = scanner.next(in: bytes, from: &position) { layout.add(unit) }
    if let last = scanner.finish() { layout.add(last) }
    return layout
  }

  private mutating func add(_ unit: NALUnitExtent) {
    if unit.size > 0 { units.append(unit.offset..<unit.end) }
  }

  /// Finds the units behind lengths of `lengthSize` bytes, big-endian; nil when one reaches beyond
  /// the end.
  static func lengthPrefixed(_ bytes: Span<UInt8>, lengthSize: Int) -> AccessUnitLayout? {
    var layout = AccessUnitLayout()
    layout.isPlain = lengthSize == 4
    var position = 0
    while position < bytes.count {
      guard position + lengthSize <= bytes.count else { return nil }
      var length = 0
      for index in position..<position + lengthSize { length = length << 8 | Int(bytes[index]) }
      position += lengthSize
      guard length <= bytes.count - position else { return nil }
      if length > 0 {
        layout.units.append(position..<position + length)
      } else {
        layout.isPlain = false
      }
      position += length
    }
    return layout
  }
}
