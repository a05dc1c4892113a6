/// Other files that people send, and other video that a byte stream scanner would take for H.264
/// because pieces look like it.
enum FileSignature {
  /// Files that are no video, or not of this kind, and that people send by mistake.
  private static let files: [(signature: [UInt8], offset: Int, name: String)] = [
    ([0x89, 0x50, 0x4E, 0x47], 0, "a PNG image"), ([0xFF, 0xD8, 0xFF], 0, "a JPEG image"),
    (Array("GIF8".utf8), 0, "a GIF image"), (Array("PK\u{3}\u{4}".utf8), 0, "a ZIP archive"),
    (Array("AVI ".utf8), 8, "an AVI file"), (Array("ID3".utf8), 0, "an MP3 file"),
    ([0xFF, 0xFB], 0, "an MP3 file"), (Y4MHeader.magic, 0, "Y4M video"),
  ]

  /// What it is, by its first bytes; nil for none of these.
  static func name(of bytes: Span<UInt8>) -> String? {
    func begins(_ signature: [UInt8], at first: Int = 0) -> Bool {
      bytes.count >= first + signature.count
        && signature.indices.allSatisfy { bytes[first + $0] == signature[$0] }
    }
    if begins([0, 0, 1, 0xBA]) { return "an MPEG program stream" }
    if begins([0, 0, 1, 0xB3]) { return "MPEG-1 or MPEG-2 video" }
    if begins([0, 0, 1, 0xB0]) || begins([0, 0, 1, 0, 0, 0, 1, 0x20]) { return "MPEG-4 Visual" }
    if begins([0x7F, 0x45, 0x4C, 0x46]) { return "an ELF program" }
    return files.first { begins($0.signature, at: $0.offset) }?.name
  }
}
