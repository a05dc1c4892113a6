internal import H264
internal import Platform

/// Reads the frames of an index back from the spool, as the decoder takes them.
struct DecodeAccessUnits {
  let index: DecodeIndex

  /// Bytes of a frame at most: twice its raw size, but always a MiB. A macroblock has no more bits than
  /// its samples and 128 (H.264 §A.3.1), and emulation prevention adds half of that at most.
  private var largestSize: Int { max(1 << 20, 2 * index.largestFrame) }

  /// The bytes of frame `entry` in Annex B form.
  ///
  /// With `isFirst`, the parameter sets in force there come first.
  func read(
    _ entry: Int, isFirst: Bool, _ spool: borrowing Spool
  ) throws(Problem) -> [UInt8] {
    let frame = index.entries[entry]
    var bytes: [UInt8] = []
    if isFirst {
      for set in index.parameterSets(before: frame.offset) {
        bytes += [0, 0, 0, 1]
        bytes += try read(set.offset, set.size, spool)
      }
    }
    let content = try readWhole(entry, spool)
    if frame.flags.contains(.mixed) {
      appendUnitsForDecoder(of: content, to: &bytes)
    } else if bytes.isEmpty {
      return content
    } else {
      bytes += content
    }
    return bytes
  }

  /// All NAL units of frame `entry`, in Annex B form.
  func readWhole(_ entry: Int, _ spool: borrowing Spool) throws(Problem) -> [UInt8] {
    let frame = index.entries[entry]
    try check(Int(frame.size), at: frame.offset)
    return try read(frame.offset, Int(frame.size), spool)
  }

  /// Refuses a frame of so many bytes that it cannot be one.
  func check(_ size: Int, at offset: Int) throws(Problem) {
    guard size <= largestSize else {
      throw Problem(
        .undecodable,
        "The picture at byte \(offset) takes \(size) bytes, twice its raw size or more.",
        members: [.init("offset", offset)])
    }
  }

  /// A parameter set of the index, without a start code.
  func read(
    _ set: DecodeIndex.ParameterSet, _ spool: borrowing Spool
  ) throws(Problem) -> [UInt8] {
    try read(set.offset, set.size, spool)
  }

  private func read(
    _ offset: Int, _ size: Int, _ spool: borrowing Spool
  ) throws(Problem) -> [UInt8] {
    try [UInt8](capacity: size) { (output: inout OutputSpan<UInt8>) throws(Problem) in
      try spool.read(at: offset, into: &output)
    }
  }

  private func appendUnitsForDecoder(of content: [UInt8], to bytes: inout [UInt8]) {
    var scanner = StartCodeScanner(search: vectorSearch)
    var position = 0
    let span = content.span
    func append(_ unit: NALUnitExtent) {
      guard unit.size > 0, DecodeUnits.areForDecoder(content[unit.offset] & 31) else { return }
      bytes += [0, 0, 0, 1]
      bytes += content[unit.offset..<unit.end]
    }
    while let unit = scanner.next(in: span, from: &position) { append(unit) }
    if let last = scanner.finish() { append(last) }
  }
}
