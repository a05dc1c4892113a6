internal import CMicroHTTPD

/// Reads the head of a request out of libmicrohttpd and judges its form.
///
/// libmicrohttpd 0.9.75 forgives what RFC 9112 forbids, and each lenience is a chance to smuggle a
/// request past a proxy that reads it otherwise: lines that end with LF alone, folded lines, spaces
/// before a colon, zero bytes. It parses in place, so its strings still lie where they were
/// received, with zeros in place of the separators. A head in the one correct form is therefore one
/// whose strings follow each other without a gap; anything else is refused.
struct Head {
  private(set) var request = Request()
  private(set) var violation: Violation?
  /// libmicrohttpd can answer.
  private(set) var leavesRoom = true
  /// Where the next string must begin.
  private var cursor: UnsafeRawPointer
  private var lengths = 0
  private var codings: [String] = []
  private var hosts = 0
  private var cookies = 0
  private var cookieBytes = 0

  init(
    of connection: OpaquePointer, method: UnsafePointer<CChar>, version: UnsafePointer<CChar>,
    target: UnsafePointer<CChar>?, rawTarget: [UInt8], _ room: HeadRoom
  ) {
    let start = UnsafeRawPointer(method)
    cursor = start
    request.method = String(cString: method)
    request.version = String(cString: version)
    request.rawTarget = String(decoding: rawTarget, as: UTF8.self)
    if !room.holds(target: rawTarget) {
      leavesRoom = false
      refuse(414, "The target is too long, or has too many parameters.")
    }
    if !request.method.utf8.allSatisfy(isTokenCharacter) {
      refuse(400, "The request method is not a token.")
    }
    follow(start, count: request.method.utf8.count, separator: 1)
    follow(target.map { UnsafeRawPointer($0) }, count: rawTarget.count, separator: 1)
    follow(UnsafeRawPointer(version), count: request.version.utf8.count, separator: 2)
    withUnsafeMutablePointer(to: &self) { head in
      _ = MHD_get_connection_values_n(connection, .HEADER_KIND, takeField, head)
    }
    let size = nalu_http_head_size(connection)
    if cursor + 2 != start + size { refuseLayout() }
    let fields = request.headers.count + cookies
    if !room.holds(head: size + cookieBytes, fields: fields, target: rawTarget) {
      leavesRoom = false
      refuse(431, "The head of the request is too large, or has too many fields.")
    }
    do throws(Violation) {
      let target = try Target(parsing: rawTarget.span, method: request.method)
      request.path = target.path
      request.query = target.query
    } catch {
      refuse(error.status, error.detail)
    }
    judgeFraming()
  }

  /// Takes a header field; `key` and `value` point into the received bytes.
  fileprivate mutating func take(
    key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
  ) {
    guard let keyStart = key.baseAddress, let valueStart = value.baseAddress else {
      return refuseLayout()
    }
    let name = String(decoding: key, as: UTF8.self)
    if key.isEmpty || !key.allSatisfy(isTokenCharacter) {
      refuse(400, "A header field name is not a token directly followed by a colon.")
    }
    if value.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) {
      refuse(400, "A header field value contains a control character.")
    }
    follow(keyStart, count: key.count, separator: 1)
    // White space between the colon and the value.
    while violation == nil && cursor < valueStart && isWhiteSpace(cursor.load(as: UInt8.self)) {
      cursor += 1
    }
    follow(valueStart, count: value.count, separator: 2)

    var trimmed = value[...]
    while let last = trimmed.last, isWhiteSpace(last) { trimmed.removeLast() }
    request.headers.append((name: name, value: String(decoding: trimmed, as: UTF8.self)))
    switch name.utf8.count {
    case 4 where equalIgnoringCase(name, "host"):
      hosts += 1
    case 6 where equalIgnoringCase(name, "cookie"):
      // libmicrohttpd takes a copy apart.
      cookies += 1 + value.count { $0 == UInt8(ascii: ";") }
      cookieBytes += value.count
    case 14 where equalIgnoringCase(name, "content-length"):
      lengths += 1
      request.contentLength = Int(String(decoding: value, as: UTF8.self))
    case 17 where equalIgnoringCase(name, "transfer-encoding"):
      // As it is: libmicrohttpd compares it untrimmed.
      codings.append(String(decoding: value, as: UTF8.self))
    default:
      break
    }
  }

  /// Moves over a string that must lie at the cursor, and the zeros that took the place of its
  /// separator.
  private mutating func follow(_ string: UnsafeRawPointer?, count: Int, separator: Int) {
    guard violation == nil else { return }
    guard string == cursor else { return refuseLayout() }
    cursor += count + separator
  }

  /// How the body is delimited (RFC 9112 §6.3), and what else must hold before anything is done.
  private mutating func judgeFraming() {
    if lengths > 0 && !codings.isEmpty {
      refuse(400, "Content-Length and Transfer-Encoding exclude each other.")
    }
    if lengths > 1 {
      refuse(400, "There is more than one Content-Length.")
    }
    if lengths == 1 && request.contentLength == nil {
      refuse(400, "Content-Length is not a number.")
    }
    if !codings.isEmpty && request.version == "HTTP/1.0" {
      refuse(400, "HTTP/1.0 has no Transfer-Encoding.")
    }
    if codings.count > 1 {
      refuse(400, "There is more than one Transfer-Encoding.")
    }
    if let coding = codings.first {
      request.isChunked = true
      if !equalIgnoringCase(coding, "chunked") {
        refuse(501, "Of the transfer codings only chunked is known here.")
      }
    }
    if hosts != 1 && (request.version != "HTTP/1.0" || hosts > 1) {
      refuse(400, "There must be one Host field.")
    }
    if let expectation = request.header("expect"), !equalIgnoringCase(expectation, "100-continue") {
      refuse(417, "Of the expectations only 100-continue is known here.")
    }
  }

  private mutating func refuseLayout() {
    refuse(
      400,
      "The request head is malformed: single spaces, no folded lines, and every line ended by CRLF."
    )
  }

  /// The first reason stays.
  private mutating func refuse(_ status: Int, _ detail: String) {
    if violation == nil { violation = Violation(status: status, detail: detail) }
  }
}

private let takeField: MHD_KeyValueIteratorN = { head, _, key, keySize, value, valueSize in
  head?.assumingMemoryBound(to: Head.self).pointee.take(
    key: UnsafeRawBufferPointer(start: key, count: keySize),
    value: UnsafeRawBufferPointer(start: value, count: valueSize))
  return .YES
}

private func isWhiteSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

/// RFC 9110 §5.6.2.
func isTokenCharacter(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "a")...UInt8(ascii: "z"):
    true
  case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"),
    UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"),
    UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^"), UInt8(ascii: "_"),
    UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
    true
  default:
    false
  }
}
