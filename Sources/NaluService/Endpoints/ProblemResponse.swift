package import HTTP

extension Response {
  /// A problem as `application/problem+json` (RFC 9457).
  package init(_ problem: Problem, headers: [Request.Field] = [], closesConnection: Bool = false) {
    var fields = headers
    fields.insert(("Content-Type", "application/problem+json"), at: 0)
    switch problem.code {
    case .queueFull, .draining, .insufficientStorage: fields.append(("Retry-After", "1"))
    case .unauthorized: fields.append(("WWW-Authenticate", "Bearer"))
    default: break
    }
    self.init(
      status: problem.status, headers: fields, body: .bytes(problem.json),
      closesConnection: closesConnection)
  }
}
