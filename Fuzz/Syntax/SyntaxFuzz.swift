internal import H264

/// libFuzzer's entry: the first byte chooses a parser, the rest is its payload.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSyntax(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard count > 0 else { return 0 }
  let input = [UInt8](UnsafeBufferPointer(start: start, count: count))
  let payload = Array(input.dropFirst())
  switch input[0] % 6 {
  case 0:
    fuzz(payload) { reader throws(SyntaxError) in try SequenceParameterSet(parsing: &reader) }
  case 1:
    fuzz(payload) { reader throws(SyntaxError) in
      try SubsetSequenceParameterSet(parsing: &reader)
    }
  case 2:
    fuzz(payload) { reader throws(SyntaxError) in
      try PictureParameterSet(parsing: &reader) { id in [nil, 1, 3][id % 3] }
    }
  case 3:
    fuzzSlice(payload)
  case 4:
    fuzzSEI(payload)
  default:
    fuzz(payload) { reader throws(SyntaxError) in
      try SupplementalUnits.parseSequenceParameterSetExtension(&reader)
    }
    fuzz(payload) { reader throws(SyntaxError) in
      try DepthSyntax.parseParameterSet(&reader)
    }
    let prefix: [UInt8] = [0x6E, 0x80, 0x00, 0x07]
    fuzz(payload) { reader throws(SyntaxError) in
      try SupplementalUnits.parsePrefix(&reader, unit: NALUnitHeader(prefix.span))
      return 0
    }
  }
  return 0
}

/// Parses with and without a record, which must agree, and checks what every parse promises.
@discardableResult
private func fuzz<Value: Equatable>(
  _ rbsp: [UInt8], _ parse: (inout BitReader) throws(SyntaxError) -> Value
) -> Value? {
  var plain = BitReader(rbsp.span)
  var recording = BitReader(rbsp.span, record: SyntaxRecord())
  let value: Value?
  do throws(SyntaxError) {
    value = try parse(&plain)
  } catch {
    value = nil
    precondition(error.bitOffset >= 0 && error.bitOffset <= rbsp.count * 8)
  }
  let same = try? parse(&recording)
  precondition(value == same, "recording changes the result")
  precondition(plain.issues == recording.issues, "recording changes the issues")
  precondition(plain.position <= rbsp.count * 8 && plain.issues.count <= BitReader.issueLimit)
  if let record = recording.takeRecord() { checkBalance(record) }
  return value
}

private func checkBalance(_ record: SyntaxRecord) {
  var depth = 0
  for event in record.events {
    switch event {
    case .object, .array: depth += 1
    case .end: depth -= 1
    default: break
    }
    precondition(depth >= 0, "more ends than beginnings")
  }
  precondition(depth == 0, "a structure is left open")
}

/// Cuts pieces off the front of `bytes`, each with its length in a byte before it.
private func pieces(_ bytes: [UInt8], _ count: Int) -> [[UInt8]] {
  var rest = bytes[...]
  var pieces: [[UInt8]] = []
  for _ in 0..<count {
    let length = Int(rest.popFirst() ?? 0)
    pieces.append(Array(rest.prefix(length)))
    rest = rest.dropFirst(length)
  }
  return pieces + [Array(rest)]
}

/// Input: SPS, subset SPS, PPS, NAL unit header, slice.
private func fuzzSlice(_ input: [UInt8]) {
  let parts = pieces(input, 4)
  var sets = ParameterSets()
  if let set = fuzz(
    parts[0],
    { reader throws(SyntaxError) in
      try SequenceParameterSet(parsing: &reader)
    })
  {
    sets.store(set)
    derive(set)
  }
  if let set = fuzz(
    parts[1],
    { reader throws(SyntaxError) in
      try SubsetSequenceParameterSet(parsing: &reader)
    })
  {
    sets.store(set)
  }
  if let set = fuzz(
    parts[2],
    { reader throws(SyntaxError) in
      try PictureParameterSet(parsing: &reader) {
        sets.chromaFormatIDC(ofSequenceParameterSet: $0)
      }
    })
  {
    sets.store(set)
  }
  let unit = parts[3].isEmpty ? [0x65] : parts[3]
  fuzz(parts[4]) { reader throws(SyntaxError) in
    var header = SliceHeader()
    try header.parse(&reader, unit: NALUnitHeader(unit.span), parameterSets: sets)
    return header
  }
  fuzz(parts[4]) { reader throws(SyntaxError) in
    try PartitionHead(parsing: &reader, picParameterSetID: 0, parameterSets: sets)
  }
}

/// Input: SPS, SEI messages.
private func fuzzSEI(_ input: [UInt8]) {
  let parts = pieces(input, 1)
  var sets = ParameterSets()
  if let set = fuzz(
    parts[0],
    { reader throws(SyntaxError) in
      try SequenceParameterSet(parsing: &reader)
    })
  {
    sets.store(set)
  }
  fuzz(parts[1]) { reader throws(SyntaxError) in
    SEIMessage.parseAll(&reader, active: nil, parameterSets: sets)
  }
}

/// What is computed from a set must not trap.
private func derive(_ set: SequenceParameterSet) {
  let size = set.displaySize
  precondition(size.map { $0.width <= set.codedSize.width } ?? true)
  _ = (set.frameRate, set.sampleAspectRatio, set.codecString, set.profileName, set.levelName)
  _ = (set.maxDpbFrames, set.maxFrameNum - 1, set.maxPicOrderCntLsb - 1)
  _ = set.codedSize.width * set.codedSize.height * 3
  for decoder in [set.vui?.nalHRD, set.vui?.vclHRD] {
    guard let decoder else { continue }
    for schedule in decoder.schedules {
      precondition(decoder.bitRate(of: schedule) > 0 && decoder.cpbSize(of: schedule) > 0)
    }
  }
}
