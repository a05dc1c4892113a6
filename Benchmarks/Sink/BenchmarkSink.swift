internal import Dispatch
internal import HTTP
internal import Platform

/// Takes uploads and throws them away: what any answer to an upload costs at least.
@main
struct BenchmarkSink {
  static func main() throws {
    let server = try Server(Server.Configuration(), handler: Sink())
    writeErrorLine("http://127.0.0.1:\(server.port)")
    DispatchSemaphore(value: 0).wait()
    withExtendedLifetime(server) {}
  }
}

private final class Sink: RequestHandler {
  func begin(_ request: Request, _ exchange: Exchange) -> Disposition {
    .receive(Discarded(exchange))
  }

  func refusal(of violation: Violation, _ request: Request) -> Response {
    Response(status: violation.status)
  }
}

private final class Discarded: Upload {
  private let exchange: Exchange

  init(_ exchange: Exchange) {
    self.exchange = exchange
  }

  func receive(_ bytes: Span<UInt8>) -> Bool { true }

  func endOfUpload() {
    exchange.respond(Response(status: 204))
  }

  func failed(_ error: UploadError) {
    exchange.respond(Response(status: 400))
  }

  func ended(_ outcome: Outcome) {}
}
