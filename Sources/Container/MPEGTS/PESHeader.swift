/// The header of a PES packet (ISO/IEC 13818-1 §2.4.3.6), collected over packets where it is long.
struct PESHeader: Sendable {
  private var bytes: [UInt8] = []
  private(set) var isOpen = false

  mutating func begin() {
    bytes.removeAll(keepingCapacity: true)
    isOpen = true
  }

  struct Content: Sendable {
    var pts: Int?
    var dts: Int?
    /// Bytes of payload; nil when the packet has no stated end.
    var size: Int?
  }

  enum Progress {
    case incomplete
    /// The header ends before the index in the piece.
    case complete(Content, next: Int)
    case invalid
  }

  /// Takes the next bytes of the packet.
  mutating func add(_ piece: Span<UInt8>) -> Progress {
    var index = 0
    while index < piece.count {
      bytes.append(piece[index])
      index += 1
      if bytes.count == 3, bytes != [0, 0, 1] { return end(.invalid) }
      guard bytes.count >= 9, bytes.count == 9 + Int(bytes[8]) else { continue }
      return end(.complete(content(), next: index))
    }
    return .incomplete
  }

  private mutating func end(_ progress: Progress) -> Progress {
    isOpen = false
    return progress
  }

  private func content() -> Content {
    var found = Content()
    let length = Int(bytes[4]) << 8 | Int(bytes[5])
    if length > 0 { found.size = max(0, length + 6 - bytes.count) }
    if bytes[7] & 0x80 != 0, bytes.count >= 14 { found.pts = time(at: 9) }
    found.dts = bytes[7] & 0xC0 == 0xC0 && bytes.count >= 19 ? time(at: 14) : found.pts
    return found
  }

  private func time(at index: Int) -> Int {
    Int(bytes[index] >> 1 & 7) << 30 | Int(bytes[index + 1]) << 22
      | Int(bytes[index + 2] >> 1) << 15 | Int(bytes[index + 3]) << 7 | Int(bytes[index + 4] >> 1)
  }
}

/// Makes times of 33 bits go on where they begin anew.
struct TimeUnwrapper: Sendable {
  private static let period = 1 << 33
  private var last: Int?

  mutating func unwrap(_ time: Int) -> Int {
    guard let last else {
      self.last = time
      return time
    }
    var step = (time - last) % Self.period
    if step > Self.period / 2 { step -= Self.period }
    if step < -Self.period / 2 { step += Self.period }
    self.last = last + step
    return last + step
  }
}
