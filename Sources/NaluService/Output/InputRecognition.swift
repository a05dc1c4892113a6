internal import H264

/// Tells H.264 from other data that happens to contain start codes.
///
/// A parameter set, or a slice of known parameter sets, decides at once. A slice or PPS of which
/// only the ids make sense needs to come first in the stream, or to outnumber what contradicts.
struct InputRecognition: Sendable {
  enum Evidence: Equatable, Sendable {
    /// Read in full, with values that random data hardly has.
    case strong
    /// Read as far as its ids.
    case weak
    /// Nothing that an H.264 stream should have.
    case contrary
    case none
  }

  private(set) var isRecognised = false
  /// NAL units had two-byte headers as those of H.265.
  private(set) var looksLikeH265 = false
  private var weak = 0
  private var contrary = 0
  private var needsMore = false

  init() {}

  /// Something else precedes the first start code.
  mutating func noteLeadingData() {
    needsMore = true
  }

  /// Judges the next NAL unit, of which the parser thinks `evidence`.
  mutating func add(_ header: NALUnitHeader, _ unit: Span<UInt8>, _ evidence: Evidence) {
    guard !isRecognised else { return }
    let isH265 = unit.count > 1 && unit[0] & 0x81 == 0 && (1...7).contains(unit[1])
    if isH265, [0x40, 0x42, 0x44].contains(unit[0]) { looksLikeH265 = true }
    switch Self.judge(header, evidence, isH265: isH265) {
    case .strong:
      isRecognised = true
    case .weak:
      weak += 1
      isRecognised = weak > 2 * contrary + (needsMore ? 1 : 0)
    case .contrary:
      contrary += 1
    case .none:
      break
    }
  }

  private static func judge(
    _ header: NALUnitHeader, _ evidence: Evidence, isH265: Bool
  ) -> Evidence {
    if header.forbiddenZeroBit { return .contrary }
    switch header.type {
    case .idrSlice, .sps, .pps:
      // §7.4.1: never with nal_ref_idc 0.
      if evidence == .none || header.refIDC == 0 && evidence == .weak { return .contrary }
    case .nonIDRSlice:
      if evidence == .none { return .contrary }
    default:
      let type = header.type.rawValue
      return type == 0 || type > 21 || isH265 ? .contrary : .none
    }
    return isH265 && evidence == .weak ? .contrary : evidence
  }
}
