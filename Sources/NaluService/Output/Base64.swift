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
