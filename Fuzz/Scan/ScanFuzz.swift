internal import H264
internal import Platform

/// libFuzzer's entry: two bytes choose the borders of the chunks, the rest is the stream.
///
/// What the scanner finds, with either search, must be what ``PlainScan`` finds.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzScan(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard count > 2 else { return 0 }
  let input = UnsafeBufferPointer(start: start, count: count)
  let stream = [UInt8](input.dropFirst(2))
  let expected = PlainScan(stream)
  check(stream, StartCodeScanner.plainSearch, Borders(input[0], input[1]), expected)
  check(stream, vectorSearch, Borders(input[1], input[0]), expected)
  check(stream, vectorSearch, nil, expected)
  for unit in expected.units where unit.size > 0 { checkPayload(unit.kept) }
  return 0
}

/// Sizes of chunks that follow from two bytes.
private struct Borders {
  private let longest: UInt64
  private var state: UInt64

  init(_ limit: UInt8, _ seed: UInt8) {
    longest = [1, 2, 3, 5, 16, 64, 200, 1000][Int(limit & 7)]
    state = UInt64(seed)
  }

  mutating func next() -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return 1 + Int((state >> 33) % longest)
  }
}

/// Scans `stream` in chunks, or as one.
private func check(
  _ stream: [UInt8], _ search: @escaping StartCodeScanner.Search, _ borders: Borders?,
  _ expected: PlainScan
) {
  var scanner = StartCodeScanner(search: search)
  var borders = borders
  var found = 0
  func take(_ unit: NALUnitExtent, _ bytes: Span<UInt8>) {
    precondition(found < expected.units.count, "a unit too many")
    expected.units[found].expect(unit, bytes)
    found += 1
  }
  var start = 0
  while start < stream.count {
    let end = min(stream.count, start + (borders?.next() ?? stream.count))
    let chunk = stream.span.extracting(start..<end)
    var position = 0
    while let unit = scanner.next(in: chunk, from: &position) {
      take(unit, scanner.bytes(of: unit, in: chunk))
    }
    start = end
  }
  if let unit = scanner.finish() { take(unit, scanner.bytes(of: unit, in: Span())) }
  precondition(found == expected.units.count, "a unit too few")
  precondition(scanner.bytesBeforeFirstUnit == expected.bytesBefore)
  precondition(scanner.leadingZeroBytes == expected.leadingZeros)
  precondition(scanner.trailingZeroBytes == expected.trailingZeros)
}

/// Removes emulation prevention bytes one by one, and compares.
private func checkPayload(_ unit: [UInt8]) {
  var payload: [UInt8] = []
  var places: [Int] = []
  var zeros = 0
  for index in 1..<max(1, unit.count) {
    if unit[index] == 3, zeros >= 2 {
      zeros = 0
      continue
    }
    payload.append(unit[index])
    places.append(index)
    zeros = unit[index] == 0 ? zeros + 1 : 0
  }
  var rbsp = RBSP()
  rbsp.load(unit.span, headerSize: 1)
  precondition(rbsp.bytes == payload, "another payload")
  precondition(rbsp.removedBytes == max(0, unit.count - 1) - payload.count)
  for (index, place) in places.enumerated() {
    precondition(rbsp.bitInUnit(8 * index + 5) == 8 * place + 5, "another place")
  }
}
