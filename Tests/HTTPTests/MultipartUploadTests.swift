import Dispatch
import Glibc
import HTTP
import Platform
import Testing
import TestSupport

/// Forms that come over a connection.
@Suite struct MultipartUploadTests {
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
