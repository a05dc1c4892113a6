/// Finds the NAL units of a byte stream (H.264 Annex B) that arrives in chunks of any size.
///
/// ```
/// var position = 0
/// while let unit = scanner.next(in: chunk, from: &position) { … }
/// …
/// if let last = scanner.finish() { … }
/// ```
/// What it finds does not depend on how the stream is cut into chunks. It keeps no more than
/// ``NALUnitType/keptBytes`` of a unit that crosses a border, and copies nothing of the others.
package struct StartCodeScanner: Sendable {
  /// Bytes before the first start code and its zero bytes, for which B.1.1 has no room.
  package private(set) var bytesBeforeFirstUnit = 0
  /// `leading_zero_8bits` (B.1.1), when nothing else precedes the first start code.
  package private(set) var leadingZeroBytes = 0
  /// `trailing_zero_8bits` of all units so far.
  package private(set) var trailingZeroBytes = 0
  /// The first bytes of the unit that `next` or `finish` last found `.carried`.
  package private(set) var carried: [UInt8] = []
  /// Bytes of the stream that are scanned.
  package private(set) var offset = 0

  private var open: OpenUnit?
  /// Zero bytes at the end of what is scanned.
  private var zeros = 0
  /// The last three bytes scanned are an emulation prevention sequence.
  private var afterEscape = false

  private struct OpenUnit {
    var start: Int
    var startCodeSize: Int
    /// Where three zero bytes ended it, though no start code came yet.
    var end: Int?
    var dataAfterEnd: Int?
    var violation: Int?
    /// Some of it was scanned in an earlier chunk.
    var isCarried = false
  }

  /// Finds the first index from a given one (2 or more) on of a byte up to 3 that two zero bytes
  /// precede, or gives the number of bytes: a start code, the end of a unit, or an emulation
  /// prevention sequence.
  package typealias Search = @Sendable (_ chunk: Span<UInt8>, _ first: Int) -> Int

  private let search: Search

  /// A scanner that spends most of its time in `search`.
  package init(search: @escaping Search = StartCodeScanner.plainSearch) {
    self.search = search
  }

  /// The next unit that ends in `chunk`; nil, once, when the rest of the chunk is scanned.
  ///
  /// `position` is the index in `chunk` to go on from: 0 for a new chunk.
  package mutating func next(in chunk: Span<UInt8>, from position: inout Int) -> NALUnitExtent? {
    while position < chunk.count {
      var runStart = position - zeros
      if zeros == 0, !afterEscape {
        let third = search(chunk, position + 2)
        guard third < chunk.count else {
          zeros = Self.zerosAtEnd(of: chunk, from: position)
          break
        }
        runStart = third - 2
        position = third
      }
      while position < chunk.count, chunk[position] == 0 { position += 1 }
      guard position < chunk.count else {
        zeros = position - runStart
        if zeros >= 3 { endUnit(at: offset + runStart) }
        break
      }
      let unit = react(to: chunk[position], after: position - runStart, at: position, in: chunk)
      position += 1
      zeros = 0
      if let unit { return unit }
    }
    enterNextChunk(chunk)
    return nil
  }

  /// The unit that the end of the stream ends.
  package mutating func finish() -> NALUnitExtent? {
    close(at: offset - zeros, before: offset, in: Span())
  }

  /// The header byte of the unit whose end has not come.
  package var openUnitOffset: Int? { open?.start }

  /// The bytes of `unit` that were kept: all, or the first ``NALUnitType/keptBytes``.
  @_lifetime(borrow self, copy chunk)
  package func bytes(of unit: NALUnitExtent, in chunk: Span<UInt8>) -> Span<UInt8> {
    switch unit.place {
    case .chunk(let range): chunk.extracting(range)
    case .carried: carried.span
    }
  }
}

extension StartCodeScanner {
  /// Acts on the first byte that is not zero after `run` zero bytes.
  private mutating func react(
    to byte: UInt8, after run: Int, at index: Int, in chunk: Span<UInt8>
  ) -> NALUnitExtent? {
    let isAfterEscape = afterEscape
    afterEscape = false
    let place = offset + index
    if run == 0 {
      if isAfterEscape, byte > 3 { noteViolation(at: place) }
    } else if run >= 2, byte == 1 {
      return startUnit(at: place + 1, after: run, in: chunk)
    } else if run >= 3 {
      endUnit(at: place - run)
      if open?.dataAfterEnd == nil { open?.dataAfterEnd = place }
    } else if run == 2 {
      if byte == 2 { noteViolation(at: place) }
      afterEscape = byte == 3
    }
    return nil
  }

  /// Opens the unit at `start`, behind a start code and its `zeros`; gives the one this ends.
  private mutating func startUnit(
    at start: Int, after zeros: Int, in chunk: Span<UInt8>
  ) -> NALUnitExtent? {
    let runStart = start - 1 - zeros
    let codeStart = start - 1 - min(zeros, 3)
    let ended = close(at: runStart, before: codeStart, in: chunk)
    if ended == nil {
      bytesBeforeFirstUnit = runStart
      leadingZeroBytes = runStart == 0 ? codeStart : 0
    }
    open = OpenUnit(start: start, startCodeSize: start - codeStart)
    return ended
  }

  private mutating func endUnit(at end: Int) {
    if open?.end == nil { open?.end = end }
  }

  private mutating func noteViolation(at place: Int) {
    if open?.end == nil, open?.violation == nil { open?.violation = place }
  }

  private mutating func close(
    at end: Int, before next: Int, in chunk: Span<UInt8>
  ) -> NALUnitExtent? {
    guard let unit = open else { return nil }
    open = nil
    let end = unit.end ?? end
    var extent = NALUnitExtent(
      offset: unit.start, size: end - unit.start, startCodeSize: unit.startCodeSize)
    extent.violation = unit.violation
    extent.dataAfterEnd = unit.dataAfterEnd
    if unit.dataAfterEnd == nil {
      extent.trailingZeroBytes = next - end
      trailingZeroBytes += next - end
    }
    if unit.isCarried {
      complete(extent, from: chunk)
    } else {
      let first = unit.start - offset
      let kept = extent.size > 0 ? min(extent.size, Self.limit(header: chunk[first])) : 0
      extent.place = .chunk(first..<first + kept)
    }
    return extent
  }

  private static func limit(header: UInt8) -> Int {
    NALUnitType(header: header).keptBytes
  }
}

// MARK: Units that cross a border

extension StartCodeScanner {
  private mutating func enterNextChunk(_ chunk: Span<UInt8>) {
    if let unit = open {
      if unit.isCarried {
        carry(chunk, from: 0)
      } else {
        carried.removeAll(keepingCapacity: true)
        open?.isCarried = true
        carry(chunk, from: unit.start - offset)
      }
    }
    offset += chunk.count
  }

  /// Keeps bytes from index `first` on, as far as the type of the unit is worth it.
  private mutating func carry(_ chunk: Span<UInt8>, from first: Int) {
    guard first < chunk.count else { return }
    let limit = Self.limit(header: carried.first ?? chunk[first])
    carry(chunk, first..<min(chunk.count, first + max(0, limit - carried.count)))
  }

  private mutating func carry(_ chunk: Span<UInt8>, _ range: Range<Int>) {
    carried.append(addingCapacity: range.count) { copy in
      for index in range { copy.append(chunk[index]) }
    }
  }

  /// Makes `carried` the kept bytes of `unit`, which ends in `chunk` or before it.
  private mutating func complete(_ unit: NALUnitExtent, from chunk: Span<UInt8>) {
    guard unit.size > 0 else {
      carried.removeAll(keepingCapacity: true)
      return
    }
    let scanned = carried.count
    let header = carried.first ?? chunk[unit.offset - offset]
    let kept = min(unit.size, Self.limit(header: header))
    if scanned > kept {
      carried.removeLast(scanned - kept)
    } else if scanned < kept {
      carry(chunk, unit.offset + scanned - offset..<unit.offset + kept - offset)
    }
  }
}

// MARK: Inner loops

extension StartCodeScanner {
  private static func zerosAtEnd(of chunk: Span<UInt8>, from first: Int) -> Int {
    var index = chunk.count
    while index > first, chunk[index - 1] == 0 { index -= 1 }
    return chunk.count - index
  }

  /// The ``Search`` in plain Swift: a byte above 3 rules out three places, so that two of three
  /// bytes are never read.
  @Sendable
  package static func plainSearch(in chunk: Span<UInt8>, from first: Int) -> Int {
    var index = first
    while index < chunk.count {
      let byte = chunk[index]
      if byte > 3 {
        index += 3
      } else if chunk[index - 1] == 0, chunk[index - 2] == 0 {
        return index
      } else {
        index += byte == 0 ? 1 : 3
      }
    }
    return chunk.count
  }
}
