/// Ids of elements (RFC 8794 and RFC 9559).
enum ElementID {
  static let ebml: UInt32 = 0x1A45_DFA3
  static let docType: UInt32 = 0x4282
  static let void: UInt32 = 0xEC
  static let segment: UInt32 = 0x1853_8067
  static let seekHead: UInt32 = 0x114D_9B74
  static let seek: UInt32 = 0x4DBB
  static let seekID: UInt32 = 0x53AB
  static let seekPosition: UInt32 = 0x53AC
  static let info: UInt32 = 0x1549_A966
  static let timestampScale: UInt32 = 0x2A_D7B1
  static let duration: UInt32 = 0x4489
  static let title: UInt32 = 0x7BA9
  static let muxingApp: UInt32 = 0x4D80
  static let writingApp: UInt32 = 0x5741
  static let tracks: UInt32 = 0x1654_AE6B
  static let trackEntry: UInt32 = 0xAE
  static let trackNumber: UInt32 = 0xD7
  static let trackType: UInt32 = 0x83
  static let flagEnabled: UInt32 = 0xB9
  static let defaultDuration: UInt32 = 0x23_E383
  static let name: UInt32 = 0x536E
  static let language: UInt32 = 0x22_B59C
  static let languageBCP47: UInt32 = 0x22_B59D
  static let codecID: UInt32 = 0x86
  static let codecPrivate: UInt32 = 0x63A2
  static let video: UInt32 = 0xE0
  static let pixelWidth: UInt32 = 0xB0
  static let pixelHeight: UInt32 = 0xBA
  static let displayWidth: UInt32 = 0x54B0
  static let displayHeight: UInt32 = 0x54BA
  static let displayUnit: UInt32 = 0x54B2
  static let projection: UInt32 = 0x7670
  static let projectionPoseRoll: UInt32 = 0x7675
  static let audio: UInt32 = 0xE1
  static let samplingFrequency: UInt32 = 0xB5
  static let channels: UInt32 = 0x9F
  static let contentEncodings: UInt32 = 0x6D80
  static let contentEncoding: UInt32 = 0x6240
  static let contentCompression: UInt32 = 0x5034
  static let contentCompAlgo: UInt32 = 0x4254
  static let contentCompSettings: UInt32 = 0x4255
  static let contentEncryption: UInt32 = 0x5035
  static let cluster: UInt32 = 0x1F43_B675
  static let timestamp: UInt32 = 0xE7
  static let simpleBlock: UInt32 = 0xA3
  static let blockGroup: UInt32 = 0xA0
  static let block: UInt32 = 0xA1
  static let blockDuration: UInt32 = 0x9B
  static let referenceBlock: UInt32 = 0xFB
  static let cues: UInt32 = 0x1C53_BB6B
  static let cuePoint: UInt32 = 0xBB

  /// What a segment has: the beginning of one ends a cluster of unknown size.
  static let firstLevel: Set<UInt32> = [
    seekHead, info, tracks, cluster, cues, 0x1043_A770, 0x1254_C367, 0x1941_A469,
  ]
}

/// Elements in a structure that was read whole.
struct ElementFields: Sendable {
  private var fields: ByteFields

  init(_ bytes: [UInt8], in range: Range<Int>? = nil) {
    fields = ByteFields(bytes, in: range)
  }

  struct Element: Sendable {
    let id: UInt32
    let range: Range<Int>
    private let bytes: [UInt8]

    private static let maxTextBytes = 4096

    fileprivate init(id: UInt32, range: Range<Int>, bytes: [UInt8]) {
      self.id = id
      self.range = range
      self.bytes = bytes
    }

    var content: [UInt8] { Array(bytes[range]) }
    var text: String { containerText(bytes[range], atMost: Element.maxTextBytes) }
    var elements: ElementFields { ElementFields(bytes, in: range) }

    /// Up to 8 bytes.
    var unsigned: Int {
      var fields = ByteFields(bytes, in: range)
      return fields.number(min(8, range.count))
    }

    /// 4 or 8 bytes; 0 for none.
    var float: Double? {
      switch range.count {
      case 0: return 0
      case 4: return Double(Float(bitPattern: UInt32(truncatingIfNeeded: unsigned)))
      case 8:
        var fields = ByteFields(bytes, in: range)
        let high = UInt64(fields.number(4))
        return Double(bitPattern: high << 32 | UInt64(fields.number(4)))
      default: return nil
      }
    }
  }

  /// The next element; nil when there is none, or what is there is damaged.
  mutating func next() -> Element? {
    guard fields.left >= 2 else { return nil }
    let idSize = fields.bytes[fields.position].leadingZeroBitCount + 1
    guard idSize <= 4 else { return nil }
    let id = UInt32(truncatingIfNeeded: fields.number(idSize))
    guard fields.left > 0 else { return nil }
    let first = fields.bytes[fields.position]
    let sizeSize = first.leadingZeroBitCount + 1
    guard sizeSize <= 8 else { return nil }
    let mask = 1 << (7 * sizeSize) - 1
    let size = fields.number(sizeSize) & mask
    guard !fields.isShort, size <= fields.left else { return nil }
    return Element(id: id, range: fields.range(size), bytes: fields.bytes)
  }
}
