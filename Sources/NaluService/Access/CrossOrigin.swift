internal import HTTP

/// Which web pages of other origins may use the service (CORS, WHATWG Fetch §3.2). None, unless
/// origins are named.
struct CrossOrigin: Sendable {
  /// As a browser sends them (`https://example.org`), or `*` for all.
  let origins: [String]

  /// The fields that let the page that sent `request` read the answer; none for other pages.
  func fields(for request: Request) -> [Request.Field] {
    guard !origins.isEmpty, let origin = request.header("Origin") else { return [] }
    guard origins.contains("*") || origins.contains(origin) else { return [("Vary", "Origin")] }
    return [
      ("Access-Control-Allow-Origin", origins.contains("*") ? "*" : origin), ("Vary", "Origin"),
      (
        "Access-Control-Expose-Headers",
        "Nalu-Job-Id, Nalu-Frames-In, Nalu-Frames-Out, Nalu-Frames-Skipped, Nalu-Decode-Errors, "
          + "Nalu-Width, Nalu-Height, Nalu-Pix-Fmt, Nalu-Note, Retry-After, Server-Timing"
      ),
    ]
  }

  /// A web page sent the request that is neither of a named origin nor of the server's own.
  func refuses(_ request: Request) -> Bool {
    guard let origin = request.header("Origin"), !origins.contains("*"), !origins.contains(origin)
    else { return false }
    guard let host = origin.split(separator: "://", maxSplits: 1).dropFirst().first else {
      return true
    }
    return host.lowercased() != request.header("Host")?.lowercased()
  }

  /// What a preflight request is told beside `fields(for:)`.
  func preflightFields(for request: Request, methods: String) -> [Request.Field] {
    guard fields(for: request).count > 1 else { return [] }
    return [
      ("Access-Control-Allow-Methods", methods),
      ("Access-Control-Allow-Headers", "Authorization, Content-Type, X-Request-Id"),
      ("Access-Control-Max-Age", "600"),
    ]
  }
}
