import HTTP
import Platform
import Testing
import TestSupport

/// Requests with and without bodies, as clients send them.
@Suite struct ServerTests {
  @Test func answersAGet() throws {
    let service = Service { request, _ in .respond(.text("hello \(request.path)")) }
    let server = try Server(.init(), handler: service)
    defer { server.stop() }
    let client = Client(port: server.port)
    let reply = client.request("GET /a%20b?x=1&x=%2B+2&y HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(reply.status == 200)
    #expect(reply.text == "hello /a b")
    #expect(reply.header("date") != nil)
    let request = try #require(service.requests.first)
    #expect(request.query.map(\.name) == ["x", "x", "y"])
    #expect(request.query.map(\.value) == ["1", "+ 2", ""])
    #expect(request.rawTarget == "/a%20b?x=1&x=%2B+2&y")
    #expect(request.remoteAddress == "127.0.0.1")
    #expect(request.header("HOST") == "a")
    // The connection stays usable.
    #expect(client.request("GET /c HTTP/1.1\r\nHost: a\r\n\r\n").text == "hello /c")
  }

  @Test(arguments: [0, 1, 1000, 65_536, 3_000_000])
  func receivesAnUploadOfKnownLength(size: Int) throws {
    let service = Service { _, exchange in .receive(Collector(exchange)) }
    let server = try Server(.init(), handler: service)
    defer { server.stop() }
    let client = Client(port: server.port)
    let body = pattern(size)
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(size)\r\n\r\n")
    client.send(body)
    let reply = client.reply()
    #expect(reply.status == 200)
    #expect(reply.body == body)
    #expect(
      client.request("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok").text == "ok")
  }

  @Test func receivesAChunkedUpload() throws {
    let service = Service { _, exchange in .receive(Collector(exchange)) }
    let server = try Server(.init(), handler: service)
    defer { server.stop() }
    let client = Client(port: server.port)
    let reply = client.request(
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nTrailer: t\r\n\r\n")
    #expect(reply.text == "hello world")
    #expect(service.requests.first?.isChunked == true)
    #expect(service.requests.first?.contentLength == nil)
  }

  /// Every other offer is refused, and resumed from another thread.
  @Test(arguments: [false, true])
  func suspendsAnUploadThatIsNotTaken(isChunked: Bool) throws {
    let server = try Server(
      .init(), handler: Service { _, exchange in .receive(Reluctant(exchange)) })
    defer { server.stop() }
    let client = Client(port: server.port)
    let body = pattern(2_000_000)
    if isChunked {
      client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
      for start in stride(from: 0, to: body.count, by: 40_000) {
        client.send("\(String(40_000, radix: 16))\r\n")
        client.send(Array(body[start..<start + 40_000]))
        client.send("\r\n")
      }
      client.send("0\r\n\r\n")
    } else {
      client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.count)\r\n\r\n")
      client.send(body)
    }
    #expect(client.reply().body == body)
  }

  @Test func streamsAnAnswerThatIsProducedSlowly() throws {
    let server = try Server(
      .init(),
      handler: Service { request, exchange in
        let source = Ticker(exchange, parts: 50, length: request.path == "/sized" ? 50 * 7 : nil)
        return .respond(source.response)
      })
    defer { server.stop() }
    let expected = (0..<50).map { "part \($0 % 10)\n" }.joined()
    let client = Client(port: server.port)
    let chunked = client.request("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(chunked.text == expected)
    #expect(chunked.isComplete)
    #expect(chunked.trailers.map(\.name) == ["Parts"])
    #expect(chunked.trailers.map(\.value) == ["50"])
    let sized = client.request("GET /sized HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(sized.text == expected)
    #expect(sized.header("content-length") == "350")
    // An HTTP/1.0 client has no chunks: the connection's end is the body's.
    let oldClient = Client(port: server.port)
    let old = oldClient.request("GET / HTTP/1.0\r\n\r\n")
    #expect(old.text == expected)
    #expect(old.isComplete)
    // The server has closed it, whatever the client does.
    #expect(eventually { server.openConnections == 1 })
    client.hangUp()
    oldClient.hangUp()
  }
}
