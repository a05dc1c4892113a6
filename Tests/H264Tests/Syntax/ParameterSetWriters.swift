import H264

/// A sequence parameter set to write, with the elements that tests vary.
struct SequenceParameterSetFields {
  var profile = 100
  var constraints = 0
  var level = 40
  var id = 0
  var chromaFormat = 1
  var separatePlanes = false
  var bitDepthLuma = 8
  var log2MaxFrameNum = 4
  var picOrderCntType = 0
  /// For type 1.
  var offsetsForRefFrame: [Int] = []
  var deltaAlwaysZero = false
  var maxNumRefFrames = 1
  var widthInMbs = 20
  var heightInMapUnits = 15
  var frameMbsOnly = true
  var crop: [Int]?
  /// Writes vui_parameters().
  var vui: ((inout BitWriter) -> Void)?

  func writeData(_ writer: inout BitWriter) {
    writer.u(8, profile)
    writer.u(8, constraints)
    writer.u(8, level)
    writer.ue(id)
    if SequenceParameterSet.profilesWithChromaFormat.contains(profile) {
      writer.ue(chromaFormat)
      if chromaFormat == 3 { writer.u(1, separatePlanes ? 1 : 0) }
      writer.ue(bitDepthLuma - 8, bitDepthLuma - 8)
      writer.u("00")
    }
    writer.ue(log2MaxFrameNum - 4, picOrderCntType)
    if picOrderCntType == 0 { writer.ue(0) }
    if picOrderCntType == 1 {
      writer.u(1, deltaAlwaysZero ? 1 : 0)
      writer.se(-3, 5)
      writer.ue(offsetsForRefFrame.count)
      for offset in offsetsForRefFrame { writer.se(offset) }
    }
    writer.ue(maxNumRefFrames)
    writer.u("0")
    writer.ue(widthInMbs - 1, heightInMapUnits - 1)
    writer.u(frameMbsOnly ? "1" : "00")
    writer.u("1")
    writer.u(crop == nil ? "0" : "1")
    for offset in crop ?? [] { writer.ue(offset) }
    writer.u(vui == nil ? "0" : "1")
    vui?(&writer)
  }

  var rbsp: [UInt8] {
    BitWriter { writer in
      writeData(&writer)
      writer.trailingBits()
    }.rbsp
  }

  var parsed: SequenceParameterSet {
    get throws { try parseSequenceParameterSet(rbsp).set }
  }
}

/// A picture parameter set to write, with the elements that tests vary.
struct PictureParameterSetFields {
  var id = 0
  var sequenceParameterSetID = 0
  var cabac = false
  var bottomFieldPicOrder = false
  var sliceGroupCount = 1
  /// Writes from slice_group_map_type on.
  var sliceGroups: ((inout BitWriter) -> Void)?
  var refCounts = [1, 1]
  var weightedPred = false
  var weightedBipred = 0
  var initQP = 26
  var deblockingControl = false
  var redundantPictures = false
  /// Writes what follows more_rbsp_data().
  var tail: ((inout BitWriter) -> Void)?

  var rbsp: [UInt8] {
    BitWriter { writer in
      writer.ue(id, sequenceParameterSetID)
      writer.u(1, cabac ? 1 : 0)
      writer.u(1, bottomFieldPicOrder ? 1 : 0)
      writer.ue(sliceGroupCount - 1)
      sliceGroups?(&writer)
      writer.ue(refCounts[0] - 1, refCounts[1] - 1)
      writer.u(1, weightedPred ? 1 : 0)
      writer.u(2, weightedBipred)
      writer.se(initQP - 26, 0, -2)
      writer.u(1, deblockingControl ? 1 : 0)
      writer.u("0")
      writer.u(1, redundantPictures ? 1 : 0)
      tail?(&writer)
      writer.trailingBits()
    }.rbsp
  }

  var parsed: PictureParameterSet {
    get throws { try parsePictureParameterSet(rbsp, chromaFormatIDC: 1).set }
  }
}

func parsePictureParameterSet(
  _ rbsp: [UInt8], chromaFormatIDC: Int?
) throws -> (set: PictureParameterSet, issues: [SyntaxError], record: String) {
  var reader = BitReader(rbsp.span, record: SyntaxRecord())
  let set = try PictureParameterSet(parsing: &reader) { _ in chromaFormatIDC }
  return (set, reader.issues, reader.takeRecord()?.text ?? "")
}

extension ParameterSets {
  /// The two sets that the fields describe.
  init(_ sequence: SequenceParameterSetFields, _ picture: PictureParameterSetFields) throws {
    self.init()
    store(try sequence.parsed)
    store(try picture.parsed)
  }
}
