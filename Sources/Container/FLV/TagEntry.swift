/// An FLV tag as it is listed.
package struct TagEntry: Equatable, Sendable {
  package enum Kind: String, Sendable {
    case audio, video, script
  }

  package enum PacketType: String, Sendable {
    case sequenceHeader = "sequence_header"
    case units = "nalu"
    case endOfSequence = "end_of_sequence"
    case other
  }

  /// What a video tag says of its picture.
  package struct Video: Equatable, Sendable {
    package let frameType: Int
    package let codec: String?
    package let packetType: PacketType?
    /// Milliseconds.
    package let compositionTime: Int?
  }

  package let index: Int
  /// The first byte of the tag's header.
  package let offset: Int
  package let kind: Kind
  /// Bytes of data, without the header of 11.
  package let size: Int
  /// Milliseconds.
  package let timestamp: Int
  package var video: Video?
  package var audioCodec: String?
}
