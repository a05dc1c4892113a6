/// An answer.
package struct Response: Sendable {
  package enum Body: Sendable {
    case none
    case bytes([UInt8])
    /// Produced while it is sent. Without a length it is chunked, or ends with the connection
    /// for an HTTP/1.0 client.
    case stream(any BodySource, length: Int?)
  }

  package var status: Int
  /// In order. `Content-Length`, `Transfer-Encoding`, `Connection` and `Date` are the server's;
  /// characters that cannot stand in a field are replaced by spaces.
  package var headers: [Request.Field]
  package var body: Body
  package var closesConnection: Bool

  package init(
    status: Int, headers: [Request.Field] = [], body: Body = .none, closesConnection: Bool = false
  ) {
    self.status = status
    self.headers = headers
    self.body = body
    self.closesConnection = closesConnection
  }
}

/// What a body source could give.
package enum BodyRead: Equatable, Sendable {
  /// Some bytes were appended.
  case some
  /// Nothing was appended: the connection sleeps until `Exchange.resumeBody()`.
  case waiting
  /// The body is complete; what was appended is its last part.
  case end
  /// The rest will never come: the connection is cut so that the client notices.
  case failed
}

/// A body that is produced while it is sent.
package protocol BodySource: AnyObject, Sendable {
  /// Fills free room of `output`; runs on an I/O thread and must not block.
  func read(into output: inout OutputSpan<UInt8>) -> BodyRead

  /// Fields that follow a chunked body, asked for once at its end.
  var trailers: [Request.Field] { get }
}

extension BodySource {
  package var trailers: [Request.Field] { [] }
}
