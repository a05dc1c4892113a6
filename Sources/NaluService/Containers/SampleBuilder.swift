internal import H264
internal import Platform

/// Rewrites access units as a format wants them: start codes or lengths, parameter sets inside or
/// not, delimiters.
struct SampleBuilder: Sendable {
  /// Where the parameter sets of the result are.
  enum Placement: Equatable, Sendable {
    /// In the configuration record only.
    case apart
    /// In the access units as they come.
    case asTheyCome
    /// In every keyframe, whether they came there or not.
    case atKeyframes
  }

  var hasStartCodes: Bool
  var placement: Placement
  /// Every access unit begins with a delimiter.
  var addsDelimiters = false
  /// What is put into keyframes.
  var parameterSets: ParameterSetStore
  private var isFirst = true

  init(hasStartCodes: Bool, placement: Placement, parameterSets: ParameterSetStore) {
    self.hasStartCodes = hasStartCodes
    self.placement = placement
    self.parameterSets = parameterSets
  }

  /// The access unit in the form that is wanted; nil when it has that form already.
  mutating func build(
    _ bytes: [UInt8], _ layout: AccessUnitLayout, isKeyframe: Bool
  ) -> [UInt8]? {
    let types = layout.units.map { NALUnitType(header: bytes[$0.lowerBound]) }
    let sets = setsToInsert(bytes, layout, types, isKeyframe: isKeyframe)
    let drops = placement == .apart && types.contains(where: ParameterSetStore.holds)
    let addsDelimiter = addsDelimiters && types.first != .accessUnitDelimiter
    isFirst = false
    if layout.isPlain, !hasStartCodes, !drops, sets.isEmpty, !addsDelimiter { return nil }
    var sample: [UInt8] = []
    sample.reserveCapacity(bytes.count + 4 * layout.units.count + 16)
    if addsDelimiter { append([0x09, 0xF0].span, to: &sample) }
    let place = sets.isEmpty ? nil : Self.placeForSets(types)
    for (index, (range, type)) in zip(layout.units, types).enumerated() {
      if index == place { for set in sets { append(set.span, to: &sample) } }
      if drops, ParameterSetStore.holds(type), isApart(bytes, range) { continue }
      append(bytes.span.extracting(range), to: &sample)
    }
    return sample
  }

  /// In front of which unit sets are put that the access unit lacks: picture parameter sets follow the
  /// sequence parameter sets that it has.
  private static func placeForSets(_ types: [NALUnitType]) -> Int? {
    if let last = types.lastIndex(where: { $0 == .sps || $0 == .spsExtension }) { return last + 1 }
    return types.firstIndex { $0 != .accessUnitDelimiter }
  }

  /// The configuration record has this set.
  private func isApart(_ bytes: [UInt8], _ range: Range<Int>) -> Bool {
    parameterSets.sets.contains { $0.bytes.elementsEqual(bytes[range]) }
  }

  /// What a keyframe lacks: all sets, if it has none itself.
  private mutating func setsToInsert(
    _ bytes: [UInt8], _ layout: AccessUnitLayout, _ types: [NALUnitType], isKeyframe: Bool
  ) -> [[UInt8]] {
    guard placement == .atKeyframes else { return [] }
    for (range, type) in zip(layout.units, types) where ParameterSetStore.holds(type) {
      parameterSets.add(Array(bytes[range]))
    }
    guard isKeyframe || isFirst else { return [] }
    let hasSPS = types.contains(.sps)
    if hasSPS, types.contains(.pps) { return [] }
    return (hasSPS ? [] : parameterSets.units(.sps) + parameterSets.units(.spsExtension))
      + (types.contains(.pps) ? [] : parameterSets.units(.pps))
  }

  private func append(_ unit: Span<UInt8>, to sample: inout [UInt8]) {
    if hasStartCodes {
      sample += [0, 0, 0, 1]
    } else {
      let size = unit.count
      sample += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: size >> $0) }
    }
    sample.append(copying: unit)
  }
}
