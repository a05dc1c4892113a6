/// `nal_unit_type` (H.264 table 7-1).
package struct NALUnitType: RawRepresentable, Hashable, Sendable {
  /// 0 to 31.
  package let rawValue: UInt8

  package init(rawValue: UInt8) {
    self.rawValue = rawValue & 31
  }

  /// The type in the first byte of a NAL unit.
  package init(header: UInt8) {
    rawValue = header & 31
  }

  package static let nonIDRSlice = NALUnitType(rawValue: 1)
  package static let partitionA = NALUnitType(rawValue: 2)
  package static let partitionB = NALUnitType(rawValue: 3)
  package static let partitionC = NALUnitType(rawValue: 4)
  package static let idrSlice = NALUnitType(rawValue: 5)
  package static let sei = NALUnitType(rawValue: 6)
  package static let sps = NALUnitType(rawValue: 7)
  package static let pps = NALUnitType(rawValue: 8)
  package static let accessUnitDelimiter = NALUnitType(rawValue: 9)
  package static let endOfSequence = NALUnitType(rawValue: 10)
  package static let endOfStream = NALUnitType(rawValue: 11)
  package static let fillerData = NALUnitType(rawValue: 12)
  package static let spsExtension = NALUnitType(rawValue: 13)
  package static let prefix = NALUnitType(rawValue: 14)
  package static let subsetSPS = NALUnitType(rawValue: 15)
  package static let depthParameterSet = NALUnitType(rawValue: 16)
  package static let auxiliarySlice = NALUnitType(rawValue: 19)
  package static let sliceExtension = NALUnitType(rawValue: 20)
  package static let depthSliceExtension = NALUnitType(rawValue: 21)
}

extension NALUnitType {
  /// A short name for people.
  package var name: String { Self.names[Int(rawValue)] }

  private static let names: [String] = [
    "unspecified", "non-IDR slice", "slice data partition A", "slice data partition B",
    "slice data partition C", "IDR slice", "SEI", "SPS", "PPS", "AUD", "end of sequence",
    "end of stream", "filler data", "SPS extension", "prefix NAL unit", "subset SPS",
    "depth parameter set", "reserved", "reserved", "auxiliary slice", "slice extension",
    "depth slice extension", "reserved", "reserved", "unspecified", "unspecified", "unspecified",
    "unspecified", "unspecified", "unspecified", "unspecified", "unspecified",
  ]

  /// A slice of the base view or layer with its header: not partitions B and C.
  package var isPrimarySlice: Bool {
    self == .nonIDRSlice || self == .idrSlice || self == .partitionA
  }

  /// Reserved for later editions of the Recommendation.
  package var isReserved: Bool { [17, 18, 22, 23].contains(rawValue) }

  /// Three or two more bytes belong to the header (§7.3.1).
  package var hasHeaderExtension: Bool {
    self == .prefix || self == .sliceExtension || self == .depthSliceExtension
  }

  /// Whether nal_ref_idc must be other than 0 (true) or 0 (false); nil where that depends (§7.4.1).
  package var wantsReference: Bool? {
    switch rawValue {
    case 5, 7, 8, 13, 15: true
    case 6, 9...12: false
    default: nil
    }
  }

  /// After the last slice of a primary coded picture, the first unit of such a type begins the next
  /// access unit (§7.4.1.2.3).
  package var canBeginAccessUnit: Bool {
    (6...9).contains(rawValue) || (14...18).contains(rawValue)
  }

  /// How many bytes of a unit are worth keeping to read its syntax.
  ///
  /// A slice header with every optional part at its longest takes less than 4 KiB; a PPS with an
  /// explicit slice group map of the largest picture 52 KiB.
  package var keptBytes: Int {
    switch rawValue {
    case 1...5, 19...21: 4 << 10
    case 6: 1 << 20
    case 7, 8, 13, 15, 16: 64 << 10
    default: 64
    }
  }
}
