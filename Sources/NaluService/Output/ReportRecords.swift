internal import H264

/// A NAL unit as it is listed.
struct UnitRecord: Sendable {
  var index: Int
  /// Its header byte in the upload.
  var offset: Int
  /// The first byte of its start code or length field in the upload.
  var start: Int
  /// Its header byte in the stream: in a container, in the samples laid end to end.
  var streamOffset: Int
  var size: Int
  var startCodeSize: Int
  /// Bytes of its length field; 0 when it has a start code.
  var lengthSize = 0
  var trailingZeroBytes: Int
  var refIDC: Int
  var type: NALUnitType
  /// Nil when no slice follows that it could belong to.
  var accessUnit: Int?
  /// It is a slice of a keyframe.
  var isKeyframe = false
  var slice: SliceType?
  var sliceQP: Int?
  /// Of the sample it is in.
  var times: SampleTimes?
  /// Further JSON members: header extension, SEI messages, slice header.
  var details: [UInt8] = []

  /// Byte in the stream behind the unit.
  var streamEnd: Int { streamOffset + size }
  /// First byte of its start code or length field in the stream.
  var streamStart: Int { streamOffset - startCodeSize - lengthSize }
}

/// When a sample is decoded and shown, in ticks of its track; small, for there are many.
struct SampleTimes: Equatable, Sendable {
  private var rawPTS = Int.min
  private var rawDTS = Int.min
  private var rawDuration = Int.min

  init() {}

  init(pts: Int?, dts: Int?, duration: Int?) {
    rawPTS = pts ?? .min
    rawDTS = dts ?? .min
    rawDuration = duration ?? .min
  }

  var pts: Int? { rawPTS == .min ? nil : rawPTS }
  var dts: Int? { rawDTS == .min ? nil : rawDTS }
  var duration: Int? {
    get { rawDuration == .min ? nil : rawDuration }
    set { rawDuration = newValue ?? .min }
  }
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
  /// First byte of the first start code or length field in the upload.
  var offset: Int
  /// The same in the stream.
  var streamStart: Int
  /// Behind the last byte of the last unit in the stream.
  var streamEnd: Int
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
  /// Of a sample in a container.
  var times: SampleTimes?
  /// Its container calls it a keyframe, or none.
  var isSync: Bool?

  var size: Int { streamEnd - streamStart }
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
