internal import H264

/// The parameter sets of a stream that decoders must have before they begin, one for each kind and
/// id, in order of appearance.
struct ParameterSetStore: Sendable {
  private(set) var sets: [Entry] = []
  private var parsed = ParameterSets()
  /// A set came that differs from an earlier one of its kind and id: no list of sets describes the
  /// whole stream.
  private(set) var hasChanged = false

  struct Entry: Equatable, Sendable {
    /// nal_unit_type and id.
    var name: Int
    var bytes: [UInt8]
  }

  /// Sequence and picture parameter sets, and sequence parameter set extensions.
  static func holds(_ type: NALUnitType) -> Bool {
    type == .sps || type == .pps || type == .spsExtension
  }

  /// Takes a NAL unit of one of these types, in place of an earlier one of its kind and id unless
  /// that `keepsFirst`; false when it cannot be read, and so has no place here.
  @discardableResult
  mutating func add(_ unit: [UInt8], keepsFirst: Bool = false) -> Bool {
    if sets.contains(where: { $0.bytes == unit }) { return true }
    guard let name = name(of: unit) else { return false }
    guard let place = sets.firstIndex(where: { $0.name == name }) else {
      sets.append(Entry(name: name, bytes: unit))
      return true
    }
    if sets[place].bytes != unit {
      hasChanged = true
      if !keepsFirst { sets[place].bytes = unit }
    }
    return true
  }

  /// The kind and id of a set, which is also remembered for reading those that refer to it.
  private mutating func name(of unit: [UInt8]) -> Int? {
    guard let header = unit.first else { return nil }
    var rbsp = RBSP()
    rbsp.load(unit.span, headerSize: 1)
    let payload = rbsp.bytes
    var bits = BitReader(payload.span)
    do throws(SyntaxError) {
      switch NALUnitType(header: header) {
      case .sps:
        let set = try SequenceParameterSet(parsing: &bits)
        parsed.store(set)
        return 7 << 8 | set.id
      case .pps:
        let known = parsed
        let set = try PictureParameterSet(parsing: &bits) {
          known.chromaFormatIDC(ofSequenceParameterSet: $0)
        }
        parsed.store(set)
        return 8 << 8 | set.id
      case .spsExtension:
        return 13 << 8 | (try bits.ue("seq_parameter_set_id", within: 0...31))
      default:
        return nil
      }
    } catch {
      return nil
    }
  }

  func units(_ type: NALUnitType) -> [[UInt8]] {
    sets.filter { $0.name >> 8 == Int(type.rawValue) }.map(\.bytes)
  }

  /// The sequence parameter set of that id, or the first.
  func sequence(_ id: Int? = nil) -> SequenceParameterSet? {
    if let id { return parsed.sequenceParameterSet(id) }
    return sets.first { $0.name >> 8 == 7 }.flatMap {
      parsed.sequenceParameterSet($0.name & 0xFF)
    }
  }

  /// The AVCDecoderConfigurationRecord; nil without a sequence parameter set, or when there are
  /// more sets than it can hold.
  var configuration: [UInt8]? {
    sequence().flatMap {
      AVCDecoderConfiguration(
        $0, sps: units(.sps), pps: units(.pps), spsExtensions: units(.spsExtension))?.bytes
    }
  }
}
