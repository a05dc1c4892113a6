import H264
import Testing

/// A unit as found, with its kept bytes.
private struct Found: Equatable, CustomStringConvertible {
  var offset: Int
  var size: Int
  var startCodeSize: Int
  var trailingZeroBytes: Int
  var dataAfterEnd: Int?
  var violation: Int?
  var bytes: [UInt8]

  init(_ unit: NALUnitExtent, _ kept: Span<UInt8>) {
    offset = unit.offset
    size = unit.size
    startCodeSize = unit.startCodeSize
    trailingZeroBytes = unit.trailingZeroBytes
    dataAfterEnd = unit.dataAfterEnd
    violation = unit.violation
    bytes = kept.indices.map { kept[$0] }
  }

  var description: String {
    "\(offset)+\(size) code \(startCodeSize) zeros \(trailingZeroBytes)"
      + " after \(dataAfterEnd ?? -1) violation \(violation ?? -1)"
  }
}

private struct Scan: Equatable {
  var units: [Found] = []
  var bytesBefore = 0
  var leadingZeros = 0

  init(_ stream: [UInt8], chunk: Int) {
    var scanner = StartCodeScanner()
    var start = 0
    while start < stream.count {
      let end = min(stream.count, start + chunk)
      let bytes = stream.span.extracting(start..<end)
      var position = 0
      while let unit = scanner.next(in: bytes, from: &position) {
        units.append(Found(unit, scanner.bytes(of: unit, in: bytes)))
      }
      start = end
    }
    if let unit = scanner.finish() {
      units.append(Found(unit, scanner.bytes(of: unit, in: Span())))
    }
    bytesBefore = scanner.bytesBeforeFirstUnit
    leadingZeros = scanner.leadingZeroBytes
  }
}

/// B.1.2 the slow way, with the whole stream at hand.
private func plainScan(_ stream: [UInt8]) -> [(offset: Int, size: Int, startCodeSize: Int)] {
  func has(_ pattern: [UInt8], at index: Int) -> Bool {
    index + pattern.count <= stream.count
      && Array(stream[index..<index + pattern.count]) == pattern
  }
  var units: [(offset: Int, size: Int, startCodeSize: Int)] = []
  var index = 0
  var previousEnd = 0
  while index < stream.count {
    guard has([0, 0, 1], at: index) else {
      index += 1
      continue
    }
    let codeSize = index > previousEnd && stream[index - 1] == 0 ? 4 : 3
    let start = index + 3
    var end = start
    while end < stream.count, !has([0, 0, 0], at: end), !has([0, 0, 1], at: end) { end += 1 }
    if end == stream.count {
      while end > start, stream[end - 1] == 0 { end -= 1 }
    }
    units.append((start, end - start, codeSize))
    previousEnd = end
    index = end > start ? end : start
  }
  return units
}

@Suite struct StartCodeScannerTests {
  /// Streams, and the offset, size and start code size of their units.
  static let streams: [([UInt8], [[Int]])] = [
    ([], []),
    ([0, 0, 0, 0, 0], []),
    ([0, 0, 1], [[3, 0, 3]]),
    ([0, 0, 1, 0x67], [[3, 1, 3]]),
    ([0, 0, 0, 1, 0x67], [[4, 1, 4]]),
    ([0, 0, 0, 0, 0, 1, 0x67], [[6, 1, 4]]),
    ([0, 0, 1, 0x67, 0, 0, 1], [[3, 1, 3], [7, 0, 3]]),
    ([0, 0, 1, 0x67, 0, 0, 0, 1, 0x68], [[3, 1, 3], [8, 1, 4]]),
    ([0, 0, 1, 0x67, 0, 0, 0, 0, 0, 1, 0x68], [[3, 1, 3], [10, 1, 4]]),
    ([0, 0, 1, 0x65, 5, 0, 0, 3, 0, 0, 3, 0, 0, 1, 9], [[3, 8, 3], [14, 1, 3]]),
    ([0, 0, 1, 0x65, 5, 0, 0], [[3, 2, 3]]),
    ([0, 0, 1, 0x65, 0, 5, 0, 0, 4, 0], [[3, 6, 3]]),
    ([0, 0, 1, 0x65, 0, 0, 0, 7, 0, 0, 1, 9], [[3, 1, 3], [11, 1, 3]]),
    ([0, 0, 1, 0, 0, 1, 0, 9], [[3, 0, 3], [6, 2, 3]]),
    ([7, 7, 0, 0, 1, 0x65], [[5, 1, 3]]),
  ]

  @Test(arguments: streams)
  func findsUnitsAsAnnexBDefinesThem(stream: [UInt8], expected: [[Int]]) {
    let found = Scan(stream, chunk: 64).units.map { [$0.offset, $0.size, $0.startCodeSize] }
    #expect(found == expected)
  }

  @Test func countsZerosThatBelongToNoUnit() {
    let scan = Scan([0, 0, 0, 0, 0, 1, 9, 0xF0, 0, 0, 0, 0, 0, 1, 9, 0xF0, 0, 0], chunk: 64)
    #expect(scan.leadingZeros == 2)
    #expect(scan.bytesBefore == 0)
    #expect(scan.units.map(\.trailingZeroBytes) == [2, 2])
  }

  @Test func reportsBytesOutsideOfUnits() {
    let scan = Scan([8, 8, 0, 0, 1, 0x65, 1, 0, 0, 0, 2, 5, 0, 0, 1, 9], chunk: 64)
    #expect(scan.bytesBefore == 2)
    #expect(scan.leadingZeros == 0)
    #expect(scan.units.first?.dataAfterEnd == 10)
    #expect(scan.units.first?.size == 2)
  }

  /// Streams, and where emulation prevention was forgotten.
  static let violations: [([UInt8], Int?)] = [
    ([0, 0, 1, 0x65, 9, 0, 0, 2, 9], 7),
    ([0, 0, 1, 0x65, 9, 0, 0, 3, 4], 8),
    ([0, 0, 1, 0x65, 9, 0, 0, 3, 3], nil),
    ([0, 0, 1, 0x65, 9, 0, 0, 3], nil),
    ([0, 0, 1, 0x65, 9, 0, 0, 3, 0, 9], nil),
    ([0, 0, 1, 0x65, 9, 0, 0, 4], nil),
  ]

  @Test(arguments: violations)
  func findsSequencesThatAUnitMustNotContain(stream: [UInt8], place: Int?) {
    for chunk in [1, 2, 3, 100] {
      #expect(Scan(stream, chunk: chunk).units.map(\.violation) == [place])
    }
  }

  @Test(arguments: [0x101, 0x202, 0x303, 0x404] as [UInt64])
  func findsTheSameInChunksOfAnySize(seed: UInt64) {
    var random = SplitMix(seed)
    for _ in 0..<400 {
      // Few values, so that every pattern comes up at every distance from a border.
      let values: UInt64 = [2, 3, 5, 40][Int(random.next() % 4)]
      let stream = (0..<Int(random.next() % 90)).map { _ in UInt8(random.next() % values) }
      let whole = Scan(stream, chunk: max(1, stream.count))
      #expect(
        whole.units.map { [$0.offset, $0.size, $0.startCodeSize] }
          == plainScan(stream).map { [$0.offset, $0.size, $0.startCodeSize] }, "\(stream)")
      for chunk in [1, 2, 3, 7, 64] {
        #expect(Scan(stream, chunk: chunk) == whole, "\(stream) by \(chunk)")
      }
    }
  }

  @Test func keepsOnlyAPrefixOfASliceInChunksOfAnySize() {
    var stream: [UInt8] = [0, 0, 1, 0x65] + (0..<9000).map { UInt8(4 + $0 % 200) }
    stream += [0, 0, 1, 9, 0xF0, 0, 0, 1, 6] + [UInt8](repeating: 0x11, count: 9000)
    for chunk in [1, 7, 4096, 9000, 100_000] {
      let units = Scan(stream, chunk: chunk).units
      #expect(units.map(\.size) == [9001, 2, 9001])
      #expect(units.map(\.bytes.count) == [4096, 2, 9001])
      #expect(units[0].bytes == Array(stream[3..<4099]))
      #expect(units[2].bytes == Array(stream.suffix(9001)))
    }
  }
}
