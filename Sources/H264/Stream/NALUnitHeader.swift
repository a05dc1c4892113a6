/// The first one to four bytes of a NAL unit (H.264 §7.3.1).
package struct NALUnitHeader: Equatable, Sendable {
  private let first: UInt8
  /// The bytes of the extension, if the type has one and they are there.
  package private(set) var `extension`: Extension?
  /// Bytes that the header takes, also where they are missing.
  package private(set) var size = 1

  /// Reads the header of a NAL unit of one byte or more.
  package init(_ unit: Span<UInt8>) {
    first = unit[0]
    guard type.hasHeaderExtension, unit.count > 1 else { return }
    let isDepth = type == .depthSliceExtension && unit[1] & 0x80 != 0
    size = isDepth ? 3 : 4
    guard unit.count >= size else { return }
    var bits: UInt32 = 0
    for index in 1..<size { bits = bits << 8 | UInt32(unit[index]) }
    let kind: Extension.Kind =
      isDepth ? .avc3D : type != .depthSliceExtension && unit[1] & 0x80 != 0 ? .svc : .mvc
    `extension` = Extension(kind: kind, bits: bits)
  }

  package var forbiddenZeroBit: Bool { first & 0x80 != 0 }
  package var refIDC: Int { Int(first >> 5 & 3) }
  package var type: NALUnitType { NALUnitType(header: first) }

  /// An extension is due, but the unit ends before it.
  package var isTruncated: Bool { type.hasHeaderExtension && `extension` == nil }

  /// What a NAL unit of type 14, 20 or 21 says before its payload.
  package struct Extension: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
      case svc, mvc, avc3D
    }

    package let kind: Kind
    /// The extension's bytes, the flag that tells the kinds apart first.
    fileprivate let bits: UInt32
  }
}

extension NALUnitHeader.Extension {
  /// The structure's name in §7.3.1.
  package var name: String {
    switch kind {
    case .svc: "nal_unit_header_svc_extension"
    case .mvc: "nal_unit_header_mvc_extension"
    case .avc3D: "nal_unit_header_3davc_extension"
    }
  }

  /// Elements and their values in syntax order (F.7.3.1.1, G.7.3.1.1, I.7.3.1.1).
  package var elements: [(name: String, value: Int)] {
    var left = kind == .avc3D ? 15 : 23
    return layout.map { name, width in
      left -= width
      return (name, Int(bits >> UInt32(left)) & (1 << width - 1))
    }
  }

  /// The picture is an IDR picture of its view or layer.
  package var isIDR: Bool {
    switch kind {
    case .svc: bits >> 22 & 1 == 1
    case .mvc: bits >> 22 & 1 == 0
    case .avc3D: bits >> 5 & 1 == 0
    }
  }

  private var layout: [(String, Int)] {
    switch kind {
    case .svc:
      [
        ("idr_flag", 1), ("priority_id", 6), ("no_inter_layer_pred_flag", 1),
        ("dependency_id", 3), ("quality_id", 4), ("temporal_id", 3), ("use_ref_base_pic_flag", 1),
        ("discardable_flag", 1), ("output_flag", 1), ("reserved_three_2bits", 2),
      ]
    case .mvc:
      [
        ("non_idr_flag", 1), ("priority_id", 6), ("view_id", 10), ("temporal_id", 3),
        ("anchor_pic_flag", 1), ("inter_view_flag", 1), ("reserved_one_bit", 1),
      ]
    case .avc3D:
      [
        ("view_idx", 8), ("depth_flag", 1), ("non_idr_flag", 1), ("temporal_id", 3),
        ("anchor_pic_flag", 1), ("inter_view_flag", 1),
      ]
    }
  }
}
