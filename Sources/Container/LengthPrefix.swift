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
    sizes.first { isChain(head, lengthSize: $0) }
  }

  private static let triedUnits = 64

  private static func isChain(_ head: Span<UInt8>, lengthSize: Int) -> Bool {
    var position = 0
    var units = 0
    var hasSPS = false
    while units < triedUnits, position + lengthSize < head.count {
      var length = 0
      for index in position..<position + lengthSize { length = length << 8 | Int(head[index]) }
      position += lengthSize
      guard length > 0, isPlausible(head[position], length: length) else { return false }
      let end = position + length
      if end <= head.count, NALUnitType(header: head[position]) == .sps {
        guard isSPS(head.extracting(position..<end)) else { return false }
        hasSPS = true
      }
      units += 1
      position = end
    }
    // Nothing but a sequence parameter set must be one to its last byte.
    return hasSPS && (units > 1 || position == head.count)
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
