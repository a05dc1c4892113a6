import HTTP
import Platform
import Testing
import TestSupport

/// Forms of a request that a proxy in front might read otherwise than the server behind.
@Suite struct StrictnessTests {
  static let refused: [(String, Int)] = [
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length : 3\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\n Content-Length: 3\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nX: 1\r\n 2\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n 2\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n", 501),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked \r\n\r\n", 501),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n", 501),
    (
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: gzip\r\n\r\n",
      400
    ),
    ("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    ("GET / HTTP/1.1\nHost: a\n\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\n\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: b\0c\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: \u{1}\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nX(y): b\r\n\r\n", 400),
    ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /  HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("G@T / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n", 417),
    ("GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /a%00b HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /?a=%00 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /%f HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /%fg HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /%ff HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /%C0%AF HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /é HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET /#x HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("GET x HTTP/1.1\r\nHost: a\r\n\r\n", 400),
    ("CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", 400),
  ]

  @Test(arguments: StrictnessTests.refused)
  func refusesAndCloses(text: String, status: Int) throws {
    let service = Service { _, exchange in .receive(Collector(exchange)) }
    let server = try Server(.init(), handler: service)
    defer { server.stop() }
    let client = Client(port: server.port)
    // What follows must not be taken for another request.
    let reply = client.request(text + "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(reply.status == status)
    #expect(reply.isComplete)
    #expect(reply.header("connection") == "close")
    #expect(service.violations.map(\.status) == [status])
    #expect(reply.text == service.violations.first?.detail)
    #expect(client.isEnded())
    #expect(service.requests.isEmpty)
  }

  /// These libmicrohttpd refuses before anybody is asked.
  @Test(arguments: [
    ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505),
    ("GET / HTTP/0.9\r\nHost: a\r\n\r\n", 505),
    ("GET /\r\nHost: a\r\n\r\n", 400),
    ("GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400),
    ("GET / HTTP/1.1\r\nnonsense\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x10\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3 \r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3, 3\r\n\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", 413),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n", 400),
  ])
  func refusesWhatCannotBeParsed(text: String, status: Int) throws {
    let service = Service { _, exchange in .receive(Collector(exchange)) }
    let server = try Server(.init(), handler: service)
    defer { server.stop() }
    let client = Client(port: server.port)
    let reply = client.request(text + "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(reply.status == status)
    #expect(reply.isComplete)
    #expect(!service.requests.contains { $0.path == "/smuggled" })
    // Version 0.9.75 sends some of these heads twice; the status and the end are right.
    #expect(client.readsToTheEnd())
  }

  @Test func refusesAnOverlongHead() throws {
    let service = Service { _, _ in .respond(.text("ok")) }
    let server = try Server(.init(), handler: service)
    defer { server.stop() }
    let target = Client(port: server.port)
      .request("GET /\(String(repeating: "a", count: 200_000)) HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(target.status == 414)
    let field = Client(port: server.port)
      .request(
        "GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 200_000))\r\n\r\n")
    #expect(field.status == 431)
    #expect(service.requests.isEmpty)
  }

  /// A request line or head that would fill a connection's memory, with what libmicrohttpd keeps of it.
  @Test(
    arguments: [
      (0, 450, 0, 414), (0, 500, 0, 414), (0, 2000, 0, 414), (20_000, 200, 0, 414),
      (31_000, 0, 0, 414), (0, 0, 425, 431), (0, 0, 447, 431), (0, 200, 240, 431),
      (25_000, 10, 80, 431), (30_000, 5, 2, 200), (0, 400, 2, 200), (0, 0, 400, 200),
    ])
  func aHeadThatLeavesNoRoomIsRefusedAtOnce(
    path: Int, parameters: Int, fields: Int, status: Int
  ) throws {
    let service = Service { _, _ in .respond(.text("ok")) }
    let server = try Server(.init(), handler: service)
    defer { server.stop() }
    let query = (0..<parameters).map { "a\($0)=1" }.joined(separator: "&")
    let target =
      "/\(String(repeating: "a", count: path))" + (parameters > 0 ? "?\(query)" : "")
    let head = (0..<fields).map { "X\($0): a\r\n" }.joined()
    let client = Client(port: server.port)
    let reply = client.request("GET \(target) HTTP/1.1\r\nHost: a\r\n\(head)\r\n")
    #expect(reply.status == status)
    #expect(reply.isComplete)
    if status != 200 {
      #expect(reply.text == service.violations.first?.detail)
      #expect(client.readsToTheEnd())
    }
    #expect(service.requests.count == (status == 200 ? 1 : 0))
    client.hangUp()
    #expect(eventually { server.openConnections == 0 })
  }

  /// More of those at once than one, and others between them: none may leave a connection behind that
  /// is closed and is not.
  @Test func headsThatLeaveNoRoomDoNotHarmOthers() throws {
    let service = Service { _, _ in .respond(.text("ok")) }
    let server = try Server(.init(), handler: service)
    defer { server.stop() }
    let query = (0..<500).map { "a\($0)=1" }.joined(separator: "&")
    let cookies = (0..<400).map { "a\($0)=b" }.joined(separator: "; ")
    for _ in 0..<100 {
      let long = Client(port: server.port).request("GET /?\(query) HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(long.status == 414)
      let sweet = Client(port: server.port)
        .request("GET / HTTP/1.1\r\nHost: a\r\nCookie: \(cookies)\r\n\r\n")
      #expect(sweet.status == 431)
      #expect(
        Client(port: server.port).request("GET / HTTP/1.1\r\nHost: a\r\n\r\n").status == 200)
    }
    #expect(eventually { server.openConnections == 0 })
  }

  /// What is unusual but right.
  @Test(arguments: [
    "GET / HTTP/1.1\r\nHost:a\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: \t a\t \r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nEmpty:\r\nNext: 1\r\n\r\n",
    "GET / HTTP/1.1\r\nhOST: a\r\nCookie: a=b; c=d\r\nX-Long: \(String(repeating: "x", count: 9000))\r\n\r\n",
    "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 003\r\n\r\nabc",
    "BREW / HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET / HTTP/1.2\r\nHost: a\r\n\r\n",
  ])
  func accepts(text: String) throws {
    let service = Service { request, exchange in
      request.hasBody ? .receive(Collector(exchange)) : .respond(.text("ok"))
    }
    let server = try Server(.init(), handler: service)
    defer { server.stop() }
    let client = Client(port: server.port)
    #expect(client.request(text).status == 200)
    #expect(service.violations.isEmpty)
    let next = client.request("GET /next HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(next.status == 200)
    #expect(service.requests.map(\.path) == ["/", "/next"])
  }

  /// Where a chunked body ends may be doubtful, since libmicrohttpd forgives bare LF and CR around
  /// chunks: what follows is never taken for a request.
  @Test(arguments: [
    "0\r\n\r\n", "5\r\nhello\r\n0\r\n\r\n", "5\nhello\n0\n\n", "5;a\rb\r\nhello\r\n0\r\n\r\n",
    "5;\nhello\r\n0\r\n\r\n", "0\r\nX: y\n\n",
  ])
  func endsTheConnectionAfterAChunkedBody(body: String) throws {
    let service = Service { _, exchange in .receive(Collector(exchange)) }
    let server = try Server(.init(), handler: service)
    defer { server.stop() }
    let client = Client(port: server.port)
    let reply = client.request(
      "POST / HTTP/1.1\r\nHost: a\r\ntransfer-encoding: Chunked\r\n\r\n\(body)"
        + "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(reply.status == 200)
    #expect(reply.isComplete)
    #expect(reply.header("connection") == "close")
    #expect(client.isEnded())
    #expect(service.requests.map(\.path) == ["/"])
  }

  @Test func answersAfterASplitHead() throws {
    let service = Service { _, _ in .respond(.text("ok")) }
    let server = try Server(.init(), handler: service)
    defer { server.stop() }
    let client = Client(port: server.port)
    for byte in "GET /x?y=z HTTP/1.1\r\nHost: a\r\nX: 1\r\n\r\n".utf8 {
      client.send([byte])
      usleepShortly()
    }
    #expect(client.reply().status == 200)
    #expect(service.requests.map(\.path) == ["/x"])
  }

  @Test func optionsMayAskForTheServerItself() throws {
    let service = Service { _, _ in .respond(Response(status: 204)) }
    let server = try Server(.init(), handler: service)
    defer { server.stop() }
    let reply = Client(port: server.port).request("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(reply.status == 204)
    #expect(reply.header("content-length") == nil)
    #expect(service.requests.map(\.path) == ["*"])
  }
}
