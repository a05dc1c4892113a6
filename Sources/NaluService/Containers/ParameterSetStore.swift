internal import H264

/// The parameter sets of a stream that decoders must have before they begin, one for each kind and
/// id, in order of appearance.
struct ParameterSetStore: Sendable {
  private(set) var sets: [Entry] = []
  /// The last of each id, which those that follow refer to.
  private var latest = ParameterSets()
  /// What `sets` has, by id.
  private var sequences: [Int: SequenceParameterSet] = [:]
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
    guard let (name, sequence) = read(unit) else { return false }
    if let place = sets.firstIndex(where: { $0.name == name }) {
      hasChanged = true
      if keepsFirst { return true }
      sets[place].bytes = unit
    } else {
      sets.append(Entry(name: name, bytes: unit))
    }
    if let sequence { sequences[sequence.id] = sequence }
    return true
  }

  /// The kind and id of a set, which is also remembered for reading those that refer to it, and what
  /// a sequence parameter set says.
  private mutating func read(_ unit: [UInt8]) -> (name: Int, sequence: SequenceParameterSet?)? {
    guard let header = unit.first else { return nil }
    var rbsp = RBSP()
    rbsp.load(unit.span, headerSize: 1)
    let payload = rbsp.bytes
    var bits = BitReader(payload.span)
    do throws(SyntaxError) {
      switch NALUnitType(header: header) {
      case .sps:
        let set = try SequenceParameterSet(parsing: &bits)
        latest.store(set)
        return (7 << 8 | set.id, set)
      case .pps:
        let known = latest
        let set = try PictureParameterSet(parsing: &bits) {
          known.chromaFormatIDC(ofSequenceParameterSet: $0)
        }
        latest.store(set)
        return (8 << 8 | set.id, nil)
      case .spsExtension:
        return (13 << 8 | (try bits.ue("seq_parameter_set_id", within: 0...31)), nil)
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

  /// The first sequence parameter set.
  func sequence() -> SequenceParameterSet? {
    sets.first { $0.name >> 8 == 7 }.flatMap { sequences[$0.name & 0xFF] }
  }

  /// The AVCDecoderConfigurationRecord; nil without a sequence parameter set, or when there are
  /// more sets than it can hold.
  var configuration: [UInt8]? {
    AVCDecoderConfiguration(
      Array(sequences.values), sps: units(.sps), pps: units(.pps),
      spsExtensions: units(.spsExtension))?.bytes
  }
}
