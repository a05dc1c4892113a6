/// What the `moov` box of an MP4 file says of how the file is read.
enum MovieForm: Equatable, Sendable {
  /// There is none: nothing says what the samples are.
  case missing
  case whole
  /// Samples are described in fragments too.
  case fragmented
}

extension SpooledUpload {
  private static let maxBoxes = 4096

  /// Looks for `moov` at the top, and for `mvex` in it.
  var movieForm: MovieForm {
    guard let movie = box(0x6D6F_6F76, in: 0..<count) else { return .missing }
    return box(0x6D76_6578, in: movie) == nil ? .whole : .fragmented
  }

  /// The content of the first box of that type in `range`.
  private func box(_ type: Int, in range: Range<Int>) -> Range<Int>? {
    var position = range.lowerBound
    for _ in 0..<Self.maxBoxes where position + 8 <= range.upperBound {
      let header = bytes(at: position, count: 16)
      func number(_ start: Int) -> Int {
        header.dropFirst(start).prefix(4).reduce(0) { $0 << 8 | Int($1) }
      }
      var size = number(0)
      var headerSize = 8
      if size == 1 {
        size = number(8) << 32 | number(12)
        headerSize = 16
      }
      let left = range.upperBound - position
      if size < headerSize || size > left { size = left }
      if number(4) == type { return min(position + headerSize, position + size)..<position + size }
      position += size
    }
    return nil
  }
}
