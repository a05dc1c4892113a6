import Codec
import H264
import Platform

@testable import NaluService

extension EncodeSettings {
  /// The settings that a query such as `width=66&height=50&qp=0` asks for.
  static func query(_ query: String) throws(Problem) -> EncodeSettings {
    let pairs = query.split(separator: "&").map { pair in
      let parts = pair.split(separator: "=", maxSplits: 1)
      return (name: String(parts[0]), value: parts.count == 2 ? String(parts[1]) : "")
    }
    return EncodeSettings(try ParameterValues(pairs, table: EncodeParameters.all))
  }
}

/// What an encode gave.
struct EncodeResult {
  var bytes: [UInt8] = []
  var answer = Answer()
  var counters = Counters()
  /// Bytes that each step appended.
  var steps: [Int] = []

  func header(_ name: String) -> String? { answer.headers.first { $0.name == name }?.value }
}

/// Encodes `media`, the whole body, as whoever runs an operation does; blocks have what sizes the
/// operation asks for, or `blockSizes` over and over.
func encode(
  _ query: String, _ media: [UInt8], limits: Limits = .init(), contentLength: Int? = nil,
  blockSizes: [Int] = []
) throws(Problem) -> EncodeResult {
  var operation = try EncodeOperation(
    .query(query), limits: limits, spoolDirectory: .test, contentLength: contentLength)
  var result = EncodeResult()
  var output = Output()
  var position = 0
  var pushes = 0
  var isEnded = false
  var step = Step.needsInput
  while step != .finished {
    if step == .needsInput, !isEnded {
      let size = blockSizes.isEmpty ? operation.blockSize : blockSizes[pushes % blockSizes.count]
      let end = min(position + size, media.count)
      if position < end {
        try operation.push(Block(Array(media[position..<end])))
        pushes += 1
        position = end
      } else {
        isEnded = true
        try operation.endOfInput()
      }
    }
    let before = output.bytes.count
    step = try operation.step(into: &output)
    result.steps.append(output.bytes.count - before)
  }
  result.bytes = output.bytes
  result.answer = output.answer
  result.counters = output.counters
  return result
}

extension Block {
  /// A full block.
  convenience init(_ bytes: [UInt8]) {
    self.init(capacity: bytes.count)
    append(bytes.span)
  }
}

/// Planar 8-bit pictures: a pattern that moves, with some noise, the same in every run.
func movingPictures(
  _ width: Int, _ height: Int, count: Int, noise: UInt64 = 8, chroma: ChromaFormat = .yuv420
) -> [UInt8] {
  let format = PixelFormat(planar: chroma, bitDepth: 8) ?? .yuv420p
  let size = format.bytesPerFrame(width: width, height: height)
  var bytes: [UInt8] = []
  bytes.reserveCapacity(size * count)
  var state: UInt64 = 7
  for picture in 0..<count {
    for index in 0..<size {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let place = index % width + index / width / 2 + 2 * picture
      let pattern = UInt8(truncatingIfNeeded: 40 + place % 128)
      bytes.append(pattern &+ UInt8(truncatingIfNeeded: (state >> 33) % (noise + 1)))
    }
  }
  return bytes
}

/// The NAL units of an Annex B stream, parsed.
struct EncodedStream {
  struct Unit {
    var type: NALUnitType
    var bytes: [UInt8]
    var startCodeSize: Int
    var slice: SliceHeader?
  }

  /// The units of one picture, with what precedes its slices.
  struct AccessUnit {
    var units: [Unit] = []
    var slices: [SliceHeader] { units.compactMap(\.slice) }
    var isIDR: Bool { slices.contains(where: \.isIDR) }
    /// With start codes, in bytes.
    var size: Int { units.reduce(0) { $0 + $1.startCodeSize + $1.bytes.count } }
    /// `I`, `P` or `B`.
    var type: String { slices.first?.sliceType?.name ?? "?" }
  }

  private(set) var accessUnits: [AccessUnit] = []
  private(set) var sequenceParameterSets: [SequenceParameterSet] = []
  private(set) var pictureParameterSets: [PictureParameterSet] = []

  /// Every unit must parse.
  init(_ stream: [UInt8]) throws {
    var scanner = StartCodeScanner()
    var position = 0
    var extents: [NALUnitExtent] = []
    let bytes = stream.span
    while let extent = scanner.next(in: bytes, from: &position) { extents.append(extent) }
    if let last = scanner.finish() { extents.append(last) }
    var sets = ParameterSets()
    for extent in extents {
      let content = Array(stream[extent.offset..<extent.end])
      var unit = Unit(
        type: NALUnitType(header: content[0]), bytes: content,
        startCodeSize: extent.startCodeSize)
      try parse(&unit, &sets)
      // libx264 writes the slices of a picture in order and nothing between them.
      let isLaterSlice = (unit.slice?.firstMbInSlice ?? 0) > 0
      if accessUnits.last?.slices.isEmpty != true, !isLaterSlice {
        accessUnits.append(AccessUnit())
      }
      accessUnits[accessUnits.count - 1].units.append(unit)
    }
  }

  private mutating func parse(_ unit: inout Unit, _ sets: inout ParameterSets) throws {
    let header = NALUnitHeader(unit.bytes.span)
    var payload = RBSP()
    payload.load(unit.bytes.span, headerSize: header.size)
    var reader = BitReader(payload.bytes.span)
    switch unit.type {
    case .sps:
      let set = try SequenceParameterSet(parsing: &reader)
      sets.store(set)
      sequenceParameterSets.append(set)
    case .pps:
      let set = try PictureParameterSet(
        parsing: &reader, chromaFormatIDC: { sets.chromaFormatIDC(ofSequenceParameterSet: $0) })
      sets.store(set)
      pictureParameterSets.append(set)
    case .nonIDRSlice, .idrSlice:
      var slice = SliceHeader()
      try slice.parse(&reader, unit: header, parameterSets: sets)
      unit.slice = slice
    default: break
    }
  }

  /// Numbers of the access units that are IDR pictures.
  var idrNumbers: [Int] { accessUnits.indices.filter { accessUnits[$0].isIDR } }
  /// `IPBB…`, in decoding order.
  var pattern: String { accessUnits.map(\.type).joined() }
  func units(_ type: NALUnitType) -> Int {
    accessUnits.reduce(0) { $0 + $1.units.count { $0.type == type } }
  }
}
