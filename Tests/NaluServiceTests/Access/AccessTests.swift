import Glibc
import Platform
import Testing
import TestSupport

@testable import NaluService

@Suite struct AccessTests {
  private func replaceFile(_ path: String, with content: String) throws {
    let file = try OutputFile(path: path)
    try file.write(Array(content.utf8).span)
    try file.commit()
  }

  private func removeFile(_ path: String) { unlink(path) }

  private func tokenFile(_ content: String) throws -> String {
    let path = "/tmp/nalu-test-tokens-\(UInt64.random(in: .min ... .max))"
    try replaceFile(path, with: content)
    return path
  }

  @Test(
    arguments: [
      (nil, false), ("Bearer secret", true), ("bearer other-one", true), ("Bearer secre", false),
      ("Bearer secrets", false), ("Bearer ", false), ("Bearer", false), ("Basic secret", false),
      ("Bearer # no token", false), ("Bearer secretsecret", false),
    ] as [(String?, Bool)])
  func letsInWhoeverHasAToken(authorization: String?, isAllowed: Bool) throws {
    let path = try tokenFile("# no token\n\nsecret\n  other-one \n")
    defer { removeFile(path) }
    #expect(try BearerTokens(path: path).allows(authorization) == isAllowed)
  }

  @Test(arguments: ["", "\n\n", "# only a comment\n"])
  func refusesAFileWithoutATokenRatherThanLettingEverybodyIn(content: String) throws {
    let path = try tokenFile(content)
    defer { removeFile(path) }
    #expect(throws: BearerTokensError.self) { try BearerTokens(path: path) }
  }

  @Test func asksForATokenEverywhereButWhereALoadBalancerLooks() throws {
    let path = try tokenFile("secret\n")
    defer { removeFile(path) }
    let running = try RunningService { $0.tokenFile = path }
    for (method, target) in [
      ("POST", "/inspect"), ("POST", "/encode"), ("GET", "/version"), ("GET", "/metrics"),
      ("GET", "/nothing"),
    ] {
      let reply = running.request(method, target, body: method == "POST" ? [1] : nil)
      #expect(reply.status == 401, "\(target)")
      #expect(reply.header("WWW-Authenticate") == "Bearer")
      #expect(reply.string("code") == "unauthorized")
    }
    #expect(running.request("GET", "/healthz").status == 200)
    #expect(running.request("GET", "/readyz").status == 200)
    let allowed = running.request("GET", "/version", headers: ["Authorization: Bearer secret"])
    #expect(allowed.status == 200)

    try replaceFile(path, with: "fresh\n")
    #expect(running.service.reload(running.server) == ["tokens are read again"])
    let old = running.request("GET", "/version", headers: ["Authorization: Bearer secret"])
    #expect(old.status == 401)
    let fresh = running.request("GET", "/version", headers: ["Authorization: Bearer fresh"])
    #expect(fresh.status == 200)

    try replaceFile(path, with: "")
    #expect(running.service.reload(running.server).first?.hasPrefix("the old tokens stay") == true)
    let still = running.request("GET", "/version", headers: ["Authorization: Bearer fresh"])
    #expect(still.status == 200)
  }

  @Test func tellsOtherOriginsNothingUnlessTheyAreNamed() throws {
    let closed = try RunningService()
    let origin = ["Origin: https://example.org"]
    let plain = closed.request("GET", "/version", headers: origin)
    #expect(plain.header("Access-Control-Allow-Origin") == nil)

    let open = try RunningService { $0.origins = ["https://example.org"] }
    let named = open.request("GET", "/version", headers: origin)
    #expect(named.header("Access-Control-Allow-Origin") == "https://example.org")
    #expect(named.header("Vary") == "Origin")
    let other = open.request("GET", "/version", headers: ["Origin: https://example.com"])
    #expect(other.header("Access-Control-Allow-Origin") == nil)
    let preflight = open.request(
      "OPTIONS", "/encode", headers: origin + ["Access-Control-Request-Method: POST"])
    #expect(preflight.status == 204)
    #expect(preflight.header("Access-Control-Allow-Methods")?.contains("POST") == true)
    for reply in [named, other, preflight] {
      let names = reply.headers.map { $0.name.lowercased() }
      #expect(Set(names).count == names.count, "\(names)")
    }
  }

  @Test func logsWhoeverComesWithoutAToken() throws {
    let path = try tokenFile("secret\n")
    defer { removeFile(path) }
    let running = try RunningService { $0.tokenFile = path }
    for target in ["/version", "/nothing"] { _ = running.request("GET", target) }
    _ = running.post("/inspect", [1])
    let operations = ["version", "other", "inspect"]
    #expect(running.log.count == 3)
    for (line, operation) in zip(running.log, operations) {
      for part in [
        "\"operation\":\"\(operation)\"", "\"status\":401", "\"code\":\"unauthorized\"",
        "\"client\":\"127.0.0.1\"",
      ] {
        #expect(line.contains(part), "\(part) in \(line)")
      }
    }
  }

  @Test func refusesATokenFileThatIsTooLong() throws {
    let path = try tokenFile("secret\n" + String(repeating: "#", count: 1 << 20))
    defer { removeFile(path) }
    #expect(throws: BearerTokensError.self) { try BearerTokens(path: path) }
  }

  @Test func everyAnswerIsMarkedAsData() throws {
    let running = try RunningService()
    for reply in [
      running.request("GET", "/healthz"), running.request("GET", "/nothing"),
      running.post("/inspect", [1]),
    ] {
      #expect(reply.header("X-Content-Type-Options") == "nosniff")
      #expect(reply.header("Content-Security-Policy")?.hasPrefix("default-src 'none'") == true)
      #expect(reply.header("Cache-Control") == "no-store")
    }
  }
}
