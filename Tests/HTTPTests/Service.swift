import HTTP
import Platform
import TestSupport

/// A handler made of closures, which remembers what it saw.
final class Service: RequestHandler {
  let answer: @Sendable (Request, Exchange) -> Disposition
  private let seen = Lock(Seen())

  struct Seen {
    var requests: [Request] = []
    var violations: [Violation] = []
  }

  init(_ answer: @escaping @Sendable (Request, Exchange) -> Disposition) {
    self.answer = answer
  }

  var requests: [Request] { seen.withLock { $0.requests } }
  var violations: [Violation] { seen.withLock { $0.violations } }

  func begin(_ request: Request, _ exchange: Exchange) -> Disposition {
    seen.withLock { $0.requests.append(request) }
    return answer(request, exchange)
  }

  func refusal(of violation: Violation, _ request: Request) -> Response {
    seen.withLock { $0.violations.append(violation) }
    return .text(violation.detail, status: violation.status)
  }
}

extension Response {
  static func text(_ text: String, status: Int = 200) -> Response {
    Response(
      status: status, headers: [("Content-Type", "text/plain")], body: .bytes(Array(text.utf8)))
  }
}

/// An upload that keeps what it gets, and can be told to be difficult.
final class Collector: Upload {
  struct State {
    var bytes: [UInt8] = []
    var calls = 0
    var isComplete = false
    var error: UploadError?
    var outcomes: [Outcome] = []
    var isOpen = true
  }
  /// Weak, because a handler that remembers its uploads would otherwise keep its server alive.
  weak let exchange: Exchange?
  let state = Lock(State())
  /// Called at the end of the upload, or when it failed.
  let finish: @Sendable (Collector) -> Void

  init(_ exchange: Exchange, _ finish: @escaping @Sendable (Collector) -> Void = Collector.echo) {
    self.exchange = exchange
    self.finish = finish
  }

  /// One that refuses bytes from the first on.
  @Sendable static func closed(_ exchange: Exchange) -> Collector {
    let upload = Collector(exchange)
    upload.set(open: false)
    return upload
  }

  /// Answers with what was received.
  static let echo: @Sendable (Collector) -> Void = { collector in
    let (bytes, error) = collector.state.withLock { ($0.bytes, $0.error) }
    if let error {
      collector.exchange?.respond(.text("\(error)", status: 400))
    } else {
      collector.exchange?.respond(Response(status: 200, body: .bytes(bytes)))
    }
  }

  var bytes: [UInt8] { state.withLock { $0.bytes } }
  var calls: Int { state.withLock { $0.calls } }
  var outcomes: [Outcome] { state.withLock { $0.outcomes } }

  /// Refuses bytes while closed.
  func set(open: Bool) {
    state.withLock { $0.isOpen = open }
    if open { exchange?.resumeUpload() }
  }

  func receive(_ bytes: Span<UInt8>) -> Bool {
    state.withLock { state in
      state.calls += 1
      guard state.isOpen else { return false }
      state.bytes.append(copying: bytes)
      return true
    }
  }

  func endOfUpload() {
    state.withLock { $0.isComplete = true }
    finish(self)
  }

  func failed(_ error: UploadError) {
    state.withLock { $0.error = error }
    finish(self)
  }

  func ended(_ outcome: Outcome) {
    state.withLock { $0.outcomes.append(outcome) }
  }
}

/// Holds what a handler made, for the test to look at.
final class Box<Value: Sendable>: Sendable {
  private let stored = Lock<[Value]>([])
  var all: [Value] { stored.withLock { $0 } }
  func put(_ value: Value) { stored.withLock { $0.append(value) } }

  /// Waits until something was put.
  func first() -> Value? {
    _ = eventually { !self.all.isEmpty }
    return all.first
  }
}

extension Box where Value: Upload {
  /// Takes every request in as what `make` makes of it, and keeps that here.
  func handler(_ make: @escaping @Sendable (Exchange) -> Value) -> Service {
    Service { _, exchange in
      let upload = make(exchange)
      self.put(upload)
      return .receive(upload)
    }
  }
}

/// Bytes in which no two stretches are alike: every thousandth begins with its number.
func pattern(_ count: Int) -> [UInt8] {
  let filler = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
  var bytes: [UInt8] = []
  bytes.reserveCapacity(count + filler.count + 8)
  while bytes.count < count {
    withUnsafeBytes(of: bytes.count) { bytes.append(contentsOf: $0) }
    bytes.append(contentsOf: filler)
  }
  bytes.removeLast(bytes.count - count)
  return bytes
}
