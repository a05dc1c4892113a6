/// A subset sequence parameter set (H.264 §7.3.2.1.3): what the layers and views beyond the base
/// are coded with.
package struct SubsetSequenceParameterSet: Equatable, Sendable {
  package var data = SequenceParameterSet()
  /// For the profiles of Annex F.
  package var scalable: ScalableExtension?
  /// For the profiles of Annexes G to I: view_id of each view, in coding order.
  package var viewIDs: [Int] = []
  /// For the 3D-AVC profile of Annex I.
  package var depth: DepthCodingExtension?
}

extension SubsetSequenceParameterSet {
  /// Parses the payload of a NAL unit of type 15. A broken extension is an issue, not an error.
  package init(parsing reader: inout BitReader) throws(SyntaxError) {
    guard try data.parseData(&reader) else { return }
    do throws(SyntaxError) {
      try parseExtensions(&reader)
      if try reader.flag("additional_extension2_flag") { reader.skipToTrailingBits() }
      reader.rbspTrailingBits()
    } catch {
      reader.note(error)
    }
  }

  private mutating func parseExtensions(_ reader: inout BitReader) throws(SyntaxError) {
    switch data.profileIDC {
    case 83, 86:
      scalable = try ScalableExtension(
        parsing: &reader, chromaArrayType: data.chromaArrayType)
      if try reader.flag("svc_vui_parameters_present_flag") {
        try ScalableExtension.skipVUI(&reader)
      }
    case 118, 128, 134:
      _ = try reader.u(1, "bit_equal_to_one", in: 1...1)
      viewIDs = try MultiviewSyntax.parseExtension(
        &reader, isFrameCompatible: data.profileIDC == 134, frameMbsOnly: data.frameMbsOnly)
      if try reader.flag("mvc_vui_parameters_present_flag") {
        try MultiviewSyntax.skipVUI(&reader)
      }
    case 135, 138, 139:
      _ = try reader.u(1, "bit_equal_to_one", in: 1...1)
      let views = try MultiviewSyntax.parseDepthExtension(&reader)
      viewIDs = views.ids
      if data.profileIDC == 139 {
        depth = try DepthCodingExtension(parsing: &reader, views: views)
      }
    default:
      break
    }
  }
}
