import Glibc
import HTTP
import Platform
import Testing
import TestSupport

/// Clients that are too slow, one way or another.
@Suite struct DeadlineTests {
  private func configuration(
    _ change: (inout Server.Configuration) -> Void
  ) -> Server.Configuration {
    var configuration = Server.Configuration()
    change(&configuration)
    return configuration
  }

  /// A head that never ends is answered and cut, even while bytes keep coming.
  @Test(arguments: ["", "GET / HT", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: a\r\nX: "])
  func cutsAnUnfinishedHead(start: String) throws {
    let service = Service { _, _ in .respond(.text("ok")) }
    let server = try Server(
      configuration { $0.headerTimeout = .milliseconds(500) }, handler: service)
    defer { server.stop() }
    let client = Client(port: server.port)
    client.send(start)
    let drip = Thread {
      while client.send("x") { usleepShortly() }
    }
    if !start.isEmpty { drip.start() }
    let reply = client.reply()
    #expect(reply.status == 408)
    #expect(reply.isComplete)
    #expect(eventually { server.openConnections == 0 })
    #expect(service.requests.isEmpty)
    if !start.isEmpty { drip.join() }
  }

  /// The clock of a head runs from its first byte, also on a connection that had been idle, and does
  /// not start again when the request line is complete.
  @Test(arguments: ["G", "GET / HTTP/1.1\r\nHost: a\r\n"])
  func cutsAnUnfinishedHeadOfALaterRequest(start: String) throws {
    let server = try Server(
      configuration { $0.headerTimeout = .milliseconds(500) },
      handler: Service { _, _ in .respond(.text("ok")) })
    defer { server.stop() }
    let client = Client(port: server.port)
    #expect(client.request("GET / HTTP/1.1\r\nHost: a\r\n\r\n").status == 200)
    client.send(start)
    client.drip()
    #expect(client.reply().status == 408)
    #expect(eventually { server.openConnections == 0 })
  }

  @Test func aRequestLineGivesAHeadNoMoreTime() throws {
    let server = try Server(
      configuration { $0.headerTimeout = .seconds(2) },
      handler: Service { _, _ in .respond(.text("ok")) })
    defer { server.stop() }
    let client = Client(port: server.port)
    client.send("GET / HT")
    usleep(700_000)
    let later = Client(port: server.port)
    later.send("G")
    usleep(700_000)
    client.send("TP/1.1\r\n")
    #expect(later.reply().status == 408)
    // Whoever came first was cut first.
    var byte: UInt8 = 0
    #expect(recv(client.descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) == 1)
    #expect(client.reply().status == 408)
  }

  /// Whoever takes an upload may say what becomes of it when it stalls.
  @Test func anUploadAnswersForItsStall() throws {
    let uploads = Box<Stalling>()
    let server = try Server(
      configuration { $0.uploadStallTimeout = .milliseconds(300) },
      handler: uploads.handler { exchange in
        Stalling(exchange)
      })
    defer { server.stop() }
    let client = Client(port: server.port)
    let reply = client.request("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nabc")
    #expect(reply.status == 408)
    #expect(reply.text == "mine")
    #expect(client.readsToTheEnd())
    #expect(eventually { uploads.all.first?.outcomes == [.timedOut] })
  }

  @Test func cutsAConnectionThatStaysIdleBetweenRequests() throws {
    let server = try Server(
      configuration { $0.idleTimeout = .milliseconds(300) },
      handler: Service { _, _ in .respond(.text("ok")) })
    defer { server.stop() }
    let client = Client(port: server.port)
    #expect(client.request("GET / HTTP/1.1\r\nHost: a\r\n\r\n").status == 200)
    #expect(client.isEnded())
  }

  @Test func answersAndCutsAnUploadThatStalls() throws {
    let uploads = Box<Collector>()
    let server = try Server(
      configuration { $0.uploadStallTimeout = .milliseconds(300) },
      handler: uploads.handler { exchange in
        Collector(exchange)
      })
    defer { server.stop() }
    let client = Client(port: server.port)
    let reply = client.request("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nabc")
    #expect(reply.status == 408)
    #expect(reply.isComplete)
    #expect(client.readsToTheEnd())
    #expect(eventually { uploads.all.first?.outcomes == [.timedOut] })
  }

  /// What has been answered is answered, though the rest of the upload never comes.
  @Test func givesTheAnswerWhenTheRestOfTheUploadStalls() throws {
    let server = try Server(
      configuration { $0.uploadStallTimeout = .milliseconds(300) },
      handler: Service { _, exchange in .receive(Impatient(exchange)) })
    defer { server.stop() }
    let client = Client(port: server.port)
    let reply = client.request("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc")
    #expect(reply.status == 422)
    #expect(reply.isComplete)
    #expect(client.readsToTheEnd())
  }

  /// A byte now and then is progress, but not at the rate that is asked for.
  @Test func cutsAnUploadThatDrips() throws {
    let server = try Server(
      configuration {
        $0.uploadStallTimeout = .milliseconds(500)
        $0.minimumUploadRate = 1_000_000
      },
      handler: Service { _, exchange in .receive(Collector(exchange)) })
    defer { server.stop() }
    let client = Client(port: server.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000000\r\n\r\n")
    let drip = Thread {
      while client.send("x") { usleepShortly() }
    }
    drip.start()
    #expect(client.reply().status == 408)
    client.hangUp()
    drip.join()
  }

  /// Time in which the server makes the client wait is not the client's.
  @Test func sparesAnUploadThatTheServerKeepsWaiting() throws {
    let uploads = Box<Collector>()
    let server = try Server(
      configuration { $0.uploadStallTimeout = .milliseconds(200) },
      handler: uploads.handler(Collector.closed))
    defer { server.stop() }
    let client = Client(port: server.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
    let upload = try #require(uploads.first())
    #expect(eventually { upload.calls > 0 })
    let start = monotonicNanoseconds()
    #expect(eventually { monotonicNanoseconds() > start + 1_000_000_000 })
    upload.set(open: true)
    #expect(client.reply().text == "abc")
  }

  /// A client that does not read holds its answer for so long and no longer.
  @Test(arguments: [false, true])
  func cutsAReaderThatStalls(isStreamed: Bool) throws {
    let uploads = Box<Collector>()
    let server = try Server(
      configuration { $0.readerStallTimeout = .milliseconds(500) },
      handler: uploads.handler { exchange in
        Collector(exchange) { collector in
          collector.exchange?.respond(
            Response(
              status: 200,
              body: isStreamed
                ? .stream(Endless(pauseAfter: .max), length: nil)
                : .bytes([UInt8](repeating: 0, count: 32 << 20))))
        }
      })
    defer { server.stop() }
    let client = Client(port: server.port, receiveBuffer: 4096)
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
    #expect(eventually { uploads.all.first?.outcomes == [.timedOut] })
    #expect(!client.reply().isComplete)
  }

  /// A reader that is slow but reads goes on for many times the stall time.
  @Test func sparesAReaderThatIsMerelySlow() throws {
    let body = pattern(6 << 20)
    let server = try Server(
      configuration { $0.readerStallTimeout = .seconds(1) },
      handler: Service { _, _ in .respond(Response(status: 200, body: .bytes(body))) })
    defer { server.stop() }
    let client = Client(port: server.port, receiveBuffer: 65_536)
    client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    for part in 1...20 {
      #expect(client.canRead(part * 200_000))
      usleep(100_000)
    }
    #expect(client.reply().isComplete)
  }
}

/// Has an answer of its own for the case that it stalls.
private final class Stalling: Upload {
  private weak let exchange: Exchange?
  private let state = Lock([Outcome]())

  init(_ exchange: Exchange) { self.exchange = exchange }

  var outcomes: [Outcome] { state.withLock { $0 } }

  func receive(_ bytes: Span<UInt8>) -> Bool { true }
  func endOfUpload() {}
  func failed(_ error: UploadError) {}
  func stalled() { exchange?.respond(.text("mine", status: 408)) }
  func ended(_ outcome: Outcome) { state.withLock { $0.append(outcome) } }
}
