import HTTP
import Platform
import Testing
import TestSupport

/// The same server behind TLS.
@Suite struct TLSTests {
  private func configuration(_ name: String) -> Server.Configuration {
    var configuration = Server.Configuration()
    configuration.certificate = makeCertificate(for: name)
    return configuration
  }

  @Test func answersAndEchoes() throws {
    let server = try Server(
      configuration("one"), handler: Service { _, exchange in .receive(Reluctant(exchange)) })
    defer { server.stop() }
    let client = TLSClient(port: server.port)
    #expect(client.handshake == 0)
    #expect(client.serverName == "CN=one")
    let body = pattern(500_000)
    let head =
      "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: \(body.count)\r\n\r\n"
    client.send(Array(head.utf8) + body)
    let answer = client.read()
    #expect(answer.starts(with: "HTTP/1.1 200 OK\r\n".utf8))
    #expect(answer.suffix(body.count).elementsEqual(body))
  }

  @Test func streamsAnAnswer() throws {
    let server = try Server(
      configuration("one"),
      handler: Service { _, exchange in
        .respond(Ticker(exchange, parts: 30, length: nil).response)
      })
    defer { server.stop() }
    let answer = TLSClient(port: server.port)
      .conversation(Array("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8))
    #expect(answer.hasSuffix("0\r\nParts: 30\r\n\r\n"))
  }

  @Test func showsAReplacedCertificateToNewConnections() throws {
    let server = try Server(
      configuration("one"), handler: Service { _, _ in .respond(.text("ok")) })
    defer { server.stop() }
    let old = TLSClient(port: server.port)
    try server.replaceCertificate(makeCertificate(for: "two"))
    #expect(TLSClient(port: server.port).serverName == "CN=two")
    #expect(old.serverName == "CN=one")
    let request = Array("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8)
    #expect(old.conversation(request).hasSuffix("\r\n\r\nok"))
    let broken = Server.Certificate(certificate: "x", key: "y")
    #expect(throws: ServerError.self) { try server.replaceCertificate(broken) }
    #expect(TLSClient(port: server.port).serverName == "CN=two")
  }

  @Test func refusesACertificateWhoseKeyIsAnothers() throws {
    var configuration = configuration("one")
    configuration.certificate?.key = makeCertificate(for: "two").key
    let error = #expect(throws: ServerError.self) {
      _ = try Server(configuration, handler: Service { _, _ in .respond(.text("ok")) })
    }
    guard case .certificate = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test(arguments: [false, true])
  func answersInTheMiddleOfALongUpload(isSilent: Bool) throws {
    let server = try Server(
      configuration("one"), handler: Service { _, exchange in .receive(Impatient(exchange)) })
    defer { server.stop() }
    let client = TLSClient(port: server.port)
    client.send(Array("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\nabc".utf8))
    if !isSilent { client.send(pattern(200_000)) }
    let answer = String(decoding: client.read(), as: UTF8.self)
    #expect(answer.hasPrefix("HTTP/1.1 422 "))
    #expect(answer.hasSuffix("\r\n\r\nno"))
  }

  /// The answer is not held back for a short rest that does not come.
  @Test func answersBeforeAShortBodyHasCome() throws {
    var configuration = configuration("one")
    configuration.drainPatience = .milliseconds(200)
    let server = try Server(
      configuration, handler: Service { _, _ in .respond(.text("no", status: 422)) })
    defer { server.stop() }
    let answer = TLSClient(port: server.port)
      .conversation(Array("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc".utf8))
    #expect(answer.hasPrefix("HTTP/1.1 422 "))
    #expect(answer.hasSuffix("\r\n\r\nno"))
  }

  @Test func answersAndCutsAnUploadThatStalls() throws {
    var configuration = configuration("one")
    configuration.uploadStallTimeout = .milliseconds(300)
    let server = try Server(
      configuration, handler: Service { _, exchange in .receive(Collector(exchange)) })
    defer { server.stop() }
    let answer = TLSClient(port: server.port)
      .conversation(Array("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc".utf8))
    #expect(answer.hasPrefix("HTTP/1.1 408 "))
    #expect(answer.hasSuffix(" in time."))
  }

  @Test func noticesAClientThatLeavesWhileItsConnectionSleeps() throws {
    let uploads = Box<Collector>()
    let server = try Server(
      configuration("one"),
      handler: uploads.handler { exchange in
        Collector(exchange) { _ in }
      })
    defer { server.stop() }
    let client = TLSClient(port: server.port)
    client.send(Array("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc".utf8))
    let upload = try #require(uploads.first())
    client.hangUp()
    #expect(eventually { upload.outcomes == [.clientGone] })
    #expect(eventually { server.openConnections == 0 })
  }

  @Test func cutsAHandshakeThatNeverComes() throws {
    var configuration = configuration("one")
    configuration.headerTimeout = .milliseconds(300)
    let server = try Server(configuration, handler: Service { _, _ in .respond(.text("ok")) })
    defer { server.stop() }
    let client = Client(port: server.port)
    #expect(client.isEnded())
    // Plain HTTP to it is no handshake either.
    let confused = Client(port: server.port)
    confused.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(confused.reply().status == 0)
  }
}
