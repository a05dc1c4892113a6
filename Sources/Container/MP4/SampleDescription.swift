/// The sample descriptions of a track (ISO/IEC 14496-12 §8.5.2): what its samples are coded with.
struct SampleDescription: Sendable {
  private(set) var type: FourCharacters?
  private(set) var width: Int?
  private(set) var height: Int?
  private(set) var channels: Int?
  private(set) var sampleRate: Int?
  private(set) var pixelAspectRatio: Fraction?
  private let kind: ContainerTrack.Kind
  /// objectTypeIndication of the sound.
  private var objectType: Int?
  private(set) var isEncrypted = false
  /// `frma`: what an encrypted entry would be.
  private(set) var originalType: FourCharacters?
  /// The record of each entry, and where it is; nil for an entry without one.
  private(set) var configurations: [(record: AVCConfigurationRecord, offset: Int)?] = []
  /// Boxes inside, to be listed.
  private(set) var boxes: [BoxEntry] = []
  private(set) var defects: [(offset: Int, message: String)] = []

  private static let maxEntries = 64
  private static let maxBoxes = 256

  /// Reads the content of `stsd`, which lies at `start` in the file, in a track of that kind.
  init(_ content: [UInt8], at start: Int, depth: Int, kind: ContainerTrack.Kind) {
    self.kind = kind
    var position = 8
    while position + 8 <= content.count, configurations.count < Self.maxEntries {
      let size = content.number32(at: position)
      guard size >= 16, size <= content.count - position else {
        defects.append((start + position, "A sample description does not fit its box."))
        return
      }
      let entry = FourCharacters(content.number32(at: position + 4))
      if type == nil { type = entry }
      list(entry, at: start + position, size, depth: depth)
      configurations.append(nil)
      var fields = ByteFields(content, in: position + 16..<position + size)
      switch kind {
      case .video: readVideo(&fields, at: start, depth: depth)
      case .audio: readAudio(&fields, at: start, depth: depth)
      default: break
      }
      position += size
    }
  }

  private mutating func list(_ type: FourCharacters, at offset: Int, _ size: Int, depth: Int) {
    guard boxes.count < Self.maxBoxes else { return }
    boxes.append(BoxEntry(type: type, offset: offset, size: size, headerSize: 8, depth: depth))
  }

  private mutating func readVideo(_ fields: inout ByteFields, at start: Int, depth: Int) {
    let entry = start + fields.position - 16
    fields.skip(16)
    let isFirst = configurations.count == 1
    let size = (fields.number(2), fields.number(2))
    fields.skip(50)
    guard !fields.isShort else {
      defects.append((entry, "A video sample description is cut off."))
      return
    }
    if isFirst { (width, height) = size }
    readBoxes(&fields, at: start, depth: depth + 1)
  }

  private mutating func readBoxes(_ fields: inout ByteFields, at start: Int, depth: Int) {
    while fields.left >= 8, boxes.count < Self.maxBoxes {
      let place = fields.position
      let size = fields.number(4)
      let box = FourCharacters(fields.number(4))
      guard size >= 8, size - 8 <= fields.left else {
        // QuickTime ends the list with four zero bytes, and something may be behind them.
        if size > 0 { defects.append((start + place, "A box does not fit the one it is in.")) }
        return
      }
      list(box, at: start + place, size, depth: depth)
      let content = fields.range(size - 8)
      var inner = ByteFields(fields.bytes, in: content)
      switch box {
      case "avcC" where kind == .video:
        readConfiguration(Array(fields.bytes[content]), at: start + content.lowerBound)
      case "pasp":
        let ratio = Fraction(inner.number(4), inner.number(4))
        if !inner.isShort { pixelAspectRatio = ratio }
      case "sinf":
        isEncrypted = true
        if depth < 12 { readBoxes(&inner, at: start, depth: depth + 1) }
      case "esds":
        inner.skip(4)
        readElementaryStream(&inner, depth: 0)
      case "wave":
        readBoxes(&inner, at: start, depth: depth + 1)
      case "frma":
        originalType = FourCharacters(inner.number(4))
      default:
        break
      }
    }
  }

  private mutating func readConfiguration(_ bytes: [UInt8], at offset: Int) {
    guard let record = AVCConfigurationRecord(parsing: bytes) else {
      defects.append((offset, "avcC is too short for its fields."))
      return
    }
    configurations[configurations.count - 1] = (record, offset)
  }

  /// Looks through descriptors (ISO/IEC 14496-1 §7.2.6) for the configuration of the sound.
  private mutating func readElementaryStream(_ fields: inout ByteFields, depth: Int) {
    while fields.left >= 2, depth < 4 {
      let tag = fields.number(1)
      var size = 0
      for _ in 0..<4 {
        let byte = fields.number(1)
        size = size << 7 | byte & 127
        if byte & 128 == 0 { break }
      }
      var inner = ByteFields(fields.bytes, in: fields.range(min(size, fields.left)))
      switch tag {
      case 3:
        inner.skip(2)
        let flags = inner.number(1)
        if flags & 0x80 != 0 { inner.skip(2) }
        if flags & 0x40 != 0 { inner.skip(inner.number(1)) }
        if flags & 0x20 != 0 { inner.skip(2) }
        readElementaryStream(&inner, depth: depth + 1)
      case 4:
        objectType = inner.number(1)
        inner.skip(12)
        readElementaryStream(&inner, depth: depth + 1)
      case 5:
        guard let found = AudioSpecificConfig(inner.take(inner.left)) else { return }
        sampleRate = found.outputRate
        channels = found.channels ?? channels
      default:
        break
      }
    }
  }

  private mutating func readAudio(_ fields: inout ByteFields, at start: Int, depth: Int) {
    guard configurations.count == 1 else { return }
    let version = fields.number(2)
    fields.skip(6)
    channels = fields.number(2)
    fields.skip(6)
    sampleRate = fields.number(4) >> 16
    if version == 2 {
      // QuickTime's version 2 has a 64-bit floating point rate.
      fields.skip(4)
      let bits = UInt64(fields.number(4)) << 32 | UInt64(fields.number(4))
      let rate = Double(bitPattern: bits)
      sampleRate = rate >= 0 && rate < 1e9 ? Int(rate) : nil
      channels = fields.number(4)
    }
    if version == 1 { fields.skip(16) }
    if version == 2 { fields.skip(20) }
    guard !fields.isShort else {
      (channels, sampleRate) = (nil, nil)
      return
    }
    readBoxes(&fields, at: start, depth: depth + 1)
  }

  /// The track holds H.264, in the clear or not.
  var isH264: Bool {
    if configurations.contains(where: { $0 != nil }) { return true }
    guard let type = originalType ?? type else { return false }
    return ["avc1", "avc2", "avc3", "avc4"].contains(type)
  }

  /// A short name.
  var codec: String? {
    if isH264 { return "h264" }
    guard let type = originalType ?? type else { return nil }
    // Sound of MPEG-1 and MPEG-2 in the same kind of entry.
    if type == "mp4a", objectType == 0x69 || objectType == 0x6B { return "mp3" }
    return Self.names[type]
  }

  private static let names: [FourCharacters: String] = [
    "hvc1": "hevc", "hev1": "hevc", "vvc1": "vvc", "vvi1": "vvc", "av01": "av1", "vp08": "vp8",
    "vp09": "vp9", "mp4v": "mpeg4", "jpeg": "mjpeg", "mjpa": "mjpeg", "mjp2": "jpeg2000",
    "apch": "prores", "apcn": "prores", "apcs": "prores", "apco": "prores", "ap4h": "prores",
    "mp4a": "aac", ".mp3": "mp3", "ac-3": "ac3", "ec-3": "eac3", "ac-4": "ac4", "Opus": "opus",
    "fLaC": "flac", "alac": "alac", "lpcm": "pcm", "sowt": "pcm", "twos": "pcm", "ulaw": "pcm",
    "tx3g": "mov_text", "text": "text", "wvtt": "webvtt", "stpp": "ttml", "c608": "eia_608",
    "tmcd": "timecode",
  ]
}
