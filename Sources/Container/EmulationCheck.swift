internal import H264

/// Looks in a NAL unit, whose bytes may come in pieces, for what emulation prevention rules out
/// (H.264 §7.4.1): start codes, most of all.
struct EmulationCheck: Sendable {
  private let search: StartCodeScanner.Search?
  /// Bytes before the next piece.
  private var read = 0
  /// Zero bytes at their end; after a search, as far as they are known to matter.
  private var zeros = 0
  private var isAfterEscape = false
  /// The last byte of a sequence that must not be, from the unit's header byte on.
  private(set) var violation: Int?

  /// The unit ends with so many zero bytes, 3 or more, that nothing follows.
  var trailingZeros: Int { violation == nil && zeros >= 3 ? zeros : 0 }

  /// `search`: nil when units are not to be looked into.
  init(search: StartCodeScanner.Search?) {
    self.search = search
  }

  /// A unit begins.
  mutating func begin() {
    read = 0
    zeros = 0
    isAfterEscape = false
    violation = nil
  }

  /// Goes on with the next bytes of the unit.
  mutating func add(_ piece: Span<UInt8>) {
    guard let search, violation == nil, piece.count > 0 else {
      read += piece.count
      return
    }
    var index = 0
    // Up to where two bytes of this piece precede.
    while index < min(2, piece.count), violation == nil {
      react(to: piece[index], at: index)
      index += 1
    }
    while index < piece.count, violation == nil {
      if zeros > 0 || isAfterEscape {
        react(to: piece[index], at: index)
        index += 1
        continue
      }
      index = search(piece, index)
      // Behind the last piece there may be more.
      zeros = index < piece.count ? 2 : Self.zerosAtEnd(of: piece)
    }
    read += piece.count
  }

  private static func zerosAtEnd(of piece: Span<UInt8>) -> Int {
    guard piece[piece.count - 1] == 0 else { return 0 }
    return piece.count > 1 && piece[piece.count - 2] == 0 ? 2 : 1
  }

  private mutating func react(to byte: UInt8, at index: Int) {
    if isAfterEscape, byte > 3 { violation = read + index }
    isAfterEscape = false
    if zeros >= 3, byte != 0 {
      // Three zero bytes are one thing at the end of a unit, and another within it.
      violation = read + index - zeros + 2
    } else if zeros == 2 {
      if byte == 1 || byte == 2 { violation = read + index }
      isAfterEscape = byte == 3
    }
    zeros = byte == 0 ? zeros + 1 : 0
  }
}
