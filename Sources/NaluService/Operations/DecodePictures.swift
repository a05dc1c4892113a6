internal import H264

extension PictureIdentity {
  init(_ header: SliceHeader, _ unitHeader: NALUnitHeader) {
    self.init()
    frameNum = header.frameNum
    ppsID = header.picParameterSetID
    spsID = header.seqParameterSetID
    isField = header.fieldPic
    isBottomField = header.bottomField
    isReference = unitHeader.refIDC != 0
    isIDR = header.isIDR
    idrPicID = header.idrPicID
    picOrderCntLsb = header.picOrderCntLsb
    deltaPicOrderCntBottom = header.deltaPicOrderCntBottom
    deltaPicOrderCnt0 = header.deltaPicOrderCnt0
    deltaPicOrderCnt1 = header.deltaPicOrderCnt1
  }
}

extension PictureOrderCount.Picture {
  init(_ header: SliceHeader, isReference: Bool) {
    self.init()
    structure = PictureStructure(header)
    isIDR = header.isIDR
    self.isReference = isReference
    resets = header.unmarksAll
    frameNum = header.frameNum
    picOrderCntLsb = header.picOrderCntLsb
    deltaPicOrderCntBottom = header.deltaPicOrderCntBottom
    deltaPicOrderCnt0 = header.deltaPicOrderCnt0
    deltaPicOrderCnt1 = header.deltaPicOrderCnt1
  }
}

extension PictureOrderCount.Coding {
  init(_ sps: SequenceParameterSet) {
    self.init()
    type = sps.picOrderCntType
    maxFrameNum = sps.maxFrameNum
    maxPicOrderCntLsb = sps.maxPicOrderCntLsb
    offsetForNonRefPic = sps.offsetForNonRefPic
    offsetForTopToBottomField = sps.offsetForTopToBottomField
    offsetForRefFrame = sps.offsetForRefFrame
  }
}

extension PictureStructure {
  init(_ header: SliceHeader) {
    self.init(isField: header.fieldPic, isBottom: header.bottomField)
  }
}
