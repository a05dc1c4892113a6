import Dispatch
import Glibc
import HTTP
import Platform
import Testing
import TestSupport

/// Answers that come before the upload has ended.
@Suite struct EarlyAnswerTests {
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

  static let busy = Response.text("busy", status: 429)

  /// Long uploads need not be very long.
  static let configuration = {
    var configuration = Server.Configuration()
    configuration.drainLimit = 4 << 20
    // However slow the machine is, what a test sends at once comes in time.
    configuration.drainPatience = .seconds(60)
    return configuration
  }()

  /// Whoever sends slowly is not waited for.
  static let impatient = {
    var configuration = Server.Configuration()
    configuration.drainPatience = .milliseconds(200)
    return configuration
  }()

  /// A short body, which would be read for the connection's sake if it came: the answer that the
  /// head alone decides reaches a client that sends its body slowly, or not before it is asked.
  @Test(arguments: [false, true])
  func doesNotHoldBackARefusalForASlowBody(isSilent: Bool) throws {
    let server = try Server(
      EarlyAnswerTests.impatient,
      handler: Service { _, _ in .respond(EarlyAnswerTests.busy) })
    defer { server.stop() }
    let client = Client(port: server.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n")
    if !isSilent { client.drip() }
    let reply = client.reply()
    #expect(reply.status == 429)
    #expect(reply.isComplete)
    #expect(reply.header("connection") == "close")
    #expect(client.readsToTheEnd())
    client.endWriting()
    #expect(eventually { server.openConnections == 0 })
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

  /// A client that goes on sending after it was answered is not reset.
  @Test func toleratesTheRestOfAnAnsweredUpload() throws {
    let server = try Server(
      EarlyAnswerTests.impatient,
      handler: Service { _, _ in .respond(EarlyAnswerTests.busy) })
    defer { server.stop() }
    let client = Client(port: server.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n")
    #expect(client.canRead(1))
    for _ in 0..<100 {
      #expect(client.send([UInt8](repeating: 0, count: 1000)))
      usleepShortly()
    }
    let reply = client.reply()
    #expect(reply.status == 429)
    #expect(reply.isComplete)
    #expect(client.readsToTheEnd())
  }

  /// A body that is refused outright: short ones are read for the connection's sake, long and
  /// unbounded ones are not; the client gets the answer in each case.
  @Test(arguments: [0, 10, 100_000, 3_000_000, 30_000_000])
  func refusesAnUploadOfKnownLength(size: Int) throws {
    let server = try Server(
      EarlyAnswerTests.configuration,
      handler: Service { _, _ in .respond(EarlyAnswerTests.busy) })
    defer { server.stop() }
    let client = Client(port: server.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(size)\r\n\r\n")
    client.sendInBackground(count: size)
    let reply = client.reply()
    #expect(reply.status == 429)
    #expect(reply.text == "busy")
    if size <= 1 << 20 {
      #expect(reply.header("connection") == nil)
      #expect(client.request("GET / HTTP/1.1\r\nHost: a\r\n\r\n").status == 429)
    } else {
      #expect(reply.header("connection") == "close")
      #expect(client.readsToTheEnd())
    }
    #expect(eventually { server.openConnections <= 1 })
  }

  /// Many clients do not read before they have sent everything: closing at once would break their
  /// sending, and the answer would be lost.
  @Test(arguments: ["Content-Length: 3000000", "Transfer-Encoding: chunked"])
  func letsAClientSendAllBeforeItReads(framing: String) throws {
    let server = try Server(
      EarlyAnswerTests.configuration,
      handler: Service { _, _ in .respond(EarlyAnswerTests.busy) })
    defer { server.stop() }
    let client = Client(port: server.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\n\(framing)\r\n\r\n")
    for _ in 0..<30 {
      #expect(client.send([UInt8](repeating: 0, count: 100_000)))
      usleepShortly()
    }
    let reply = client.reply()
    #expect(reply.status == 429)
    #expect(reply.isComplete)
    #expect(client.readsToTheEnd())
  }

  @Test func refusesAChunkedUpload() throws {
    let server = try Server(
      EarlyAnswerTests.configuration,
      handler: Service { _, _ in .respond(EarlyAnswerTests.busy) })
    defer { server.stop() }
    let client = Client(port: server.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
    let reply = client.reply()
    #expect(reply.status == 429)
    #expect(reply.header("connection") == "close")
    // What still comes does not turn into a reset that might overtake the answer.
    #expect(client.send("0\r\n\r\n"))
    #expect(client.readsToTheEnd())
  }

  @Test func sendsContinueOnlyWhenTheUploadIsWanted() throws {
    let server = try Server(
      .init(),
      handler: Service { request, exchange in
        request.path == "/no"
          ? .respond(EarlyAnswerTests.busy) : .receive(Collector(exchange))
      })
    defer { server.stop() }
    func head(_ path: String, _ version: String = "1.1") -> String {
      "POST \(path) HTTP/\(version)\r\nHost: a\r\nExpect: 100-Continue\r\n"
        + "Content-Length: 5\r\n\r\n"
    }
    let client = Client(port: server.port)
    #expect(client.request(head("/yes")).status == 100)
    #expect(client.request("hello").text == "hello")
    #expect(client.request(head("/no")).status == 429)
    #expect(client.readsToTheEnd())
    // An HTTP/1.0 client knows no 100.
    let old = Client(port: server.port)
    #expect(old.request(head("/yes", "1.0") + "hello").text == "hello")
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
      .init(),
      handler: Service { _, exchange in
        let upload = Collector(exchange)
        upload.set(open: false)
        uploads.put(upload)
        return .receive(upload)
      })
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
      handler: Service { _, exchange in
        let upload = Collector(exchange)
        upload.set(open: false)
        uploads.put(upload)
        return .receive(upload)
      })
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

  @Test func answersAMultipartBodyThatCannotBeRead() throws {
    let server = try Server(
      .init(), handler: Service { _, exchange in .receive(Collector(exchange)) })
    defer { server.stop() }
    let client = Client(port: server.port)
    func post(_ body: String, boundary: String = "; boundary=B") -> Client.Reply {
      client.request(
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data\(boundary)\r\n"
          + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }
    let part = "--B\r\nContent-Disposition: form-data; name=f; filename=x\r\n\r\nhi"
    #expect(post("\(part)\r\n--B--\r\n").text == "hi")
    #expect(post("\(part)\r\n\(part)\r\n--B--\r\n").text == "severalFiles(named: nil)")
    #expect(post(part).text == "truncated")
    #expect(post("--B--").text == "noFile")
    #expect(post("", boundary: "").text == "noBoundary")
    #expect(post("x", boundary: "").text == "noBoundary")
    #expect(post("\(part)\r\n--B--\r\n").text == "hi")
  }

  /// A failed upload is told once, and gets nothing more while its answer is on the way.
  @Test func leavesAFailedUploadAlone() throws {
    let failures = Lock(0)
    let server = try Server(
      .init(),
      handler: Service { _, exchange in
        .receive(
          Collector(exchange) { collector in
            failures.withLock { $0 += 1 }
            DispatchQueue.global().async {
              collector.exchange?.resumeUpload()
              usleep(50_000)
              Collector.echo(collector)
            }
          })
      })
    defer { server.stop() }
    let reply = Client(port: server.port).request(
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=B\r\n"
        + "Content-Length: 9\r\n\r\n--B\r\n\r\nxx")
    #expect(reply.status == 400)
    #expect(reply.text.hasPrefix("malformed"))
    #expect(failures.withLock { $0 } == 1)
  }

  @Test func suspendsAMultipartUpload() throws {
    let server = try Server(
      .init(), handler: Service { _, exchange in .receive(Reluctant(exchange)) })
    defer { server.stop() }
    let content = pattern(1_000_000)
    let head = Array("--B\r\nContent-Disposition: form-data; name=f; filename=x\r\n\r\n".utf8)
    let body = head + content + Array("\r\n--B--\r\n".utf8)
    let client = Client(port: server.port)
    client.send(
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=B\r\n"
        + "Content-Length: \(body.count)\r\n\r\n")
    client.send(body)
    #expect(client.reply().body == content)
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

extension Client {
  /// Sends a byte now and then from another thread, until the connection breaks; so the client must
  /// not hang up.
  func drip() {
    DispatchQueue(label: "drip").async { [self] in
      while send("x") { usleep(20_000) }
    }
  }

  /// Sends zeros from another thread until all are sent or the connection breaks.
  func sendInBackground(count: Int) {
    DispatchQueue.global().async { [self] in
      var left = count
      let zeros = [UInt8](repeating: 0, count: 1 << 20)
      while left >= zeros.count, send(zeros) { left -= zeros.count }
      if left < zeros.count { send(Array(zeros[..<left])) }
    }
  }
}

// SAFETY: `send` touches only the descriptor; all else stays on the test's thread.
extension Client: @unchecked Sendable {}

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
