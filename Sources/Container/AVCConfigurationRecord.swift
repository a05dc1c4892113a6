/// The AVCDecoderConfigurationRecord of a track (ISO/IEC 14496-15 §5.3.3.1.2).
package struct AVCConfigurationRecord: Equatable, Sendable {
  /// A NAL unit in the record.
  package struct Unit: Equatable, Sendable {
    /// Its header byte, from the first byte of the record.
    package let offset: Int
    package let bytes: [UInt8]
  }

  /// The four fields that only profiles beyond Baseline, Main and Extended have.
  package struct Extension: Equatable, Sendable {
    package let chromaFormat: Int
    package let bitDepthLumaMinus8: Int
    package let bitDepthChromaMinus8: Int
    package let sequenceParameterSetExtensions: [Unit]
  }

  /// The whole record.
  package let bytes: [UInt8]
  package let configurationVersion: Int
  package let profileIndication: Int
  package let profileCompatibility: Int
  package let levelIndication: Int
  package let lengthSizeMinusOne: Int
  package private(set) var sequenceParameterSets: [Unit] = []
  package private(set) var pictureParameterSets: [Unit] = []
  package private(set) var `extension`: Extension?
  /// What is wrong with the record; nil when nothing is.
  package private(set) var defect: String?

  package var lengthSize: Int { lengthSizeMinusOne + 1 }

  /// Every NAL unit in it, in order.
  package var units: [Unit] {
    sequenceParameterSets + pictureParameterSets
      + (`extension`?.sequenceParameterSetExtensions ?? [])
  }

  /// Reads a record as far as it goes; nil when it does not reach to `lengthSizeMinusOne`.
  package init?(parsing bytes: [UInt8]) {
    guard bytes.count >= 5 else { return nil }
    self.bytes = bytes
    var fields = ByteFields(bytes)
    configurationVersion = fields.number(1)
    profileIndication = fields.number(1)
    profileCompatibility = fields.number(1)
    levelIndication = fields.number(1)
    lengthSizeMinusOne = fields.number(1) & 3
    sequenceParameterSets = Self.units(&fields, count: fields.number(1) & 31)
    pictureParameterSets = Self.units(&fields, count: fields.number(1))
    if ![66, 77, 88].contains(profileIndication), !fields.isShort, fields.left >= 4 {
      `extension` = Extension(
        chromaFormat: fields.number(1) & 3, bitDepthLumaMinus8: fields.number(1) & 7,
        bitDepthChromaMinus8: fields.number(1) & 7,
        sequenceParameterSetExtensions: Self.units(&fields, count: fields.number(1)))
    }
    if configurationVersion != 1 {
      defect = "configurationVersion is \(configurationVersion), not 1"
    } else if lengthSizeMinusOne == 2 {
      defect = "lengthSizeMinusOne is 2, which is reserved"
    } else if fields.isShort {
      defect = "the record ends inside its parameter sets"
    }
  }

  private static func units(_ fields: inout ByteFields, count: Int) -> [Unit] {
    var units: [Unit] = []
    for _ in 0..<count where !fields.isShort {
      let length = fields.number(2)
      let offset = fields.position
      let bytes = fields.take(length)
      if !fields.isShort { units.append(Unit(offset: offset, bytes: bytes)) }
    }
    return units
  }
}
