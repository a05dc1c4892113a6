/// `data` in the alphabet of RFC 4648 §4, padded.
package func base64(_ data: [UInt8]) -> String {
  var text = ""
  text.reserveCapacity((data.count + 2) / 3 * 4)
  for start in stride(from: 0, to: data.count, by: 3) {
    let end = min(start + 3, data.count)
    var group: UInt32 = 0
    for index in start..<start + 3 {
      group = group << 8 | (index < end ? UInt32(data[index]) : 0)
    }
    for position in 0..<4 {
      let isPadding = position > end - start
      let digit = Int(group >> UInt32(18 - 6 * position) & 63)
      text.append(isPadding ? "=" : base64Alphabet[digit])
    }
  }
  return text
}

private let base64Alphabet = Array(
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")

/// The bytes that `text` stands for in one of the alphabets of RFC 4648 §4 and §5, padded or not; nil
/// when it stands for none. A space is a plus sign that a query string lost.
package func base64Decoded(_ text: String) -> [UInt8]? {
  var bytes: [UInt8] = []
  var group: UInt32 = 0
  var digits = 0
  var padding = 0
  for character in text.utf8 {
    if character == UInt8(ascii: "=") {
      padding += 1
      continue
    }
    guard padding == 0, let digit = digit(of: character) else { return nil }
    group = group << 6 | digit
    digits += 1
    if digits % 4 == 0 {
      for shift in [16, 8, 0] as [UInt32] { bytes.append(UInt8(group >> shift & 0xFF)) }
      group = 0
    }
  }
  let rest = digits % 4
  guard rest != 1, padding <= 2, padding == 0 || (digits + padding) % 4 == 0 else { return nil }
  if rest > 0 {
    group <<= UInt32(6 * (4 - rest))
    bytes.append(UInt8(group >> 16 & 0xFF))
    if rest == 3 { bytes.append(UInt8(group >> 8 & 0xFF)) }
  }
  return bytes
}

private func digit(of character: UInt8) -> UInt32? {
  switch character {
  case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
  case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
  case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
  case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: " "): 62
  case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
  default: nil
  }
}
