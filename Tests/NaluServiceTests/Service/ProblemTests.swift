import Testing
import TestSupport

@testable import NaluService

/// Every error is a problem object with the right status and code.
@Suite struct ProblemTests {
  private static let cases: [(String, String, [UInt8]?, Int, String)] = [
    ("GET", "/", nil, 404, "not-found"),
    ("POST", "/encode/", [1], 404, "not-found"),
    ("GET", "/inspect", nil, 405, "method-not-allowed"),
    ("PUT", "/decode", [1], 405, "method-not-allowed"),
    ("DELETE", "/healthz", nil, 405, "method-not-allowed"),
    ("GET", "/version?verbose=1", nil, 400, "unknown-parameter"),
    ("POST", "/encode?width=16&height=16&framerate=25", [1], 400, "unknown-parameter"),
    ("POST", "/encode?width=16&height=16&fps=fast", [1], 400, "invalid-parameter"),
    ("POST", "/encode?width=16&width=16&height=16", [1], 400, "invalid-parameter"),
    ("POST", "/encode?width=16", [1], 400, "missing-parameter"),
    ("POST", "/encode?width=16&height=16&crf=20&qp=20", [1], 400, "conflicting-parameters"),
    ("POST", "/encode?width=17&height=16", [1], 400, "odd-dimensions"),
    ("POST", "/encode?width=16&height=16", [], 400, "empty-body"),
    ("POST", "/inspect", [], 400, "empty-body"),
    ("POST", "/decode", [], 400, "empty-body"),
    ("POST", "/encode?width=16&height=16", [1, 2, 3], 422, "partial-frame"),
    ("POST", "/inspect", Array("not a stream".utf8), 422, "unrecognised-input"),
    ("POST", "/decode", Array("not a stream".utf8), 422, "unrecognised-input"),
    (
      "POST", "/decode?frames=999999999999", Array("not a stream".utf8), 400, "invalid-parameter"
    ),
  ]

  @Test(arguments: cases)
  func isAnsweredAsAProblem(
    method: String, target: String, body: [UInt8]?, status: Int, code: String
  ) throws {
    let running = try RunningService()
    let reply = running.request(method, target, body: body)
    #expect(reply.status == status)
    #expect(reply.header("Content-Type") == "application/problem+json")
    #expect(reply.string("code") == code)
    #expect(reply.string("type") == "/problems/\(code)")
    #expect(reply.integer("status") == status)
    #expect(reply.string("detail")?.isEmpty == false)
    if status == 405 { #expect(reply.header("Allow")?.contains("OPTIONS") == true) }
  }

  @Test func aBodyThatIsTooLargeIsRefusedFromItsLength() throws {
    let running = try RunningService { $0.limits.maxBody = 1000 }
    let client = running.connect()
    client.send(head("POST", "/inspect", headers: ["Expect: 100-continue"], length: 1001))
    let reply = client.reply()
    #expect(reply.status == 413)
    #expect(reply.string("code") == "body-too-large")
    #expect(reply.integer("limit") == 1000)
  }

  @Test func aBodyOfUnknownLengthIsRefusedWhenItBecomesTooLarge() throws {
    let running = try RunningService { $0.limits.maxBody = 1000 }
    let client = running.connect()
    client.send(head("POST", "/inspect", headers: ["Transfer-Encoding: chunked"]))
    for _ in 0..<20 { client.send("64\r\n\(String(repeating: "x", count: 100))\r\n") }
    #expect(client.reply().status == 413)
  }

  /// What belongs to no file of a form is bounded too, however the length of the body is told.
  @Test(arguments: [
    "", "--B\r\nContent-Disposition: form-data; name=f; filename=x\r\n\r\nabc\r\n--B--",
  ])
  func aFormWithoutEndIsRefused(start: String) throws {
    let running = try RunningService { $0.limits.maxBody = 1000 }
    let client = running.connect()
    client.send(
      head(
        "POST", "/inspect",
        headers: [
          "Content-Type: multipart/form-data; boundary=B", "Transfer-Encoding: chunked",
        ]))
    if !start.isEmpty {
      client.send(String(start.utf8.count, radix: 16) + "\r\n\(start)\r\n")
    }
    // Sent, or refused by then; the end of the body is not.
    for _ in 0..<20 { client.send("3E8\r\n\(String(repeating: "x", count: 1000))\r\n") }
    let reply = client.reply()
    #expect(reply.status == 400)
    #expect(reply.string("code") == "malformed-multipart")
    #expect(running.becomesIdle())
  }

  /// The heads of a form are no part of what `max_body` is about.
  @Test func aFormMayCarryAFileOfTheLargestSize() throws {
    let running = try RunningService { $0.limits.maxBody = 1000 }
    for (size, status) in [(1000, 422), (1001, 413)] {
      let start = "--B\r\nContent-Disposition: form-data; name=f; filename=x\r\n\r\n"
      let body =
        Array(start.utf8) + [UInt8](repeating: 120, count: size) + Array("\r\n--B--\r\n".utf8)
      let reply = running.post(
        "/inspect", body, headers: ["Content-Type: multipart/form-data; boundary=B"])
      #expect(reply.status == status)
    }
  }

  @Test func aFullQueueIsRefusedFromTheHeader() throws {
    let running = try RunningService {
      $0.limits.jobs = 1
      $0.limits.queue = 1
      // Too little to lend a codec: it stays with the first.
      $0.limits.maxCodecMemory = 8 << 20
    }
    let frame = [UInt8](repeating: 16, count: 384)
    let busy = (0..<2).map { _ in running.connect() }
    for (client, count) in zip(busy, 1...2) {
      client.send(head("POST", "/encode?width=16&height=16", length: 384 * 2))
      for _ in 0..<count { client.send(frame) }
      try #require(
        eventually { running.service.admission.figures == (admitted: 1, waiting: count - 1) })
    }
    try #require(eventually { running.service.admission.isFull })
    for target in ["/encode?width=16&height=16", "/decode"] {
      let client = running.connect()
      client.send(head("POST", target, headers: ["Expect: 100-continue"], length: 384))
      let refused = client.reply()
      #expect(refused.status == 429)
      #expect(refused.string("code") == "queue-full")
      #expect(refused.header("Retry-After") != nil)
    }
    #expect(running.request("GET", "/readyz").status == 503)
    busy[0].send(frame)
    for client in busy {
      #expect(client.reply().header("Nalu-Frames-Out") == "2")
    }
    #expect(running.request("GET", "/readyz").status == 200)
  }

  @Test func aMalformedFormIsAProblem() throws {
    let running = try RunningService()
    let reply = running.post(
      "/inspect", Array("nonsense".utf8), headers: ["Content-Type: multipart/form-data; boundary=x"]
    )
    #expect(reply.status == 400)
    #expect(reply.string("code") == "malformed-multipart")
  }

  @Test func aRequestOfDoubtfulFormIsAProblem() throws {
    let running = try RunningService()
    let client = running.connect()
    client.send(
      head("POST", "/inspect", headers: ["Transfer-Encoding: chunked"], length: 3) + "0\r\n\r\n")
    let reply = client.reply()
    #expect(reply.status == 400)
    #expect(reply.string("code") == "malformed-request")
  }
}
