extension SequenceParameterSet {
  /// At most 2^32, whatever a broken stream says.
  package var maxFrameNum: Int { 1 << min(log2MaxFrameNum, 32) }

  /// At most 2^32, whatever a broken stream says.
  package var maxPicOrderCntLsb: Int { 1 << min(log2MaxPicOrderCntLsb, 32) }

  /// ChromaArrayType: chroma_format_idc, but 0 when the colour planes are coded separately.
  package var chromaArrayType: Int { separateColourPlane ? 0 : chromaFormatIDC }

  package var bitDepthLuma: Int { 8 + bitDepthLumaMinus8 }

  package var bitDepthChroma: Int { 8 + bitDepthChromaMinus8 }

  /// FrameHeightInMbs (equation 7-18).
  package var frameHeightInMbs: Int { (frameMbsOnly ? 1 : 2) * picHeightInMapUnits }

  /// PicSizeInMapUnits (equation 7-17).
  package var picSizeInMapUnits: Int { picWidthInMbs * picHeightInMapUnits }

  /// Frame size in macroblocks.
  package var frameSizeInMbs: Int { picWidthInMbs * frameHeightInMbs }

  /// Size of the decoded frame before cropping, in luma samples.
  package var codedSize: (width: Int, height: Int) {
    (16 * picWidthInMbs, 16 * frameHeightInMbs)
  }

  /// Luma samples that one crop offset stands for (equations 7-19 to 7-22, table 6-1).
  package var cropUnit: (x: Int, y: Int) {
    let fieldFactor = frameMbsOnly ? 1 : 2
    return switch chromaArrayType {
    case 1: (2, 2 * fieldFactor)
    case 2: (2, fieldFactor)
    default: (1, fieldFactor)
    }
  }

  /// Luma samples cut from each side of the coded frame.
  package var crop: Cropping {
    guard let cropping else { return Cropping(left: 0, right: 0, top: 0, bottom: 0) }
    let unit = cropUnit
    return Cropping(
      left: unit.x * cropping.left, right: unit.x * cropping.right,
      top: unit.y * cropping.top, bottom: unit.y * cropping.bottom)
  }

  /// Size of the output frame, in luma samples; nil when cropping leaves nothing.
  package var displaySize: (width: Int, height: Int)? {
    let (coded, crop) = (codedSize, crop)
    let width = coded.width - crop.left - crop.right
    let height = coded.height - crop.top - crop.bottom
    return width > 0 && height > 0 ? (width, height) : nil
  }

  /// Width to height of a sample, reduced, or nil when the stream does not say.
  package var sampleAspectRatio: Ratio? { vui?.sampleAspectRatio }

  /// Frames per second, reduced: time_scale / (2 * num_units_in_tick). Nil when not sent, or zero.
  package var frameRate: Ratio? {
    guard let timing = vui?.timing, timing.numUnitsInTick > 0, timing.timeScale > 0 else {
      return nil
    }
    return Ratio(timing.timeScale, 2 * timing.numUnitsInTick).reduced
  }

  /// "4:0:0", "4:2:0", "4:2:2" or "4:4:4", or nil for a reserved chroma_format_idc.
  package var chromaFormatName: String? {
    let names = ["4:0:0", "4:2:0", "4:2:2", "4:4:4"]
    return names.indices.contains(chromaFormatIDC) ? names[chromaFormatIDC] : nil
  }

  /// The "codecs" parameter of RFC 6381: `avc1.` and profile, constraints and level as hex.
  package var codecString: String {
    let digits = Array("0123456789ABCDEF")
    return [profileIDC, constraintFlags, levelIDC].reduce(into: "avc1.") { text, byte in
      text.append(digits[byte >> 4 & 15])
      text.append(digits[byte & 15])
    }
  }

  /// constraint_set0_flag to constraint_set5_flag.
  package func constraintSet(_ index: Int) -> Bool {
    constraintFlags & (0x80 >> index) != 0
  }
}

extension SequenceParameterSet {
  /// The profile's name in Annexes A, F, G, H and I, or nil for an unknown profile_idc.
  package var profileName: String? {
    let (set1, set3) = (constraintSet(1), constraintSet(3))
    let (set4, set5) = (constraintSet(4), constraintSet(5))
    return switch profileIDC {
    case 66: set1 ? "Constrained Baseline" : "Baseline"
    case 77: "Main"
    case 88: "Extended"
    case 100: set4 ? (set5 ? "Constrained High" : "Progressive High") : "High"
    case 110: set3 ? "High 10 Intra" : set4 ? "Progressive High 10" : "High 10"
    case 122: set3 ? "High 4:2:2 Intra" : "High 4:2:2"
    case 244: set3 ? "High 4:4:4 Intra" : "High 4:4:4 Predictive"
    case 44: "CAVLC 4:4:4 Intra"
    case 144: "High 4:4:4"
    case 83: set5 ? "Scalable Constrained Baseline" : "Scalable Baseline"
    case 86: set3 ? "Scalable High Intra" : set5 ? "Scalable Constrained High" : "Scalable High"
    case 118: "Multiview High"
    case 128: "Stereo High"
    case 134: "MFC High"
    case 135: "MFC Depth High"
    case 138: "Multiview Depth High"
    case 139: "Enhanced Multiview Depth High"
    default: nil
    }
  }

  /// Level 1b is level_idc 9, or 11 with constraint_set3_flag in the profiles that are older than
  /// that number (H.264 §A.3.1, §A.3.2).
  package var isLevel1b: Bool {
    levelIDC == 9 || levelIDC == 11 && constraintSet(3) && [66, 77, 88].contains(profileIDC)
  }

  /// The level with one decimal, `4.0`, or `1b`; also for a level_idc that table A-1 does not know.
  package var levelName: String {
    isLevel1b ? "1b" : "\(levelIDC / 10).\(levelIDC % 10)"
  }

  /// The limits of the level, or nil for a level_idc that table A-1 does not know.
  package var level: Level? {
    isLevel1b ? .level1b : Level.all.first { $0.idc == levelIDC }
  }

  /// MaxDpbFrames (H.264 §A.3.1), or nil for an unknown level.
  package var maxDpbFrames: Int? { level?.maxDpbFrames(frameSizeInMbs: frameSizeInMbs) }
}
