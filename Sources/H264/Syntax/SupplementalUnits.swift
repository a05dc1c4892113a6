/// NAL units with a few elements that nothing else depends on: read for the record.
package enum SupplementalUnits {
  /// `access_unit_delimiter_rbsp()` (H.264 §7.3.2.4).
  package static func parseAccessUnitDelimiter(
    _ reader: inout BitReader
  ) throws(SyntaxError) -> Int {
    let type = try reader.u(3, "primary_pic_type")
    reader.rbspTrailingBits()
    return type
  }

  /// `seq_parameter_set_extension_rbsp()` (H.264 §7.3.2.1.2): what auxiliary pictures mean.
  package static func parseSequenceParameterSetExtension(
    _ reader: inout BitReader
  ) throws(SyntaxError) -> Int {
    let id = try reader.ue("seq_parameter_set_id", within: 0...31)
    if try reader.ue("aux_format_idc", in: 0...3) != 0 {
      let depth = try reader.ue("bit_depth_aux_minus8", in: 0...4, within: 0...23)
      _ = try reader.flag("alpha_incr_flag")
      _ = try reader.u(depth + 9, "alpha_opaque_value")
      _ = try reader.u(depth + 9, "alpha_transparent_value")
    }
    _ = try reader.flag("additional_extension_flag")
    reader.rbspTrailingBits()
    return id
  }

  /// `prefix_nal_unit_rbsp()` (H.264 §7.3.2.12, §F.7.3.2.12.1) of a NAL unit of type 14.
  package static func parsePrefix(
    _ reader: inout BitReader, unit: NALUnitHeader
  ) throws(SyntaxError) {
    guard unit.extension?.kind == .svc else { return }
    if unit.refIDC != 0 {
      let stores = try reader.flag("store_ref_base_pic_flag")
      if unit.element("use_ref_base_pic_flag") == 1 || stores, unit.element("idr_flag") == 0 {
        try SliceHeader.skipDecRefBasePicMarking(&reader)
      }
      if try reader.flag("additional_prefix_nal_unit_extension_flag") {
        reader.skipToTrailingBits()
      }
    } else if reader.moreRBSPData() {
      reader.skipToTrailingBits()
    } else {
      return
    }
    reader.rbspTrailingBits()
  }
}

/// The head of data partition B or C (H.264 §7.3.2.9.2, §7.3.2.9.3).
package struct PartitionHead: Equatable, Sendable {
  package var sliceID = 0
  package var redundantPicCnt = 0
}

extension PartitionHead {
  /// Parses `slice_id` and what follows it before the slice data.
  ///
  /// A partition does not say which parameter sets it is read with: those of the partition A before
  /// it, whose picture parameter set id the caller gives.
  package init(
    parsing reader: inout BitReader, picParameterSetID id: Int, parameterSets: ParameterSets
  ) throws(SyntaxError) {
    sliceID = try reader.ue("slice_id")
    guard (0...255).contains(id), let pps = parameterSets.steering(ofPictureParameterSet: id)
    else {
      throw SyntaxError("slice_id", at: 0, .missingPictureParameterSet(id))
    }
    let spsID = pps.sequenceParameterSetID
    guard let sps = parameterSets.steering(ofSequenceParameterSet: spsID, beyondBase: false)
    else {
      throw SyntaxError("slice_id", at: 0, .missingSequenceParameterSet(spsID))
    }
    if sps.separateColourPlane { _ = try reader.u(2, "colour_plane_id", in: 0...2) }
    if pps.redundantPicCntPresent {
      redundantPicCnt = try reader.ue("redundant_pic_cnt", in: 0...127)
    }
  }
}
