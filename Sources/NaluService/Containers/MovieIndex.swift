internal import Platform

/// The index (`moov`) of an MP4 file that stands at its end, made ready to stand in front of the
/// samples.
struct MovieIndex: Sendable {
  /// What precedes the samples in the new order: `ftyp` and `moov`.
  let front: [UInt8]
  /// How much farther back in the file a byte is that follows `front`.
  let shift: Int
  /// Bytes of the whole in the new order.
  let length: Int

  /// Reads the file that libavformat wrote: `ftyp`, `free`, `mdat`, `moov`.
  init(_ file: borrowing Spool) throws(Problem) {
    var position = 0
    var start: [UInt8] = []
    var movie: [UInt8] = []
    while position < file.count, movie.isEmpty {
      guard let box = Self.box(try Self.read(file, position, 16), 0),
        box.size <= file.count - position
      else { throw Self.unreadable }
      if box.type == "ftyp", position == 0 { start = try Self.read(file, position, box.size) }
      if box.type == "moov" {
        movie = try Self.read(file, position, box.size)
      } else {
        position += box.size
      }
    }
    guard !movie.isEmpty, !start.isEmpty else { throw Self.unreadable }
    self.init(start: start, movie, at: position)
  }

  /// - Parameters:
  ///   - start: `ftyp`.
  ///   - movie: `moov`.
  ///   - position: Where `moov` is, behind all samples.
  private init(start: [UInt8], _ movie: [UInt8], at position: Int) {
    let moved = Self.moved(movie, lastOffset: position)
    front = start + moved
    shift = -moved.count
    length = position + moved.count
  }

  /// Reads what libavformat wrote around the samples.
  ///
  /// - Parameters:
  ///   - head: What precedes the samples: `ftyp`, `free` and the beginning of `mdat`.
  ///   - tail: What follows them: `moov`.
  ///   - position: Where `tail` begins.
  /// - Throws: When that is no MP4 file.
  init(head: [UInt8], tail: [UInt8], at position: Int) throws(Problem) {
    guard let first = Self.box(head, 0), first.type == "ftyp", first.size <= head.count,
      let movie = Self.box(tail, 0), movie.type == "moov", movie.size == tail.count
    else { throw Self.unreadable }
    self.init(start: Array(head[..<first.size]), tail, at: position)
  }

  private static var unreadable: Problem {
    Problem(.internal, "The index of the MP4 file cannot be read back.")
  }

  private static func read(
    _ file: borrowing Spool, _ offset: Int, _ size: Int
  ) throws(Problem) -> [UInt8] {
    try [UInt8](capacity: size) { (output: inout OutputSpan<UInt8>) throws(Problem) in
      try file.read(at: offset, into: &output)
    }
  }
}

// MARK: Boxes (ISO/IEC 14496-12 §4.2)

extension MovieIndex {
  private struct Box {
    var type: String
    var size: Int
    var headerSize: Int
  }

  private static func box(_ bytes: [UInt8], _ position: Int) -> Box? {
    guard position + 8 <= bytes.count else { return nil }
    let type = String(decoding: bytes[position + 4..<position + 8], as: UTF8.self)
    let size = integer(bytes, position, 4)
    guard size == 1 else { return size >= 8 ? Box(type: type, size: size, headerSize: 8) : nil }
    guard position + 16 <= bytes.count, bytes[position + 8] < 0x40 else { return nil }
    return Box(type: type, size: integer(bytes, position + 8, 8), headerSize: 16)
  }

  private static func integer(_ bytes: [UInt8], _ position: Int, _ size: Int) -> Int {
    bytes[position..<position + size].reduce(0) { $0 << 8 | Int($1) }
  }

  private static func append(_ value: Int, _ size: Int, to bytes: inout [UInt8]) {
    for index in (0..<size).reversed() {
      bytes.append(UInt8(truncatingIfNeeded: value >> (8 * index)))
    }
  }

  /// The `moov` box with its chunk offsets as they are when it precedes the samples.
  private static func moved(_ movie: [UInt8], lastOffset: Int) -> [UInt8] {
    // Offsets of eight bytes instead of four at most double the box.
    let isWide = lastOffset + 2 * movie.count > Int(UInt32.max)
    let size = rewritten(movie, 0..<movie.count, shift: 0, isWide: isWide).count
    return rewritten(movie, 0..<movie.count, shift: size, isWide: isWide)
  }

  /// The boxes in that range, all chunk offsets in them greater by `shift`.
  private static func rewritten(
    _ bytes: [UInt8], _ range: Range<Int>, shift: Int, isWide: Bool
  ) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(range.count)
    var position = range.lowerBound
    while position < range.upperBound, let box = box(bytes, position),
      box.size <= range.upperBound - position
    {
      let end = position + box.size
      let content = position + box.headerSize..<end
      switch box.type {
      case "moov", "trak", "mdia", "minf", "stbl":
        let inner = rewritten(bytes, content, shift: shift, isWide: isWide)
        append(8 + inner.count, 4, to: &result)
        result += box.type.utf8
        result += inner
      case "stco", "co64":
        appendOffsets(
          bytes, content, isWide: box.type == "co64", becomesWide: isWide, shift, to: &result)
      default:
        result += bytes[position..<end]
      }
      position = end
    }
    return result
  }

  /// A chunk offset box (ISO/IEC 14496-12 §8.7.5).
  private static func appendOffsets(
    _ bytes: [UInt8], _ content: Range<Int>, isWide: Bool, becomesWide: Bool, _ shift: Int,
    to result: inout [UInt8]
  ) {
    let (size, newSize) = (isWide ? 8 : 4, isWide || becomesWide ? 8 : 4)
    let count = min(
      integer(bytes, content.lowerBound + 4, 4), (content.count - 8) / size)
    append(16 + count * newSize, 4, to: &result)
    result += (newSize == 8 ? "co64" : "stco").utf8
    append(0, 4, to: &result)
    append(count, 4, to: &result)
    for index in 0..<count {
      let offset = integer(bytes, content.lowerBound + 8 + index * size, size)
      append(offset + shift, newSize, to: &result)
    }
  }
}
