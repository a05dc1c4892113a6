/// Who answers requests.
package protocol RequestHandler: AnyObject, Sendable {
  /// The head is complete. Decides at once, before `100 Continue` is sent; runs on an I/O thread
  /// and must not block.
  func begin(_ request: Request, _ exchange: Exchange) -> Disposition

  /// The answer to a request that must be refused for its form; the connection ends after it. Of
  /// the request only what could be read is there.
  func refusal(of violation: Violation, _ request: Request) -> Response
}

/// What is to be done with a request.
package enum Disposition: Sendable {
  /// Answers; a body is thrown away.
  case respond(Response)
  /// Reads the body; `Exchange.respond` follows sooner or later.
  case receive(any Upload)
}

/// Where a body goes; of `multipart/form-data`, the content of its file part, or of its two.
///
/// All calls come from one I/O thread, and must not block.
package protocol Upload: AnyObject, Sendable {
  /// Takes all of `bytes` and returns true, or takes nothing and returns false: the same bytes
  /// are offered again after `Exchange.resumeUpload()`. Not called after `Exchange.respond`.
  func receive(_ bytes: Span<UInt8>) -> Bool

  /// The name of a second file part that the form may have; nil: there must be one only.
  var secondPartName: String? { get }

  /// Bytes that the body may have, with everything that a form has beside its files; one that has
  /// more fails with `bodyTooLarge`.
  var bodyLimit: Int { get }

  /// As `receive`, with the content of the second part.
  func receiveSecond(_ bytes: Span<UInt8>) -> Bool

  /// The body is complete. Not called after `Exchange.respond`.
  func endOfUpload()

  /// The body cannot be read on; `Exchange.respond` is expected.
  func failed(_ error: UploadError)

  /// The client is too slow with its body, and the connection ends: `Exchange.respond` may follow
  /// before this returns, else the answer is the handler's `refusal`. Comes from another thread than
  /// the other calls, perhaps at the same time as one of them.
  func stalled()

  /// Nothing more will be asked of this exchange. Called exactly once, last.
  func ended(_ outcome: Outcome)
}

extension Upload {
  package var secondPartName: String? { nil }

  package var bodyLimit: Int { .max }

  package func receiveSecond(_ bytes: Span<UInt8>) -> Bool { true }

  package func stalled() {}
}

/// How an exchange ended.
package enum Outcome: Equatable, Sendable {
  /// The answer was handed to the kernel in full.
  case delivered
  case clientGone
  /// The client was too slow; see `Server.Configuration`.
  case timedOut
  /// `Server.stop()`.
  case stopped
  /// `Exchange.abort()`, a failed body, or a body that broke the protocol.
  case aborted
}
