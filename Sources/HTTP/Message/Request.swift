/// The parsed head of a request.
package struct Request: Sendable {
  /// A name and a value, in the order received.
  package typealias Field = (name: String, value: String)

  /// As sent; methods are case-sensitive (RFC 9110 §9.1).
  package var method = ""
  /// Percent-decoded, always valid UTF-8; `*` for `OPTIONS *`.
  package var path = ""
  /// The request target as received.
  package var rawTarget = ""
  /// Decoded, in order, duplicates kept; `+` is a space.
  package var query: [Field] = []
  /// In order, duplicates kept; values without surrounding white space.
  package var headers: [Field] = []
  /// `HTTP/1.1` or `HTTP/1.0`.
  package var version = ""
  /// In bytes; nil when the body is chunked or there is none.
  package var contentLength: Int?
  package var isChunked = false
  /// The client's numeric address, without a port.
  package var remoteAddress = ""

  package init() {}

  /// Whether body bytes follow the head (RFC 9112 §6.3).
  package var hasBody: Bool { isChunked || (contentLength ?? 0) > 0 }

  /// The value of the first field of that name, in any case.
  package func header(_ name: String) -> String? {
    headers.first { equalIgnoringCase($0.name, name) }?.value
  }

  /// The client waits for `100 Continue` before it sends the body.
  var expectsContinue: Bool {
    version != "HTTP/1.0" && header("expect").map { equalIgnoringCase($0, "100-continue") } == true
  }
}

/// Why a request must not be served, whatever it asks for.
package struct Violation: Error, Equatable, Sendable {
  /// The status to answer with.
  package var status: Int
  /// A sentence for people.
  package var detail: String

  package init(status: Int, detail: String) {
    self.status = status
    self.detail = detail
  }
}

/// Equality of ASCII text in any case.
func equalIgnoringCase(_ left: String, _ right: String) -> Bool {
  let left = left.utf8
  let right = right.utf8
  return left.count == right.count
    && zip(left, right).allSatisfy { lowercased($0) == lowercased($1) }
}

private func lowercased(_ byte: UInt8) -> UInt8 {
  byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
}
