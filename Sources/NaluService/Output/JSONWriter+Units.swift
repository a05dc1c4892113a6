internal import H264

/// NAL units and access units are what a report has most of: each is put into room that is made
/// once, out of pieces that are ready.
extension JSONWriter {
  /// The members of a NAL unit's object.
  mutating func members(_ unit: UnitRecord) {
    appendRaw(capacity: UnitPieces.capacity) { line in
      line.put(UnitPieces.index, unit.index)
      line.put(UnitPieces.offset, unit.offset)
      if unit.lengthSize > 0 {
        line.put(UnitPieces.lengthSize, unit.lengthSize)
      } else {
        line.put(UnitPieces.startCodeSize, unit.startCodeSize)
      }
      line.put(UnitPieces.size, unit.size)
      if unit.trailingZeroBytes > 0 {
        line.put(UnitPieces.trailingZeroBytes, unit.trailingZeroBytes)
      }
      line.put(UnitPieces.refIDC, unit.refIDC)
      line.put(UnitPieces.type[Int(unit.type.rawValue)])
      line.put(UnitPieces.accessUnit, unit.accessUnit)
      line.put(unit.isKeyframe ? UnitPieces.keyframe : UnitPieces.noKeyframe)
      if let slice = unit.slice {
        line.put(UnitPieces.slice[slice.rawValue])
        line.put(UnitPieces.sliceQP, unit.sliceQP)
      }
    }
    raw(unit.details)
  }
}

extension JSONWriter {
  /// The members of an access unit's object.
  mutating func members(_ unit: AccessUnitRecord, outputIndex: Int) {
    appendRaw(capacity: AccessUnitPieces.capacity) { line in
      line.put(AccessUnitPieces.index, unit.index)
      line.put(AccessUnitPieces.firstUnit, unit.firstUnit)
      line.put(AccessUnitPieces.unitCount, unit.unitCount)
      line.put(AccessUnitPieces.offset, unit.offset)
      line.put(AccessUnitPieces.size, unit.size)
      if let type = unit.type {
        line.put(AccessUnitPieces.type[type.rawValue])
      } else {
        line.put(AccessUnitPieces.noType)
      }
      line.put(AccessUnitPieces.structure(unit.structure))
      line.put(AccessUnitPieces.sliceCount, unit.sliceCount)
      line.put(AccessUnitPieces.frameIndex, unit.frameIndex)
      line.put(AccessUnitPieces.frameNum, unit.frameNum)
      line.put(AccessUnitPieces.picOrderCnt, unit.picOrderCnt)
      line.put(AccessUnitPieces.outputIndex, unit.picOrderCnt == nil ? nil : outputIndex)
      line.put(
        unit.isReference ? AccessUnitPieces.reference : AccessUnitPieces.noReference)
      line.put(unit.isKeyframe ? UnitPieces.keyframe : UnitPieces.noKeyframe)
      switch unit.randomAccess {
      case .idr: line.put(AccessUnitPieces.idr)
      case .recoveryPoint: line.put(AccessUnitPieces.recoveryPoint)
      case .gradual(let frames): line.put(AccessUnitPieces.gradual, frames)
      case nil: line.put(AccessUnitPieces.noRandomAccess)
      }
      if let times = unit.times {
        line.put(AccessUnitPieces.pts, times.pts)
        line.put(AccessUnitPieces.dts, times.dts)
        line.put(AccessUnitPieces.duration, times.duration)
      }
    }
  }
}

private enum AccessUnitPieces {
  /// More than the members take with the longest numbers.
  static let capacity = 768

  static let index = Array("\"index\":".utf8)
  static let firstUnit = Array(",\"nal_unit\":".utf8)
  static let unitCount = Array(",\"nal_unit_count\":".utf8)
  static let offset = Array(",\"offset\":".utf8)
  static let size = Array(",\"size\":".utf8)
  static let type = (0..<5).map { value -> [UInt8] in
    Array(",\"picture_type\":\"\(SliceType(rawValue: value)?.name ?? "")\"".utf8)
  }
  static let noType = Array(",\"picture_type\":null".utf8)
  static let frame = Array(",\"picture_structure\":\"frame\"".utf8)
  static let topField = Array(",\"picture_structure\":\"top_field\"".utf8)
  static let bottomField = Array(",\"picture_structure\":\"bottom_field\"".utf8)
  static let sliceCount = Array(",\"slice_count\":".utf8)
  static let frameIndex = Array(",\"frame_index\":".utf8)
  static let frameNum = Array(",\"frame_num\":".utf8)
  static let picOrderCnt = Array(",\"pic_order_cnt\":".utf8)
  static let outputIndex = Array(",\"output_index\":".utf8)
  static let reference = Array(",\"is_reference\":true".utf8)
  static let noReference = Array(",\"is_reference\":false".utf8)
  static let idr = Array(",\"random_access\":\"idr\"".utf8)
  static let recoveryPoint = Array(",\"random_access\":\"recovery_point\"".utf8)
  static let gradual = Array(",\"random_access\":\"gdr\",\"recovery_frame_cnt\":".utf8)
  static let pts = Array(",\"pts\":".utf8)
  static let dts = Array(",\"dts\":".utf8)
  static let duration = Array(",\"duration\":".utf8)
  static let noRandomAccess = Array(",\"random_access\":null".utf8)

  static func structure(_ structure: PictureStructure) -> [UInt8] {
    switch structure {
    case .frame: frame
    case .topField: topField
    case .bottomField: bottomField
    }
  }
}

private enum UnitPieces {
  /// More than the members take with the longest numbers.
  static let capacity = 512

  static let index = Array("\"index\":".utf8)
  static let offset = Array(",\"offset\":".utf8)
  static let startCodeSize = Array(",\"start_code_size\":".utf8)
  static let lengthSize = Array(",\"start_code_size\":null,\"length_size\":".utf8)
  static let size = Array(",\"size\":".utf8)
  static let trailingZeroBytes = Array(",\"trailing_zero_bytes\":".utf8)
  static let refIDC = Array(",\"nal_ref_idc\":".utf8)
  static let type = (0..<32).map { value -> [UInt8] in
    let name = NALUnitType(rawValue: UInt8(value)).name
    return Array(",\"nal_unit_type\":\(value),\"name\":\"\(name)\"".utf8)
  }
  static let accessUnit = Array(",\"access_unit\":".utf8)
  static let keyframe = Array(",\"keyframe\":true".utf8)
  static let noKeyframe = Array(",\"keyframe\":false".utf8)
  static let slice = (0..<5).map { value -> [UInt8] in
    Array(",\"slice\":\"\(SliceType(rawValue: value)?.name ?? "")\"".utf8)
  }
  static let sliceQP = Array(",\"slice_qp\":".utf8)
}
