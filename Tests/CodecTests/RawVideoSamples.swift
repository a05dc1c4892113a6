import Platform

@testable import Codec

/// Headerless pictures of noise, the same in every run.
struct RawVideoSamples {
  let format: PixelFormat
  let width: Int
  let height: Int
  private var state: UInt64

  init(_ format: PixelFormat, _ width: Int, _ height: Int, seed: UInt64 = 1) {
    self.format = format
    self.width = width
    self.height = height
    state = seed
  }

  /// The next picture; samples use all the bits that the format has.
  mutating func next() -> [UInt8] {
    let size = format.bytesPerFrame(width: width, height: height)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size)
    while bytes.count < size {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let number = UInt16(truncatingIfNeeded: state >> 40)
      if format.bytesPerSample == 1 {
        bytes.append(UInt8(truncatingIfNeeded: number))
      } else {
        let value = number & (1 << format.bitDepth - 1)
        let stored = format == .p010le ? value << 6 : value
        bytes.append(UInt8(truncatingIfNeeded: stored))
        bytes.append(UInt8(truncatingIfNeeded: stored >> 8))
      }
    }
    return bytes
  }
}

extension Block {
  /// A full block.
  convenience init(_ bytes: [UInt8]) {
    self.init(capacity: bytes.count)
    append(bytes.span)
  }
}

extension VideoEncoder {
  /// Encodes whole pictures and returns one access unit each, in decoding order.
  static func encode(
    _ pictures: [[UInt8]], _ settings: Settings, forcedKeyframes: Set<Int> = []
  ) throws -> [[UInt8]] {
    var encoder = try VideoEncoder(settings)
    var units: [[UInt8]] = []
    for (number, picture) in pictures.enumerated() {
      let frame = try Frame(
        over: Block(picture), format: settings.pixelFormat, width: settings.width,
        height: settings.height)
      try encoder.send(frame, forceKeyframe: forcedKeyframes.contains(number))
      try encoder.drain(into: &units)
    }
    try encoder.finish()
    try encoder.drain(into: &units)
    return units
  }

  /// Receives until the encoder wants more, or has no more.
  mutating func drain(into units: inout [[UInt8]]) throws {
    var unit: [UInt8] = []
    while case .accessUnit = try receive(into: &unit) {
      units.append(unit)
      unit = []
    }
  }
}

/// The decoded samples of Annex B access units, in output order.
func decode(_ accessUnits: [[UInt8]]) throws -> [[UInt8]] {
  var decoder = try VideoDecoder(.init())
  var pictures: [[UInt8]] = []
  func receive(_ decoder: inout VideoDecoder) throws {
    while let frame = try decoder.receive() {
      var bytes: [UInt8] = []
      frame.appendSamples(to: &bytes)
      pictures.append(bytes)
    }
  }
  for (number, unit) in accessUnits.enumerated() {
    while try !decoder.send(unit.span, number: number) { try receive(&decoder) }
    try receive(&decoder)
  }
  try decoder.finish()
  try receive(&decoder)
  return pictures
}
