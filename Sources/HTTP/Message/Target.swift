/// A request target taken apart (RFC 9112 §3.2), with its escapes undone.
struct Target {
  var path = ""
  var query: [Request.Field] = []

  init(parsing raw: Span<UInt8>, method: String) throws(Violation) {
    for index in 0..<raw.count where raw[index] <= 0x20 || raw[index] >= 0x7F || raw[index] == 0x23
    {
      throw Violation(
        status: 400, detail: "The request target has a character that must be percent-encoded.")
    }
    if method == "OPTIONS" && raw.count == 1 && raw[0] == UInt8(ascii: "*") {
      path = "*"
      return
    }
    let start = try Target.pathStart(in: raw)
    var end = start
    while end < raw.count && raw[end] != UInt8(ascii: "?") { end += 1 }
    path = start == end ? "/" : try decoded(raw.extracting(start..<end), plusIsSpace: false)
    if end < raw.count {
      query = try Target.fields(of: raw.extracting((end + 1)..<raw.count))
    }
  }

  /// Where the path begins: at once, or after the `http://host` of a proxy-style target.
  private static func pathStart(in raw: Span<UInt8>) throws(Violation) -> Int {
    if raw.count > 0 && raw[0] == UInt8(ascii: "/") { return 0 }
    for scheme in ["http://", "https://"] where raw.count > scheme.utf8.count {
      let matches = scheme.utf8.enumerated().allSatisfy { index, byte in
        raw[index] | 0x20 == byte | 0x20
      }
      guard matches else { continue }
      var index = scheme.utf8.count
      while index < raw.count && raw[index] != UInt8(ascii: "/") && raw[index] != UInt8(ascii: "?")
      {
        index += 1
      }
      return index
    }
    throw Violation(status: 400, detail: "The request target is not a path.")
  }

  private static func fields(of query: Span<UInt8>) throws(Violation) -> [Request.Field] {
    var fields: [Request.Field] = []
    var start = 0
    while start < query.count {
      var end = start
      var equals: Int?
      while end < query.count && query[end] != UInt8(ascii: "&") {
        if equals == nil && query[end] == UInt8(ascii: "=") { equals = end }
        end += 1
      }
      if end > start {
        let nameEnd = equals ?? end
        let valueStart = equals.map { $0 + 1 } ?? end
        fields.append(
          (
            name: try decoded(query.extracting(start..<nameEnd), plusIsSpace: true),
            value: try decoded(query.extracting(valueStart..<end), plusIsSpace: true)
          ))
      }
      start = end + 1
    }
    return fields
  }
}

/// Undoes percent-encoding.
private func decoded(_ encoded: Span<UInt8>, plusIsSpace: Bool) throws(Violation) -> String {
  var bytes: [UInt8] = []
  bytes.reserveCapacity(encoded.count)
  var index = 0
  while index < encoded.count {
    switch encoded[index] {
    case UInt8(ascii: "%"):
      guard index + 2 < encoded.count, let high = hexDigit(encoded[index + 1]),
        let low = hexDigit(encoded[index + 2])
      else {
        throw Violation(
          status: 400, detail: "The request target has a % that is not followed by two hex digits.")
      }
      bytes.append(high << 4 | low)
      index += 3
    case UInt8(ascii: "+") where plusIsSpace:
      bytes.append(0x20)
      index += 1
    case let byte:
      bytes.append(byte)
      index += 1
    }
  }
  guard !bytes.contains(0) else {
    throw Violation(status: 400, detail: "The request target contains a zero byte.")
  }
  guard let text = String(validating: bytes, as: UTF8.self) else {
    throw Violation(status: 400, detail: "The request target does not decode to UTF-8.")
  }
  return text
}

private func hexDigit(_ byte: UInt8) -> UInt8? {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
  case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
  case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
  default: nil
  }
}
