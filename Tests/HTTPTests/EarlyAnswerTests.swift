import Dispatch
import Glibc
import HTTP
import Testing
import TestSupport

/// Answers that the head of a request decides, before its upload has come.
@Suite struct EarlyAnswerTests {
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
