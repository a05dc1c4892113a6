import H264

/// A short film of I, P and B pictures to be put into containers.
struct ContainerFilm {
  struct Picture {
    /// NAL units without start codes or lengths.
    var units: [[UInt8]]
    var isKeyframe = false
    /// In pictures: when it is decoded, and how much later it is shown.
    var decoding = 0
    var delay = 0
  }

  var sps: [UInt8]
  var pps: [UInt8]
  var pictures: [Picture]
  var width = 64
  var height = 48

  /// Five pictures, decoded in the order I P B B I.
  static let small = ContainerFilm { stream in
    stream.add(2, frameNum: 0, lsb: 0, idr: true)
    stream.add(0, frameNum: 1, lsb: 6)
    stream.add(1, frameNum: 2, lsb: 2, reference: false)
    stream.add(1, frameNum: 2, lsb: 4, reference: false) { $0.size = 400 }
    stream.add(2, frameNum: 0, lsb: 0, idr: true) { $0.idrPicID = 1 }
  }

  init(
    _ sequence: StreamBuilder.Sequence = StreamBuilder.Sequence(),
    _ build: (inout StreamBuilder) -> Void
  ) {
    let units = Self.units(of: StreamBuilder.stream(sequence, build))
    sps = units[0]
    pps = units[1]
    width = 16 * sequence.width
    height = 16 * sequence.height
    pictures = units[2...].map { Picture(units: [$0], isKeyframe: $0[0] & 31 == 5) }
    let delays = [1, 3, 0, 0, 1]
    for index in pictures.indices {
      pictures[index].decoding = index
      pictures[index].delay = delays[index % delays.count]
    }
  }

  /// The NAL units of a byte stream.
  static func units(of stream: [UInt8]) -> [[UInt8]] {
    var scanner = StartCodeScanner()
    var units: [[UInt8]] = []
    var position = 0
    while let unit = scanner.next(in: stream.span, from: &position) {
      units.append(Array(stream[unit.offset..<unit.end]))
    }
    if let unit = scanner.finish() { units.append(Array(stream[unit.offset..<unit.end])) }
    return units
  }

  /// Every picture's NAL units in order.
  var units: [[UInt8]] { pictures.flatMap(\.units) }

  /// An AVCDecoderConfigurationRecord.
  func record(lengthSize: Int = 4, sps others: [[UInt8]]? = nil) -> [UInt8] {
    let sets = others ?? [sps]
    var record: [UInt8] = [1, sps[1], sps[2], sps[3]]
    record.append(0xFC | UInt8(lengthSize - 1))
    record.append(0xE0 | UInt8(sets.count))
    for set in sets {
      record += bigEndian(set.count, 2)
      record += set
    }
    record.append(1)
    record += bigEndian(pps.count, 2)
    return record + pps
  }

  /// A picture as length-prefixed NAL units.
  static func sample(_ units: [[UInt8]], lengthSize: Int = 4) -> [UInt8] {
    units.flatMap { bigEndian($0.count, lengthSize) + $0 }
  }
}

/// A number in so many bytes.
func bigEndian(_ number: Int, _ count: Int) -> [UInt8] {
  (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
}
