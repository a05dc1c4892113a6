internal import H264

/// The AVCDecoderConfigurationRecord of a stream (ISO/IEC 14496-15 §5.3.3.1), with 4-byte lengths.
struct AVCDecoderConfiguration {
  let bytes: [UInt8]

  /// Nil without a sequence parameter set, or when a set or their number is too large for the record.
  ///
  /// - Parameters:
  ///   - sets: What the sequence parameter sets say, in any order.
  ///   - sps: The same as NAL units.
  ///   - pps: Picture parameter sets.
  ///   - spsExtensions: Sequence parameter set extensions.
  init?(
    _ sets: [SequenceParameterSet], sps: [[UInt8]], pps: [[UInt8]], spsExtensions: [[UInt8]]
  ) {
    guard let set = sets.max(by: { $0.profileIDC < $1.profileIDC }) else { return nil }
    // A flag that all sets have, the highest level of any.
    let constraints = sets.reduce(0xFF) { $0 & $1.constraintFlags }
    let level = sets.reduce(0) { max($0, $1.levelIDC) }
    let all = sps + pps + spsExtensions
    guard !sps.isEmpty, sps.count < 32, pps.count < 256, spsExtensions.count < 256,
      all.allSatisfy({ $0.count <= 0xFFFF })
    else { return nil }
    var record: [UInt8] = [
      1, UInt8(set.profileIDC), UInt8(constraints), UInt8(level), 0b1111_1111,
      0b1110_0000 | UInt8(sps.count),
    ]
    Self.append(sps, to: &record)
    record.append(UInt8(pps.count))
    Self.append(pps, to: &record)
    if ![66, 77, 88].contains(set.profileIDC) {
      record.append(0b1111_1100 | UInt8(set.chromaFormatIDC & 3))
      record.append(0b1111_1000 | UInt8(set.bitDepthLumaMinus8 & 7))
      record.append(0b1111_1000 | UInt8(set.bitDepthChromaMinus8 & 7))
      record.append(UInt8(spsExtensions.count))
      Self.append(spsExtensions, to: &record)
    }
    bytes = record
  }

  private static func append(_ units: [[UInt8]], to record: inout [UInt8]) {
    for unit in units {
      record.append(UInt8(unit.count >> 8))
      record.append(UInt8(unit.count & 0xFF))
      record += unit
    }
  }
}
