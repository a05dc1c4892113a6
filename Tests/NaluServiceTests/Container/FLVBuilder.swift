/// Writes FLV files of one video stream.
struct FLVBuilder {
  var film = ContainerFilm.small
  var metadataWidth: Int?
  /// Added to every PreviousTagSize.
  var sizeError = 0
  var timestamps: [Int]?
  var isEnhanced = false

  static func tag(_ type: Int, _ timestamp: Int, _ data: [UInt8], sizeError: Int = 0) -> [UInt8] {
    [UInt8(type)] + bigEndian(data.count, 3) + bigEndian(timestamp, 3)
      + [UInt8(truncatingIfNeeded: timestamp >> 24)] + bigEndian(0, 3) + data
      + bigEndian(data.count + 11 + sizeError, 4)
  }

  static func text(_ text: String) -> [UInt8] {
    bigEndian(text.utf8.count, 2) + Array(text.utf8)
  }

  static func number(_ number: Double) -> [UInt8] {
    [0] + bigEndian(Int(bitPattern: UInt(number.bitPattern)), 8)
  }

  var header: [UInt8] { Array("FLV".utf8) + [1, 1] + bigEndian(9, 4) + bigEndian(0, 4) }

  var metadata: [UInt8] {
    let width = Self.text("width") + Self.number(Double(metadataWidth ?? film.width))
    let height = Self.text("height") + Self.number(Double(film.height))
    let duration = Self.text("duration") + Self.number(0.2)
    let list = Self.text("times") + [10] + bigEndian(2, 4) + Self.number(0) + Self.number(0.5)
    let encoder = Self.text("a \"name\"") + [2] + Self.text("Test")
    let values = [2] + Self.text("onMetaData") + [8] + bigEndian(5, 4)
    return Self.tag(18, 0, values + width + height + duration + list + encoder + [0, 0, 9])
  }

  var file: [UInt8] {
    let code = Array("avc1".utf8)
    var file = header + metadata
    file += Self.tag(9, 0, (isEnhanced ? [0x90] + code : [0x17, 0, 0, 0, 0]) + film.record())
    for (index, picture) in film.pictures.enumerated() {
      let time = timestamps?[index] ?? picture.decoding * 40
      let type: UInt8 = picture.isKeyframe ? 1 : 2
      let delay = bigEndian(picture.delay * 40, 3)
      let head = isEnhanced ? [0x81 | type << 4] + code + delay : [type << 4 | 7, 1] + delay
      file += Self.tag(
        9, time, head + ContainerFilm.sample(picture.units), sizeError: sizeError)
    }
    return file
  }
}
