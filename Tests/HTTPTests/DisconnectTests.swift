import Dispatch
import Glibc
import HTTP
import Platform
import Testing
import TestSupport

/// Clients that leave, and servers that stop, while connections sleep.
@Suite struct DisconnectTests {
  enum Leaving: CaseIterable { case orderly, reset, halfClosed }

  @Test(arguments: Leaving.allCases)
  func noticesAClientThatLeavesDuringASuspendedUpload(how: Leaving) throws {
    let uploads = Box<Collector>()
    let server = try Server(
      .init(), handler: uploads.handler(Collector.closed))
    defer { server.stop() }
    let client = Client(port: server.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nabc")
    let upload = try #require(uploads.first())
    #expect(eventually { upload.calls == 1 })
    client.leave(how)
    #expect(eventually { upload.outcomes == [.clientGone] })
    #expect(upload.exchange?.isOver != false)
    #expect(eventually { server.openConnections == 0 })
  }

  @Test(arguments: Leaving.allCases)
  func noticesAClientThatLeavesWhileTheAnswerIsAwaited(how: Leaving) throws {
    let uploads = Box<Collector>()
    let server = try Server(
      .init(),
      handler: uploads.handler { exchange in
        Collector(exchange) { _ in }
      })
    defer { server.stop() }
    let client = Client(port: server.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
    let upload = try #require(uploads.first())
    #expect(eventually { upload.state.withLock { $0.isComplete } })
    client.leave(how)
    #expect(eventually { upload.outcomes == [.clientGone] })
    #expect(eventually { server.openConnections == 0 })
  }

  @Test(arguments: Leaving.allCases)
  func noticesAClientThatLeavesDuringASuspendedAnswer(how: Leaving) throws {
    let uploads = Box<Collector>()
    let server = try Server(
      .init(),
      handler: uploads.handler { exchange in
        Collector(exchange) { collector in
          collector.exchange?.respond(
            Response(status: 200, body: .stream(Endless(pauseAfter: 1), length: nil)))
        }
      })
    defer { server.stop() }
    let client = Client(port: server.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
    #expect(client.canRead(1000))
    client.leave(how)
    let upload = try #require(uploads.first())
    #expect(eventually { upload.outcomes == [.clientGone] })
    #expect(eventually { server.openConnections == 0 })
  }

  @Test func noticesAClientThatLeavesInTheMiddleOfABusyUploadOrAnswer() throws {
    let uploads = Box<Collector>()
    let server = try Server(
      .init(),
      handler: uploads.handler { exchange in
        Collector(exchange) { collector in
          collector.exchange?.respond(
            Response(status: 200, body: .stream(Endless(pauseAfter: .max), length: nil)))
        }
      })
    defer { server.stop() }
    let uploader = Client(port: server.port)
    uploader.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nabc")
    #expect(eventually { uploads.all.first?.bytes.count == 3 })
    uploader.hangUp()
    #expect(eventually { uploads.all.first?.outcomes == [.clientGone] })

    let reader = Client(port: server.port)
    reader.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
    #expect(reader.canRead(1_000_000))
    reader.hangUp()
    #expect(eventually { uploads.all.last?.outcomes == [.clientGone] })
    #expect(eventually { server.openConnections == 0 })
  }

  @Test func stopsWithSleepingConnections() throws {
    let uploads = Box<Collector>()
    let server = try Server(
      .init(),
      handler: Service { request, exchange in
        let upload = Collector(exchange) { collector in
          guard request.path == "/answer" else { return }
          collector.exchange?.respond(
            Response(status: 200, body: .stream(Endless(pauseAfter: 1), length: nil)))
        }
        if request.path == "/upload" { upload.set(open: false) }
        uploads.put(upload)
        return .receive(upload)
      })
    defer { server.stop() }
    let clients = ["upload", "wait", "answer"].flatMap { path in
      (0..<10).map { _ in
        let client = Client(port: server.port)
        client.send("POST /\(path) HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
        return client
      }
    }
    let idle = Client(port: server.port)
    #expect(eventually { uploads.all.count == 30 && server.openConnections == 31 })
    server.stop()
    for upload in uploads.all { #expect(upload.outcomes == [.stopped]) }
    for client in clients + [idle] { #expect(!client.reply().isComplete) }
    #expect(server.openConnections == 0)
    #expect(!Client(port: server.port).isConnected)
  }

  /// Requests that were read already must not begin to sleep behind the back of `stop`.
  @Test(arguments: 0..<30)
  func stopsInTheMiddleOfPipelinedRequests(number: Int) throws {
    let server = try Server(
      .init(), handler: Service { _, exchange in .receive(Reluctant(exchange)) })
    let clients = (0..<4).map { _ in Client(port: server.port) }
    for client in clients {
      client.send(
        String(
          repeating: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", count: 100))
    }
    #expect(clients[0].reply().isComplete)
    usleep(UInt32(number) * 100)
    server.stop()
    #expect(server.openConnections == 0)
  }

  /// Ends as often as it is asked to, however many connections come and go at that moment.
  @Test func stopsWhileConnectionsCome() throws {
    for _ in 0..<20 {
      let server = try Server(
        .init(), handler: Service { _, exchange in .receive(Collector(exchange)) })
      let port = server.port
      let isOver = Box<Bool>()
      let storm = DispatchGroup()
      for _ in 0..<4 {
        DispatchQueue.global().async(group: storm) {
          while isOver.all.isEmpty {
            let client = Client(port: port, timeout: 1)
            guard client.isConnected else { return }
            client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc")
          }
        }
      }
      usleep(5000)
      server.stop()
      isOver.put(true)
      storm.wait()
      #expect(!Client(port: port).isConnected)
      #expect(server.openConnections == 0)
    }
  }

  /// An answer that is cut must not look like a whole one, in any framing.
  @Test(arguments: ["HTTP/1.1", "HTTP/1.0"], [nil, 1 << 30])
  func cutsAnAnswerSoThatTheClientNotices(version: String, length: Int?) throws {
    let uploads = Box<Collector>()
    let server = try Server(
      .init(),
      handler: uploads.handler { exchange in
        Collector(exchange) { collector in
          collector.exchange?.respond(
            Response(status: 200, body: .stream(Endless(pauseAfter: 1), length: length)))
        }
      })
    defer { server.stop() }
    let client = Client(port: server.port)
    client.send("POST / \(version)\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
    #expect(client.canRead(1000))
    let upload = try #require(uploads.first())
    upload.exchange?.abort()
    #expect(!client.reply().isComplete)
    #expect(eventually { upload.outcomes == [.aborted] })
  }

  @Test func leavesNoDescriptorsBehind() throws {
    let server = try Server(
      .init(), handler: Service { _, exchange in .receive(Collector(exchange)) })
    defer { server.stop() }
    func cycle(_ number: Int) {
      let client = Client(port: server.port)
      switch number % 4 {
      case 0: client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc")
      case 1: _ = client.request("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
      case 2: client.send("POST / HT")
      default: break
      }
      if number % 3 == 0 { client.reset() } else { client.hangUp() }
    }
    for number in 0..<20 { cycle(number) }
    #expect(eventually { server.openConnections == 0 })
    let before = openDescriptors()
    for number in 0..<1000 { cycle(number) }
    #expect(eventually { server.openConnections == 0 })
    // Other tests run beside this one, but not a thousand connections of them.
    #expect(openDescriptors() < before + 200)
  }

  private func openDescriptors() -> Int {
    (0..<Int32(4096)).count { fcntl($0, F_GETFD) >= 0 }
  }
}

extension Client {
  func leave(_ how: DisconnectTests.Leaving) {
    switch how {
    case .orderly: hangUp()
    case .reset: reset()
    case .halfClosed: endWriting()
    }
  }
}

/// A body without an end; after some reads it waits for ever.
final class Endless: BodySource {
  private let pauseAfter: Int
  private let reads = Lock(0)

  init(pauseAfter: Int) { self.pauseAfter = pauseAfter }

  func read(into output: inout OutputSpan<UInt8>) -> BodyRead {
    let isPaused = reads.withLock { reads in
      reads += 1
      return reads > pauseAfter
    }
    if isPaused { return .waiting }
    output.append(fitting: [UInt8](repeating: 0x61, count: 65_536).span)
    return .some
  }
}
