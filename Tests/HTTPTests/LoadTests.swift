import Dispatch
import Glibc
import HTTP
import Platform
import Testing
import TestSupport

/// Many connections at once.
@Suite struct LoadTests {
  @Test func servesQuickRequestsBesideHundredsOfIdleUploadsAndStalledReaders() throws {
    let uploads = Box<Collector>()
    let server = try Server(
      .init(),
      handler: Service { request, exchange in
        if request.path == "/quick" { return .respond(.text("quick")) }
        let upload = Collector(exchange) { collector in
          collector.exchange?.respond(
            Response(status: 200, body: .stream(Endless(pauseAfter: 3), length: nil)))
        }
        uploads.put(upload)
        return .receive(upload)
      })
    defer { server.stop() }
    let uploaders = (0..<200).map { _ in
      let client = Client(port: server.port)
      client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc")
      return client
    }
    let readers = (0..<200).map { _ in
      let client = Client(port: server.port)
      client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
      return client
    }
    #expect(eventually { uploads.all.count == 400 })
    let quick = Client(port: server.port)
    for _ in 0..<200 {
      #expect(quick.request("GET /quick HTTP/1.1\r\nHost: a\r\n\r\n").text == "quick")
    }
    #expect(server.openConnections == 401)
    for upload in uploads.all { #expect(upload.outcomes.isEmpty) }
    for client in uploaders + readers { client.hangUp() }
    #expect(eventually { server.openConnections <= 1 })
    #expect(eventually { uploads.all.allSatisfy { $0.outcomes == [.clientGone] } })
  }

  /// Sleeping costs nothing: no thread spins while connections wait.
  @Test func doesNotSpinWhileConnectionsWait() throws {
    let uploads = Box<Reads>()
    let server = try Server(
      .init(),
      handler: Service { request, exchange in
        let reads = Reads(refuses: request.path == "/upload")
        uploads.put(reads)
        return request.path == "/answer"
          ? .respond(Response(status: 200, body: .stream(reads, length: nil))) : .receive(reads)
      })
    defer { server.stop() }
    let clients = ["/upload", "/wait", "/answer"].map { path in
      let client = Client(port: server.port)
      client.send("POST \(path) HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
      return client
    }
    #expect(eventually { uploads.all.count == 3 && uploads.all.allSatisfy { $0.count > 0 } })
    usleep(500_000)
    for reads in uploads.all { #expect(reads.count == 1) }
    for client in clients { client.hangUp() }
  }

  @Test func answersPipelinedRequestsInOrder() throws {
    let server = try Server(
      .init(),
      handler: Service { request, exchange in
        request.hasBody
          ? .receive(Reluctant(exchange))
          : .respond(Ticker(exchange, parts: 2, length: nil).response)
      })
    defer { server.stop() }
    let client = Client(port: server.port)
    let posts = (0..<50).map {
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n\($0 + 10)"
        + "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    }
    client.send(posts.joined())
    for number in 0..<50 {
      #expect(client.reply().text == "\(number + 10)")
      #expect(client.reply().text == "part 0\npart 1\n")
    }
  }

  @Test func keepsTheConnectionAfterErrors() throws {
    let server = try Server(
      .init(),
      handler: Service { request, _ in
        .respond(.text(request.path, status: Int(request.path.dropFirst()) ?? 500))
      })
    defer { server.stop() }
    let client = Client(port: server.port)
    for status in [400, 404, 405, 409, 413, 422, 429, 500, 503, 507] {
      let reply = client.request(
        "POST /\(status) HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
      #expect(reply.status == status)
      #expect(reply.text == "/\(status)")
    }
  }

  @Test func closesWhenItIsToldTo() throws {
    let server = try Server(
      .init(),
      handler: Service { _, _ in
        var response = Response.text("bye")
        response.closesConnection = true
        response.headers.append(("X-Odd", "a\r\nX-Injected: b"))
        response.headers.append(("Content-Length", "99"))
        return .respond(response)
      })
    defer { server.stop() }
    let client = Client(port: server.port)
    let reply = client.request("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(reply.text == "bye")
    #expect(reply.header("connection") == "close")
    #expect(reply.header("x-odd") == "a  X-Injected: b")
    #expect(reply.header("x-injected") == nil)
    #expect(client.isEnded())
    // So does an HTTP/1.0 client that did not ask otherwise.
    let old = Client(port: server.port)
    #expect(old.request("GET / HTTP/1.0\r\n\r\n").text == "bye")
    #expect(old.isEnded())
  }

  @Test(arguments: [nil, 14] as [Int?])
  func sendsNoBodyToAHead(length: Int?) throws {
    let server = try Server(
      .init(),
      handler: Service { request, exchange in
        request.path == "/stream"
          ? .respond(Ticker(exchange, parts: 2, length: length).response)
          : .respond(.text("twelve bytes"))
      })
    defer { server.stop() }
    let client = Client(port: server.port)
    let whole = client.request("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(whole.status == 200)
    #expect(whole.header("content-length") == "12")
    #expect(client.request("GET / HTTP/1.1\r\nHost: a\r\n\r\n").text == "twelve bytes")
    let streamed = client.request("HEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(streamed.status == 200)
    #expect(streamed.header("content-length") == length.map { "\($0)" })
    // Nothing of a body follows.
    if length == nil {
      #expect(client.isEnded())
    } else {
      #expect(client.request("GET / HTTP/1.1\r\nHost: a\r\n\r\n").text == "twelve bytes")
    }
  }

  @Test func limitsTheConnectionsOfAnAddress() throws {
    var configuration = Server.Configuration()
    configuration.perAddressLimit = 5
    let server = try Server(configuration, handler: Service { _, _ in .respond(.text("ok")) })
    defer { server.stop() }
    let clients = (0..<5).map { _ in Client(port: server.port) }
    for client in clients {
      #expect(client.request("GET / HTTP/1.1\r\nHost: a\r\n\r\n").status == 200)
    }
    let sixth = Client(port: server.port)
    #expect(sixth.request("GET / HTTP/1.1\r\nHost: a\r\n\r\n").status == 0)
    clients[0].hangUp()
    #expect(eventually { server.openConnections == 4 })
    let seventh = Client(port: server.port)
    #expect(seventh.request("GET / HTTP/1.1\r\nHost: a\r\n\r\n").status == 200)
  }

  @Test func saysWhyItCannotStart() throws {
    let handler = Service { _, _ in .respond(.text("ok")) }
    let server = try Server(.init(), handler: handler)
    defer { server.stop() }
    var taken = Server.Configuration()
    taken.port = server.port
    #expect(throws: ServerError.addressInUse) { _ = try Server(taken, handler: handler) }
    var elsewhere = Server.Configuration()
    elsewhere.host = "192.0.2.1"
    #expect(throws: ServerError.noSuchAddress) { _ = try Server(elsewhere, handler: handler) }
    elsewhere.host = "no such host"
    #expect(throws: ServerError.noSuchAddress) { _ = try Server(elsewhere, handler: handler) }
  }

  @Test func writesAnIPv4ClientOfADualStackSocketAsIPv4() throws {
    var configuration = Server.Configuration()
    configuration.host = "::"
    guard
      let server = try? Server(
        configuration, handler: Service { request, _ in .respond(.text(request.remoteAddress)) })
    else { return }
    defer { server.stop() }
    #expect(
      Client(port: server.port).request("GET / HTTP/1.1\r\nHost: a\r\n\r\n").text == "127.0.0.1")
  }

  @Test func handsOnAFewLinesOfTheLibrary() throws {
    let lines = Box<String>()
    var configuration = Server.Configuration()
    configuration.log = { lines.put($0) }
    let server = try Server(configuration, handler: Service { _, _ in .respond(.text("ok")) })
    defer { server.stop() }
    for _ in 0..<100 {
      _ = Client(port: server.port).request("nonsense HTTP/3.7\r\n\r\n")
    }
    #expect(!lines.all.isEmpty)
    #expect(lines.all.allSatisfy { !$0.contains("\n") })
    #expect(lines.all.count < 100)
  }

  /// Whoever ends an exchange knows why; the library need not call it an error.
  @Test func saysNothingOfExchangesThatAreEndedOnPurpose() throws {
    let lines = Box<String>()
    var configuration = Server.Configuration()
    configuration.log = { lines.put($0) }
    let uploads = Box<Collector>()
    let server = try Server(
      configuration,
      handler: uploads.handler { exchange in
        let upload = Collector(exchange)
        upload.set(open: false)
        return upload
      })
    defer { server.stop() }
    let client = Client(port: server.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nabc")
    let upload = try #require(uploads.first())
    #expect(eventually { upload.calls == 1 })
    upload.exchange?.abort()
    #expect(eventually { upload.outcomes == [.aborted] })
    #expect(!lines.all.contains { $0.contains("internal error") })
  }
}

/// Counts how often it is asked, and never has or takes anything.
final class Reads: Upload, BodySource {
  private let refuses: Bool
  private let asked = Lock(0)

  init(refuses: Bool) { self.refuses = refuses }

  var count: Int { asked.withLock { $0 } }

  func receive(_ bytes: Span<UInt8>) -> Bool {
    if refuses { asked.withLock { $0 += 1 } }
    return !refuses
  }

  func endOfUpload() { asked.withLock { $0 += 1 } }
  func failed(_ error: UploadError) {}
  func ended(_ outcome: Outcome) {}

  func read(into output: inout OutputSpan<UInt8>) -> BodyRead {
    asked.withLock { $0 += 1 }
    return .waiting
  }
}
