internal import H264

/// Refuses streams that are too large for the service, and coding tools that libavcodec decodes
/// wrongly or not at all.
struct DecodeJudge: Sendable {
  let limits: Limits
  /// The pictures are to be decoded, so that the coding tools count.
  let isForDecoder: Bool

  /// Where a fault is.
  struct Place {
    var unit: Int
    var offset: Int

    var members: [Problem.Member] { [.init("nal_unit", unit), .init("offset", offset)] }
  }

  /// Bytes that one decoded frame takes.
  static func frameBytes(_ sps: SequenceParameterSet) -> Int {
    let (width, height) = sps.codedSize
    let luma = width * height
    let samples =
      switch sps.chromaFormatIDC {
      case 2: luma * 2
      case 3: luma * 3
      default: luma * 3 / 2
      }
    return sps.bitDepthLumaMinus8 > 0 || sps.bitDepthChromaMinus8 > 0 ? samples * 2 : samples
  }

  /// Frames that a decoder holds beside the references.
  private static let extraFrames = 3
  /// Bytes of decoded pictures at most, per luma sample of `max_frame_pixels`: sixteen bytes hold
  /// ten frames of 4:2:0.
  private static let pictureBufferFactor = 16

  /// Judges a sequence parameter set before anything is allocated by it.
  func check(_ sps: SequenceParameterSet, _ place: Place) throws(Problem) {
    let (width, height) = sps.codedSize
    guard width <= limits.maxDimension, height <= limits.maxDimension else {
      throw tooLarge(
        "Pictures of \(width)x\(height) exceed max_dimension, \(limits.maxDimension).",
        limits.maxDimension, place)
    }
    guard width * height <= limits.maxFramePixels else {
      throw tooLarge(
        "Pictures of \(width)x\(height) exceed max_frame_pixels, \(limits.maxFramePixels).",
        limits.maxFramePixels, place)
    }
    let frames = min(sps.maxNumRefFrames, 16) + Self.extraFrames
    let bytes = frames * Self.frameBytes(sps)
    let most = limits.maxFramePixels * Self.pictureBufferFactor
    guard bytes <= most else {
      throw tooLarge(
        "\(frames) pictures of \(width)x\(height) take \(bytes) bytes, more than \(most).", most,
        place)
    }
  }

  private func tooLarge(_ detail: String, _ limit: Int, _ place: Place) -> Problem {
    Problem(.dimensionsTooLarge, detail, members: [.init("limit", limit)] + place.members)
  }

  /// Judges a slice by the coding tools that it and its parameter sets use.
  func check(
    _ header: SliceHeader, _ sps: SequenceParameterSet, _ pps: PictureParameterSet,
    isPartition: Bool, _ place: Place
  ) throws(Problem) {
    guard isForDecoder else { return }
    if isPartition { throw unsupported("data partitioning (nal_unit_type 2 to 4)", place) }
    if pps.sliceGroups != nil {
      throw unsupported("flexible macroblock ordering (num_slice_groups_minus1 above 0)", place)
    }
    if header.sliceType == .sp || header.sliceType == .si {
      throw unsupported("\(header.sliceType == .sp ? "SP" : "SI") slices", place)
    }
    if sps.profileIDC == 88 { throw unsupported("the Extended profile (profile_idc 88)", place) }
    if sps.profileIDC == 144 {
      throw unsupported("the withdrawn High 4:4:4 profile (profile_idc 144)", place)
    }
    if sps.separateColourPlane {
      throw unsupported("separately coded colour planes (separate_colour_plane_flag)", place)
    }
    if sps.bitDepthLuma != sps.bitDepthChroma, sps.chromaFormatIDC != 0 {
      throw unsupported("luma and chroma of different bit depths", place)
    }
    if ![8, 9, 10, 12, 14].contains(sps.bitDepthLuma) {
      throw unsupported("a bit depth of \(sps.bitDepthLuma)", place)
    }
  }

  /// Judges the order of the slices of a picture. Only the profiles that allow it may have any;
  /// elsewhere it is damage.
  func checkOrder(
    of header: SliceHeader, in sets: ParameterSets, after previous: Int?, _ place: Place
  ) throws(Problem) {
    guard isForDecoder, let previous, header.firstMbInSlice < previous,
      let sps = sets.sequenceParameterSet(header.seqParameterSetID), sps.profileIDC == 66,
      !sps.constraintSet(1)
    else { return }
    throw unsupported("arbitrary slice order", place)
  }

  private func unsupported(_ tool: String, _ place: Place) -> Problem {
    Problem(
      .unsupportedFeature, "The stream uses \(tool), which cannot be decoded correctly.",
      members: [.init("feature", tool)] + place.members)
  }
}

/// Which NAL units a decoder gets.
enum DecodeUnits {
  /// Slices, SEI, parameter sets, delimiters and ends of the base view or layer; no filler data, no
  /// extension layers, nothing reserved.
  static func areForDecoder(_ type: UInt8) -> Bool {
    switch type {
    case 1, 5...11, 13: true
    default: false
    }
  }
}
