internal import H264
internal import Platform

/// NAL units are what a report has most of: each is put into room that is made once, out of pieces
/// that are ready.
extension JSONWriter {
  /// The members of a NAL unit's object.
  mutating func members(_ unit: UnitRecord) {
    appendRaw(capacity: UnitPieces.capacity) { line in
      line.put(UnitPieces.index, unit.index)
      line.put(UnitPieces.offset, unit.offset)
      line.put(UnitPieces.startCodeSize, unit.startCodeSize)
      line.put(UnitPieces.size, unit.size)
      if unit.trailingZeroBytes > 0 {
        line.put(UnitPieces.trailingZeroBytes, unit.trailingZeroBytes)
      }
      line.put(UnitPieces.refIDC, unit.refIDC)
      line.put(UnitPieces.type[Int(unit.type.rawValue)])
      line.put(UnitPieces.accessUnit, unit.accessUnit)
      line.put(unit.isKeyframe ? UnitPieces.keyframe : UnitPieces.noKeyframe)
      if let slice = unit.slice {
        line.put(UnitPieces.slice[slice.rawValue])
        line.put(UnitPieces.sliceQP, unit.sliceQP)
      }
    }
    raw(unit.details)
  }
}

private enum UnitPieces {
  /// More than the members take with the longest numbers.
  static let capacity = 512

  static let index = Array("\"index\":".utf8)
  static let offset = Array(",\"offset\":".utf8)
  static let startCodeSize = Array(",\"start_code_size\":".utf8)
  static let size = Array(",\"size\":".utf8)
  static let trailingZeroBytes = Array(",\"trailing_zero_bytes\":".utf8)
  static let refIDC = Array(",\"nal_ref_idc\":".utf8)
  static let type = (0..<32).map { value -> [UInt8] in
    let name = NALUnitType(rawValue: UInt8(value)).name
    return Array(",\"nal_unit_type\":\(value),\"name\":\"\(name)\"".utf8)
  }
  static let accessUnit = Array(",\"access_unit\":".utf8)
  static let keyframe = Array(",\"keyframe\":true".utf8)
  static let noKeyframe = Array(",\"keyframe\":false".utf8)
  static let slice = (0..<5).map { value -> [UInt8] in
    Array(",\"slice\":\"\(SliceType(rawValue: value)?.name ?? "")\"".utf8)
  }
  static let sliceQP = Array(",\"slice_qp\":".utf8)
}

extension OutputSpan where Element == UInt8 {
  @_lifetime(self: copy self)
  fileprivate mutating func put(_ piece: [UInt8]) {
    append(fitting: piece.span)
  }

  @_lifetime(self: copy self)
  fileprivate mutating func put(_ piece: [UInt8], _ number: Int) {
    append(fitting: piece.span)
    append(decimal: number)
  }

  @_lifetime(self: copy self)
  fileprivate mutating func put(_ piece: [UInt8], _ number: Int?) {
    append(fitting: piece.span)
    if let number {
      append(decimal: number)
    } else {
      append(fitting: "null".utf8.span)
    }
  }

  /// Appends the digits of a number, for which there must be room.
  @_lifetime(self: copy self)
  mutating func append(decimal number: Int) {
    if number < 0 { append(UInt8(ascii: "-")) }
    var rest = number.magnitude
    guard rest > 9 else {
      append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest))
      return
    }
    var digits = InlineArray<20, UInt8>(repeating: 0)
    var first = 20
    while rest > 0 {
      first &-= 1
      let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
      digits[first] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit)
      rest = quotient
    }
    for index in first..<20 { append(digits[index]) }
  }
}
