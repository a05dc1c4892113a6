/// The two or three bytes behind the first of a NAL unit of type 14, 20 or 21 (H.264 §7.3.1).
package enum NALUnitHeaderExtension: Equatable, Sendable {
  case scalable(Scalable)
  case multiview(Multiview)
  case depth(Depth)

  /// `nal_unit_header_svc_extension()` (H.264 §F.7.3.1.1).
  package struct Scalable: Equatable, Sendable {
    package var idr: Bool
    package var priorityID: Int
    package var noInterLayerPred: Bool
    package var dependencyID: Int
    package var qualityID: Int
    package var temporalID: Int
    package var useRefBasePic: Bool
    package var discardable: Bool
    package var output: Bool
  }

  /// `nal_unit_header_mvc_extension()` (H.264 §G.7.3.1.1).
  package struct Multiview: Equatable, Sendable {
    package var nonIDR: Bool
    package var priorityID: Int
    package var viewID: Int
    package var temporalID: Int
    package var anchorPic: Bool
    package var interView: Bool
  }

  /// `nal_unit_header_3davc_extension()` (H.264 §I.7.3.1.1).
  package struct Depth: Equatable, Sendable {
    package var viewIndex: Int
    package var depth: Bool
    package var nonIDR: Bool
    package var temporalID: Int
    package var anchorPic: Bool
    package var interView: Bool
  }

  /// Whether NAL units of this type have an extension.
  package static func isPresent(inType nalUnitType: Int) -> Bool {
    nalUnitType == 14 || nalUnitType == 20 || nalUnitType == 21
  }

  /// Bytes it takes in the NAL unit, after the first byte.
  package var byteCount: Int {
    if case .depth = self { 2 } else { 3 }
  }

  /// IdrPicFlag of the slice behind it.
  package var isIDR: Bool {
    switch self {
    case .scalable(let header): header.idr
    case .multiview(let header): !header.nonIDR
    case .depth(let header): !header.nonIDR
    }
  }
}

extension NALUnitHeaderExtension {
  /// Parses from `svc_extension_flag` or `avc_3d_extension_flag` on; the reader stands behind the
  /// first byte of the NAL unit.
  package init(parsing reader: inout BitReader, nalUnitType: Int) throws(SyntaxError) {
    if nalUnitType == 21 {
      self =
        try reader.flag("avc_3d_extension_flag")
        ? .depth(try Depth(parsing: &reader)) : .multiview(try Multiview(parsing: &reader))
    } else {
      self =
        try reader.flag("svc_extension_flag")
        ? .scalable(try Scalable(parsing: &reader)) : .multiview(try Multiview(parsing: &reader))
    }
  }
}

extension NALUnitHeaderExtension.Scalable {
  fileprivate init(parsing reader: inout BitReader) throws(SyntaxError) {
    reader.record?.beginObject("nal_unit_header_svc_extension")
    idr = try reader.flag("idr_flag")
    priorityID = try reader.u(6, "priority_id")
    noInterLayerPred = try reader.flag("no_inter_layer_pred_flag")
    dependencyID = try reader.u(3, "dependency_id")
    qualityID = try reader.u(4, "quality_id")
    temporalID = try reader.u(3, "temporal_id")
    useRefBasePic = try reader.flag("use_ref_base_pic_flag")
    discardable = try reader.flag("discardable_flag")
    output = try reader.flag("output_flag")
    _ = try reader.u(2, "reserved_three_2bits", in: 3...3)
    reader.record?.end()
  }
}

extension NALUnitHeaderExtension.Multiview {
  fileprivate init(parsing reader: inout BitReader) throws(SyntaxError) {
    reader.record?.beginObject("nal_unit_header_mvc_extension")
    nonIDR = try reader.flag("non_idr_flag")
    priorityID = try reader.u(6, "priority_id")
    viewID = try reader.u(10, "view_id")
    temporalID = try reader.u(3, "temporal_id")
    anchorPic = try reader.flag("anchor_pic_flag")
    interView = try reader.flag("inter_view_flag")
    _ = try reader.u(1, "reserved_one_bit", in: 1...1)
    reader.record?.end()
  }
}

extension NALUnitHeaderExtension.Depth {
  fileprivate init(parsing reader: inout BitReader) throws(SyntaxError) {
    reader.record?.beginObject("nal_unit_header_3davc_extension")
    viewIndex = try reader.u(8, "view_idx")
    depth = try reader.flag("depth_flag")
    nonIDR = try reader.flag("non_idr_flag")
    temporalID = try reader.u(3, "temporal_id")
    anchorPic = try reader.flag("anchor_pic_flag")
    interView = try reader.flag("inter_view_flag")
    reader.record?.end()
  }
}
