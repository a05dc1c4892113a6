/// The parameter sets received so far, by id: what slice headers are read with.
///
/// Which of them is active is for the user to say; a set that is stored replaces the one with its id.
package struct ParameterSets: Sendable {
  /// Keeps the tables of 320 sets, most of them absent, small.
  private final class Box<Value: Sendable>: Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
  }

  private var sequence = [Box<SequenceParameterSet>?](repeating: nil, count: 32)
  private var subset = [Box<SubsetSequenceParameterSet>?](repeating: nil, count: 32)
  private var picture = [Box<PictureParameterSet>?](repeating: nil, count: 256)

  // The few elements that steer a slice header, apart, because copying a whole set for every slice
  // would cost more than reading the header.
  private var sequenceSteering = [SequenceSteering?](repeating: nil, count: 32)
  private var subsetSteering = [SequenceSteering?](repeating: nil, count: 32)
  private var pictureSteering = [PictureSteering?](repeating: nil, count: 256)

  package init() {}

  package mutating func store(_ set: SequenceParameterSet) {
    sequence[set.id] = Box(set)
    sequenceSteering[set.id] = SequenceSteering(set)
  }

  package mutating func store(_ set: SubsetSequenceParameterSet) {
    subset[set.data.id] = Box(set)
    subsetSteering[set.data.id] = SequenceSteering(
      set.data, layer: set.scalable, depth: set.depth)
  }

  package mutating func store(_ set: PictureParameterSet) {
    picture[set.id] = Box(set)
    pictureSteering[set.id] = PictureSteering(set)
  }

  package func sequenceParameterSet(_ id: Int) -> SequenceParameterSet? {
    sequence.indices.contains(id) ? sequence[id]?.value : nil
  }

  package func subsetSequenceParameterSet(_ id: Int) -> SubsetSequenceParameterSet? {
    subset.indices.contains(id) ? subset[id]?.value : nil
  }

  package func pictureParameterSet(_ id: Int) -> PictureParameterSet? {
    picture.indices.contains(id) ? picture[id]?.value : nil
  }

  /// The sequence parameter set, when there is just one.
  package var onlySequenceParameterSet: SequenceParameterSet? {
    var found: SequenceParameterSet?
    for case let set? in sequence {
      if found != nil { return nil }
      found = set.value
    }
    return found
  }

  /// The chroma_format_idc that a picture parameter set needs which refers to this id.
  package func chromaFormatIDC(ofSequenceParameterSet id: Int) -> Int? {
    guard sequence.indices.contains(id) else { return nil }
    return (sequenceSteering[id] ?? subsetSteering[id])?.chromaFormatIDC
  }

  /// For an id of 0 to 255.
  func steering(ofPictureParameterSet id: Int) -> PictureSteering? {
    pictureSteering[id]
  }

  /// For an id of 0 to 31. Layers and views beyond the base use the subset sequence parameter set,
  /// where there is one.
  func steering(ofSequenceParameterSet id: Int, beyondBase: Bool) -> SequenceSteering? {
    beyondBase ? subsetSteering[id] ?? sequenceSteering[id] : sequenceSteering[id]
  }
}

/// What a slice header depends on in its sequence parameter set.
struct SequenceSteering: Sendable {
  let chromaFormatIDC: Int
  let chromaArrayType: Int
  let separateColourPlane: Bool
  let lowestQP: Int
  let log2MaxFrameNum: Int
  let picOrderCntType: Int
  let log2MaxPicOrderCntLsb: Int
  let deltaPicOrderAlwaysZero: Bool
  let picSizeInMapUnits: Int
  let frameMbsOnly: Bool
  let layer: ScalableExtension
  /// Nil without a 3D-AVC extension.
  let depth: DepthCodingExtension?

  init(
    _ set: SequenceParameterSet, layer: ScalableExtension? = nil,
    depth: DepthCodingExtension? = nil
  ) {
    chromaFormatIDC = set.chromaFormatIDC
    chromaArrayType = set.chromaArrayType
    separateColourPlane = set.separateColourPlane
    lowestQP = -6 * set.bitDepthLumaMinus8
    log2MaxFrameNum = set.log2MaxFrameNum
    picOrderCntType = set.picOrderCntType
    log2MaxPicOrderCntLsb = set.log2MaxPicOrderCntLsb
    deltaPicOrderAlwaysZero = set.deltaPicOrderAlwaysZero
    picSizeInMapUnits = set.picSizeInMapUnits
    frameMbsOnly = set.frameMbsOnly
    self.layer = layer ?? ScalableExtension()
    self.depth = depth
  }
}

/// What a slice header depends on in its picture parameter set.
struct PictureSteering: Sendable {
  let sequenceParameterSetID: Int
  let entropyCodingMode: Bool
  let bottomFieldPicOrderInFramePresent: Bool
  /// For slice_group_map_type 3 to 5.
  let sliceGroupChangeRate: Int?
  let numRefIdxL0DefaultActive: Int
  let numRefIdxL1DefaultActive: Int
  let weightedPred: Bool
  let weightedBipredIDC: Int
  let picInitQP: Int
  let deblockingFilterControlPresent: Bool
  let redundantPicCntPresent: Bool

  init(_ set: PictureParameterSet) {
    sequenceParameterSetID = set.sequenceParameterSetID
    entropyCodingMode = set.entropyCodingMode
    bottomFieldPicOrderInFramePresent = set.bottomFieldPicOrderInFramePresent
    if case .changing(_, _, let rateMinus1) = set.sliceGroups {
      sliceGroupChangeRate = rateMinus1 + 1
    } else {
      sliceGroupChangeRate = nil
    }
    numRefIdxL0DefaultActive = set.numRefIdxL0DefaultActive
    numRefIdxL1DefaultActive = set.numRefIdxL1DefaultActive
    weightedPred = set.weightedPred
    weightedBipredIDC = set.weightedBipredIDC
    picInitQP = 26 + set.picInitQPMinus26
    deblockingFilterControlPresent = set.deblockingFilterControlPresent
    redundantPicCntPresent = set.redundantPicCntPresent
  }
}
