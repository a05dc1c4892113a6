package import HTTP

extension Response {
  /// A problem as `application/problem+json` (RFC 9457).
  package init(_ problem: Problem, headers: [Request.Field] = [], closesConnection: Bool = false) {
    var fields = headers
    fields.insert(("Content-Type", "application/problem+json"), at: 0)
    if let seconds = problem.retryAfter { fields.append(("Retry-After", "\(seconds)")) }
    if problem.code == .unauthorized { fields.append(("WWW-Authenticate", "Bearer")) }
    self.init(
      status: problem.status, headers: fields, body: .bytes(problem.json),
      closesConnection: closesConnection)
  }
}
