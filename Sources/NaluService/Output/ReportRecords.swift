internal import H264

/// A NAL unit as it is listed.
struct UnitRecord: Sendable {
  var index: Int
  var offset: Int
  var size: Int
  var startCodeSize: Int
  var trailingZeroBytes: Int
  var refIDC: Int
  var type: NALUnitType
  /// Nil when no slice follows that it could belong to.
  var accessUnit: Int?
  /// It is a slice of a keyframe.
  var isKeyframe = false
  var slice: SliceType?
  var sliceQP: Int?
  /// Further JSON members: header extension, SEI messages, slice header.
  var details: [UInt8] = []

  /// Byte in the stream behind the unit.
  var end: Int { offset + size }
  /// First byte of its start code.
  var start: Int { offset - startCodeSize }
}

/// How decoding can begin at an access unit.
enum RandomAccess: Equatable, Sendable {
  case idr
  /// Recovery point SEI message with recovery_frame_cnt 0.
  case recoveryPoint
  /// Gradual refresh over that many frames.
  case gradual(frames: Int)
}

/// An access unit: one primary coded picture and all that goes with it.
struct AccessUnitRecord: Sendable {
  var index: Int
  var firstUnit: Int
  var unitCount = 0
  /// First byte of the first start code.
  var offset: Int
  /// Behind the last byte of the last unit.
  var end: Int
  var type: SliceType?
  var structure = PictureStructure.frame
  var sliceCount = 0
  var isReference = false
  var isIDR = false
  /// All its slices are I or SI slices.
  var isIntra = true
  var isKeyframe = false
  var isSecondField = false
  var randomAccess: RandomAccess?
  /// Nil while parameter sets are missing.
  var frameNum: Int?
  /// Nil while parameter sets are missing.
  var picOrderCnt: Int?
  var frameIndex = 0

  var size: Int { end - offset }
}

/// A complete group of pictures, small: a short pattern needs no memory of its own.
struct GroupRecord: Sendable {
  let accessUnit: Int
  let length: Int
  let size: Int
  let isClosed: Bool
  let pattern: String

  init(_ group: GroupOfPictures) {
    accessUnit = group.accessUnit
    length = group.length
    size = group.size
    isClosed = group.isClosed
    let letters = String(decoding: group.pattern, as: UTF8.self)
    pattern = group.isPatternCut ? letters + "…" : letters
  }
}

/// Many records in pieces, so that growing moves none of them.
struct RecordList<Record: Sendable>: Sendable {
  private static var pieceSize: Int { 4096 }
  private var pieces: [[Record]] = []
  private(set) var count = 0

  mutating func append(_ record: Record) {
    if count % Self.pieceSize == 0 {
      var piece: [Record] = []
      // A short list shall stay small.
      if count > 0 { piece.reserveCapacity(Self.pieceSize) }
      pieces.append(piece)
    }
    pieces[pieces.count - 1].append(record)
    count += 1
  }

  subscript(index: Int) -> Record {
    pieces[index / Self.pieceSize][index % Self.pieceSize]
  }

  /// Sets the record at `index`, which may be behind the end: `filler` goes in between.
  mutating func set(_ record: Record, at index: Int, filler: Record) {
    while count <= index { append(filler) }
    pieces[index / Self.pieceSize][index % Self.pieceSize] = record
  }
}
