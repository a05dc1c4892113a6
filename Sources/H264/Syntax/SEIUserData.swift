/// Messages with the data of others.
extension SEIParser {
  /// `user_data_unregistered()` (H.264 §D.1.7): the UUID, and the rest as `text` when it is that.
  func parseUnregisteredUserData(_ reader: inout BitReader) throws(SyntaxError) {
    guard reader.bitsLeft >= 128 else {
      throw SyntaxError("uuid_iso_iec_11578", at: reader.position, .truncated)
    }
    guard reader.record != nil else { return }
    let bytes = reader.bytesAhead(limit: 16 + Self.longestText)
    let digits = hex(Array(bytes.prefix(16)))
    var rest = digits[...]
    let groups = [8, 4, 4, 4, 12].map { length in
      defer { rest = rest.dropFirst(length) }
      return String(rest.prefix(length))
    }
    reader.record?.add("uuid_iso_iec_11578", groups.joined(separator: "-"))
    try reader.skip(bytes: 16)
    if let text = Self.text(bytes[16...], isCut: reader.bitsLeft / 8 > Self.longestText) {
      reader.record?.add("text", text)
    } else {
      recordBytes(&reader)
    }
  }

  /// In bytes of UTF-8.
  private static let longestText = 4096

  /// The bytes as text, without the zeros at the end, or nil if they are none.
  private static func text(_ bytes: ArraySlice<UInt8>, isCut: Bool) -> String? {
    var bytes = bytes
    if isCut {
      // Not in the middle of a character.
      while let last = bytes.last, last & 0xC0 == 0x80 { bytes.removeLast() }
      if let last = bytes.last, last >= 0xC0 { bytes.removeLast() }
    }
    while bytes.last == 0 { bytes.removeLast() }
    guard !bytes.isEmpty, let text = String(validating: bytes, as: UTF8.self),
      text.unicodeScalars.allSatisfy(Self.isPrintable)
    else { return nil }
    return text
  }

  /// Not a control character, or one that lays out text.
  private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value >= 32 && !(0x7F...0x9F).contains(scalar.value)
      || [9, 10, 13].contains(scalar.value)
  }

  /// `user_data_registered_itu_t_t35()` (H.264 §D.1.6). Closed captions and active format
  /// descriptions of ATSC A/53 part 4 are read, other data shown as bytes.
  func parseRegisteredUserData(_ reader: inout BitReader) throws(SyntaxError) {
    let country = try reader.u(8, "itu_t_t35_country_code")
    if country == 0xFF { _ = try reader.u(8, "itu_t_t35_country_code_extension_byte") }
    // Only of this country it is known that its provider codes have two bytes.
    guard country == Self.unitedStates else { return recordBytes(&reader) }
    let provider = try reader.u(16, "itu_t_t35_provider_code")
    let identifier = reader.bytesAhead(limit: 4)
    switch (provider, String(decoding: identifier, as: UTF8.self)) {
    case (Self.atsc, "GA94"):
      reader.record?.add("user_identifier", "GA94")
      try reader.skip(bytes: 4)
      try parseCaptions(&reader)
    case (Self.atsc, "DTG1"):
      reader.record?.add("user_identifier", "DTG1")
      try reader.skip(bytes: 4)
      try parseActiveFormat(&reader)
    case (Self.directTV, _):
      try parseCaptions(&reader)
    default:
      recordBytes(&reader)
    }
  }

  private static let unitedStates = 0xB5
  private static let atsc = 0x0031
  private static let directTV = 0x002F

  /// `ATSC1_data()` from its type on; cc_data() holds CEA-608 and CEA-708 captions.
  private func parseCaptions(_ reader: inout BitReader) throws(SyntaxError) {
    guard try reader.u(8, "user_data_type_code") == 3 else { return recordBytes(&reader) }
    _ = try reader.flag("process_em_data_flag")
    _ = try reader.flag("process_cc_data_flag")
    _ = try reader.flag("additional_data_flag")
    let count = try reader.u(5, "cc_count")
    _ = try reader.u(8, "em_data")
    var (valid608, valid708) = (0, 0)
    for _ in 0..<count {
      // marker_bits, cc_valid, cc_type, cc_data_1, cc_data_2
      let triplet = try reader.unrecorded(24, "cc_data")
      guard triplet >> 18 & 1 == 1 else { continue }
      if triplet >> 17 & 1 == 0 { valid608 += 1 } else { valid708 += 1 }
    }
    reader.record?.add("captions", "CEA-608/708")
    reader.record?.add("cea_608_count", valid608)
    reader.record?.add("cea_708_count", valid708)
  }

  /// `afd_data()`.
  private func parseActiveFormat(_ reader: inout BitReader) throws(SyntaxError) {
    _ = try reader.unrecorded(1, "zero_bit")
    let hasFormat = try reader.flag("active_format_flag")
    _ = try reader.unrecorded(6, "reserved")
    if hasFormat {
      _ = try reader.unrecorded(4, "reserved")
      _ = try reader.u(4, "active_format")
    }
  }
}
