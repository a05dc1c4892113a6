import HTTP
import Testing
import TestSupport

/// Long uploads, whose bytes the I/O thread is woken for in larger pieces.
@Suite struct WakeThresholdTests {
  /// Fast at first, then slow, then fast to the end; and the connection is usable afterwards.
  @Test func handsOnFewBytesOfALongUploadBeforeMoreCome() throws {
    let uploads = Box<Collector>()
    let server = try Server(
      Server.Configuration(),
      handler: uploads.handler { exchange in
        Collector(exchange) { $0.exchange?.respond(.text("\($0.bytes.count)")) }
      })
    defer { server.stop() }
    let client = Client(port: server.port)
    client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4000000\r\n\r\n")
    client.sendInBackground(count: 2_000_000)
    func has(_ count: Int) -> Bool { uploads.all.first?.bytes.count == count }
    #expect(eventually { has(2_000_000) })
    for sent in [2_000_001, 2_000_002] {
      client.send("x")
      #expect(eventually { has(sent) })
    }
    client.sendInBackground(count: 1_999_998)
    #expect(client.reply().text == "4000000")
    let reply = client.request("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc")
    #expect(reply.text == "3")
  }
}
