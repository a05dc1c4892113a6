internal import H264

/// The length fields of bare length-prefixed NAL units, found by trying.
package enum LengthPrefix {
  /// What `lengthSizeMinusOne` allows (ISO/IEC 14496-15 §5.3.3.1.2), likeliest first.
  package static let sizes = [4, 2, 1]

  /// The size in bytes of the length fields in a stream that begins with `head`; nil when it is none
  /// of length-prefixed NAL units.
  ///
  /// The lengths lead from one NAL unit that makes sense to the next, and a sequence parameter set is
  /// among the first.
  package static func size(in head: Span<UInt8>) -> Int? {
    sizes.first { lengthSize in
      guard let chain = chain(in: head, lengthSize: lengthSize), chain.hasSPS else { return false }
      // Nothing but a sequence parameter set must be one to its last byte.
      return chain.units > 1 || chain.end == head.count
    }
  }

  /// Lengths of that size lead past two NAL units or more that make sense, or past one exactly to
  /// the end of `head`.
  package static func leads(through head: Span<UInt8>, lengthSize: Int) -> Bool {
    guard let chain = chain(in: head, lengthSize: lengthSize) else { return false }
    return chain.wholeUnits > 1 || chain.units == 1 && chain.end == head.count
  }

  /// NAL units that follow each other by their lengths.
  private struct Chain {
    var units = 0
    /// Lengths of 0.
    var gaps = 0
    /// Those that end in the bytes that are there.
    var wholeUnits = 0
    var hasSPS = false
    /// Where the last one ends, maybe beyond the bytes that are there.
    var end = 0
  }

  private static let triedUnits = 64

  /// Nil when lengths of that size do not lead from one unit that makes sense to the next.
  private static func chain(in head: Span<UInt8>, lengthSize: Int) -> Chain? {
    var chain = Chain()
    while chain.units < triedUnits, chain.end + lengthSize < head.count {
      let start = chain.end + lengthSize
      var length = 0
      for index in chain.end..<start { length = length << 8 | Int(head[index]) }
      chain.end = start + length
      // Some writers have an empty unit here and there. The upper half of a longer length field is no
      // unit.
      if length == 0 {
        chain.gaps += 1
        continue
      }
      guard isPlausible(head[start], length: length), chain.gaps < 2 + chain.units / 8 else {
        return nil
      }
      chain.units += 1
      guard chain.end <= head.count else { break }
      chain.wholeUnits += 1
      if NALUnitType(header: head[start]) == .sps {
        guard isSPS(head.extracting(start..<chain.end)) else { return nil }
        chain.hasSPS = true
      }
    }
    return chain
  }

  /// A NAL unit of `length` bytes may begin with that byte (§7.4.1).
  private static func isPlausible(_ header: UInt8, length: Int) -> Bool {
    let type = NALUnitType(header: header)
    guard header & 0x80 == 0, (1...16).contains(type.rawValue) || (19...21).contains(type.rawValue)
    else { return false }
    if let wanted = type.wantsReference, wanted != (header & 0x60 != 0) { return false }
    return length > 1 || type == .endOfSequence || type == .endOfStream || type == .fillerData
  }

  private static func isSPS(_ unit: Span<UInt8>) -> Bool {
    guard unit.count <= NALUnitType.sps.keptBytes else { return false }
    var payload = RBSP()
    payload.load(unit, headerSize: 1)
    var reader = BitReader(payload.bytes.span)
    do throws(SyntaxError) {
      return try SequenceParameterSet(parsing: &reader).profileName != nil
    } catch {
      return false
    }
  }
}
