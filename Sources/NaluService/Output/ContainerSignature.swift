/// Containers and other video that a byte stream scanner would take for H.264, because pieces of it
/// are inside or look like it.
enum ContainerSignature {
  /// What the stream is, by its first bytes; nil for none of these.
  static func name(of bytes: Span<UInt8>) -> String? {
    func begins(_ signature: [UInt8], at first: Int = 0) -> Bool {
      bytes.count >= first + signature.count
        && signature.indices.allSatisfy { bytes[first + $0] == signature[$0] }
    }
    if begins([0, 0, 1, 0xBA]) { return "an MPEG program stream" }
    if begins([0, 0, 1, 0xB3]) { return "MPEG-1 or MPEG-2 video" }
    if begins([0, 0, 1, 0xB0]) || begins([0, 0, 1, 0, 0, 0, 1, 0x20]) { return "MPEG-4 Visual" }
    if begins([0x7F, 0x45, 0x4C, 0x46]) { return "an ELF program" }
    if begins(Array("ftyp".utf8), at: 4) { return "an MP4 file" }
    if begins([0x1A, 0x45, 0xDF, 0xA3]) { return "a Matroska file" }
    if begins(Array("FLV".utf8)) { return "an FLV file" }
    let packets = min(bytes.count / 188, 4)
    let isTransportStream = packets >= 2 && (0..<packets).allSatisfy { bytes[188 * $0] == 0x47 }
    return isTransportStream ? "an MPEG transport stream" : nil
  }
}
