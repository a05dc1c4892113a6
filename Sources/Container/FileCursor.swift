/// Where the reading of a file is that arrives in pieces.
struct FileCursor: Sendable {
  /// The file's byte that comes next.
  private(set) var position = 0

  /// The next byte of `chunk`, which goes on at `index`; nil when it is used up.
  mutating func next(in chunk: Span<UInt8>, from index: inout Int) -> UInt8? {
    guard index < chunk.count else { return nil }
    defer {
      index += 1
      position += 1
    }
    return chunk[index]
  }

  /// Passes over the bytes before `end` in the file, as far as there are some in `chunk`; never goes
  /// back. Gives their range in the chunk.
  mutating func pass(to end: Int, in chunk: Span<UInt8>, from index: inout Int) -> Range<Int> {
    let first = index
    let count = max(0, min(end.subtractingClamped(position), chunk.count - index))
    index += count
    position += count
    return first..<index
  }
}
