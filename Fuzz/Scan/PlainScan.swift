internal import H264

/// H.264 B.1.2 word by word, with the whole stream at hand and one byte looked at after another.
struct PlainScan {
  struct Unit {
    var offset: Int
    var size: Int
    var startCodeSize: Int
    var trailingZeros = 0
    var dataAfterEnd: Int?
    var violation: Int?
    var kept: [UInt8]
  }

  private(set) var units: [Unit] = []
  private(set) var bytesBefore = 0
  private(set) var leadingZeros = 0
  private(set) var trailingZeros = 0

  init(_ stream: [UInt8]) {
    let codes = stream.indices.filter { Self.has(1, after: 2, in: stream, at: $0) }
    guard let first = codes.first else { return }
    let firstRun = first - Self.zeros(before: first, in: stream)
    bytesBefore = firstRun
    leadingZeros = firstRun == 0 ? max(0, first - 3) : 0
    for (number, code) in codes.enumerated() {
      let next = number + 1 < codes.count ? codes[number + 1] : nil
      let unit = Self.unit(behind: code, before: next, in: stream)
      trailingZeros += unit.trailingZeros
      units.append(unit)
    }
  }

  /// The unit whose start code ends at `code`; that of the next one ends at `next`.
  private static func unit(behind code: Int, before next: Int?, in stream: [UInt8]) -> Unit {
    let start = code + 1
    // Where the zero bytes of the next start code begin.
    let limit = next.map { $0 - min(3, zeros(before: $0, in: stream, from: start)) } ?? stream.count
    var end = start
    while end < limit, !(end + 2 < stream.count && stream[end...end + 2].allSatisfy { $0 == 0 }) {
      end += 1
    }
    if next == nil, end == stream.count {
      while end > start, stream[end - 1] == 0 { end -= 1 }
    }
    var unit = Unit(
      offset: start, size: end - start,
      startCodeSize: zeros(before: code, in: stream) > 2 ? 4 : 3, kept: [])
    if let data = stream[end..<max(end, limit)].firstIndex(where: { $0 != 0 }) {
      unit.dataAfterEnd = data
    } else {
      unit.trailingZeros = limit - end
    }
    let body = Array(stream[start..<end])
    unit.violation = body.indices.first { isViolation(body, at: $0) }.map { start + $0 }
    if let header = body.first {
      unit.kept = Array(body.prefix(NALUnitType(header: header).keptBytes))
    }
    return unit
  }

  /// §7.4.1: `00 00 02`, or `00 00 03` in front of a byte above 3.
  private static func isViolation(_ body: [UInt8], at index: Int) -> Bool {
    has(2, after: 2, in: body, at: index)
      || index > 0 && body[index] > 3 && has(3, after: 2, in: body, at: index - 1)
  }

  private static func has(_ byte: UInt8, after zeros: Int, in bytes: [UInt8], at index: Int) -> Bool
  {
    bytes[index] == byte && index >= zeros && bytes[index - zeros..<index].allSatisfy { $0 == 0 }
  }

  /// Zero bytes right before `index`, down to `first`.
  private static func zeros(before index: Int, in bytes: [UInt8], from first: Int = 0) -> Int {
    var start = index
    while start > first, bytes[start - 1] == 0 { start -= 1 }
    return index - start
  }
}

extension PlainScan.Unit {
  func expect(_ unit: NALUnitExtent, _ bytes: Span<UInt8>) {
    precondition(unit.offset == offset, "another offset")
    precondition(unit.size == size, "another size")
    precondition(unit.startCodeSize == startCodeSize, "another start code")
    precondition(unit.trailingZeroBytes == trailingZeros, "other trailing zeros")
    precondition(unit.dataAfterEnd == dataAfterEnd, "other data after the end")
    precondition(unit.violation == violation, "another violation")
    precondition(
      kept.count == bytes.count && kept.indices.allSatisfy { kept[$0] == bytes[$0] }, "other bytes")
  }
}
