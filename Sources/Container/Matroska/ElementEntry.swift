/// An element of Matroska's first level as it is listed.
package struct ElementEntry: Equatable, Sendable {
  package let id: UInt32
  /// The first byte of its id in the upload.
  package let offset: Int
  /// With its id and size; nil when its size is unknown.
  package let size: Int?
  /// 0 for the EBML header and the segment, 1 for what the segment has.
  package let depth: Int

  /// Its name in RFC 9559; nil when it is none that is known.
  package var name: String? { Self.names[id] }

  private static let names: [UInt32: String] = [
    0x1A45_DFA3: "EBML", 0x1853_8067: "Segment", 0x114D_9B74: "SeekHead", 0x1549_A966: "Info",
    0x1654_AE6B: "Tracks", 0x1F43_B675: "Cluster", 0x1C53_BB6B: "Cues", 0x1043_A770: "Chapters",
    0x1254_C367: "Tags", 0x1941_A469: "Attachments", 0xEC: "Void", 0xBF: "CRC-32",
  ]
}
