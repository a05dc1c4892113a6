/// The four characters of a box type, a brand, a handler or a codec.
package struct FourCharacters: Hashable, Sendable, ExpressibleByStringLiteral {
  package let value: UInt32

  init(_ value: Int) {
    self.value = UInt32(truncatingIfNeeded: value)
  }

  package init(stringLiteral text: String) {
    value = text.utf8.reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// As text; bytes beyond ASCII are Latin-1, as QuickTime's `©nam`.
  package var text: String {
    var text = ""
    for shift in [24, 16, 8, 0] as [UInt32] {
      text.unicodeScalars.append(UnicodeScalar(UInt8(value >> shift & 0xFF)))
    }
    return text
  }
}

/// A box as it is listed.
package struct BoxEntry: Equatable, Sendable {
  package let type: FourCharacters
  /// The first byte of its header in the upload.
  package let offset: Int
  /// With its header; nil when it extends to the end of the upload.
  package let size: Int?
  package let headerSize: Int
  /// 0 at the top.
  package let depth: Int
}
