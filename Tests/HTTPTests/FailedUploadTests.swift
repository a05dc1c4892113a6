import HTTP
import Platform
import Testing
import TestSupport

/// Answers that come in the middle of an upload.
@Suite struct FailedUploadTests {
  /// An upload has a limit whatever becomes of its bytes: in a form too, outside of its files.
  @Test(arguments: ["", "Content-Type: multipart/form-data; boundary=B\r\n"])
  func failsABodyBeyondTheLimitOfItsUpload(type: String) throws {
    let uploads = Box<Limited>()
    let server = try Server(
      EarlyAnswerTests.impatient,
      handler: uploads.handler { exchange in
        Limited(exchange)
      })
    defer { server.stop() }
    let client = Client(port: server.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\n\(type)Transfer-Encoding: chunked\r\n\r\n")
    for _ in 0..<3 { client.send("190\r\n\(String(repeating: "x", count: 400))\r\n") }
    #expect(client.reply().status == 413)
    #expect(uploads.all.first?.error == .bodyTooLarge)
  }

  /// The same for a failure in mid-upload.
  @Test(arguments: [false, true])
  func doesNotHoldBackAFailureForASlowRest(isSilent: Bool) throws {
    let uploads = Box<Impatient>()
    let server = try Server(
      EarlyAnswerTests.impatient,
      handler: uploads.handler { exchange in
        Impatient(exchange)
      })
    defer { server.stop() }
    let client = Client(port: server.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\nabc")
    if !isSilent { client.drip() }
    let reply = client.reply()
    #expect(reply.status == 422)
    #expect(reply.isComplete)
    #expect(client.readsToTheEnd())
    client.endWriting()
    #expect(eventually { uploads.all.first?.outcomes == [.delivered] })
  }

  /// A failure in mid-upload whose rest is short: it is read, and the connection lives on.
  @Test func drainsAShortRestBeforeItAnswers() throws {
    let server = try Server(
      EarlyAnswerTests.configuration,
      handler: Service { _, exchange in .receive(Impatient(exchange)) })
    defer { server.stop() }
    let client = Client(port: server.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n")
    client.sendInBackground(count: 3_000_000)
    let reply = client.reply()
    #expect(reply.status == 422)
    #expect(reply.header("connection") == nil)
    #expect(client.request("GET / HTTP/1.1\r\nHost: a\r\n\r\n").status == 200)
  }

  /// A rest that is long or unknown: the answer comes at once, and then the end.
  @Test(arguments: ["Content-Length: 1000000000", "Transfer-Encoding: chunked"], [false, true])
  func answersAtOnceWhenTheRestIsLong(framing: String, isSilent: Bool) throws {
    let uploads = Box<Impatient>()
    let server = try Server(
      EarlyAnswerTests.configuration,
      handler: uploads.handler { exchange in
        Impatient(exchange)
      })
    defer { server.stop() }
    let client = Client(port: server.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\n\(framing)\r\n\r\nFFFFFFF\r\n")
    if isSilent {
      client.send("abc")
    } else {
      client.sendInBackground(count: 30_000_000)
    }
    let reply = client.reply()
    #expect(reply.status == 422)
    #expect(reply.text == "no")
    #expect(reply.isComplete)
    #expect(reply.header("connection") == "close")
    #expect(reply.header("content-type") == "text/plain")
    #expect(reply.header("date")?.hasSuffix(" GMT") == true)
    #expect(client.readsToTheEnd())
    #expect(eventually { uploads.all.first?.outcomes == [.delivered] })
    #expect(eventually { server.openConnections == 0 })
  }

  /// The answer comes from another thread while the upload sleeps.
  @Test(arguments: [1000, 1_000_000_000])
  func answersWhileTheUploadSleeps(length: Int) throws {
    let uploads = Box<Collector>()
    let server = try Server(
      .init(), handler: uploads.handler(Collector.closed))
    defer { server.stop() }
    let client = Client(port: server.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(length)\r\n\r\nabc")
    let upload = try #require(uploads.first())
    #expect(eventually { upload.calls > 0 })
    upload.exchange?.respond(.text("too much", status: 413))
    upload.exchange?.respond(.text("too late"))
    if length == 1000 { client.send([UInt8](repeating: 0, count: 997)) }
    let reply = client.reply()
    #expect(reply.status == 413)
    #expect(reply.text == "too much")
    #expect(eventually { upload.outcomes == [.delivered] })
    #expect(upload.calls == 1)
    #expect(upload.state.withLock { !$0.isComplete })
  }

  /// A streamed answer cannot go out before the upload is read, and reading has a limit.
  @Test(arguments: [(1_000_000, Outcome.delivered), (3_000_000, .aborted)])
  func readsOnForAStreamedAnswerUpToALimit(size: Int, outcome: Outcome) throws {
    var configuration = Server.Configuration()
    configuration.drainLimit = 1 << 20
    let uploads = Box<Collector>()
    let server = try Server(
      configuration,
      handler: uploads.handler(Collector.closed))
    defer { server.stop() }
    let client = Client(port: server.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(size)\r\n\r\nabc")
    let upload = try #require(uploads.first())
    #expect(eventually { upload.calls > 0 })
    let exchange = try #require(upload.exchange)
    exchange.respond(Ticker(exchange, parts: 3, length: nil).response)
    client.sendInBackground(count: size - 3)
    #expect(client.reply().isComplete == (outcome == .delivered))
    #expect(eventually { upload.outcomes == [outcome] })
  }
}

/// Refuses what it gets as soon as it gets something.
final class Impatient: Upload {
  private weak let exchange: Exchange?
  private let state = Lock([Outcome]())

  init(_ exchange: Exchange) { self.exchange = exchange }

  var outcomes: [Outcome] { state.withLock { $0 } }

  func receive(_ bytes: Span<UInt8>) -> Bool {
    exchange?.respond(.text("no", status: 422))
    return true
  }

  func endOfUpload() { exchange?.respond(.text("yes")) }
  func failed(_ error: UploadError) {}
  func ended(_ outcome: Outcome) { state.withLock { $0.append(outcome) } }
}

/// Takes a thousand bytes.
private final class Limited: Upload {
  private weak let exchange: Exchange?
  private let state = Lock(UploadError?.none)
  let bodyLimit = 1000

  init(_ exchange: Exchange) { self.exchange = exchange }

  var error: UploadError? { state.withLock { $0 } }

  func receive(_ bytes: Span<UInt8>) -> Bool { true }
  func endOfUpload() { exchange?.respond(.text("all")) }
  func failed(_ error: UploadError) {
    state.withLock { $0 = error }
    exchange?.respond(.text("\(error)", status: 413))
  }
  func ended(_ outcome: Outcome) {}
}
