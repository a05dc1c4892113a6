import Dispatch
import HTTP
import Platform

/// Refuses every other offer, and has itself resumed from another thread.
final class Reluctant: Upload {
  private let exchange: Exchange
  private let state = Lock((bytes: [UInt8](), refuses: true))

  init(_ exchange: Exchange) { self.exchange = exchange }

  func receive(_ bytes: Span<UInt8>) -> Bool {
    let isTaken = state.withLock { state in
      state.refuses.toggle()
      if state.refuses { state.bytes.append(copying: bytes) }
      return state.refuses
    }
    if !isTaken {
      DispatchQueue.global().async { [exchange] in exchange.resumeUpload() }
    }
    return isTaken
  }

  func endOfUpload() {
    let bytes = state.withLock { $0.bytes }
    DispatchQueue.global().async { [exchange] in
      exchange.respond(Response(status: 200, body: .bytes(bytes)))
    }
  }

  func failed(_ error: UploadError) {}
  func ended(_ outcome: Outcome) {}
}

/// A body whose parts are each asked for once in vain.
final class Ticker: BodySource {
  private let exchange: Exchange
  private let parts: Int
  private let length: Int?
  private let state = Lock((next: 0, isReady: false))

  init(_ exchange: Exchange, parts: Int, length: Int?) {
    self.exchange = exchange
    self.parts = parts
    self.length = length
  }

  var response: Response { Response(status: 200, body: .stream(self, length: length)) }
  var trailers: [Request.Field] { [("Parts", "\(parts)")] }

  func read(into output: inout OutputSpan<UInt8>) -> BodyRead {
    let part = state.withLock { state -> Int? in
      state.isReady.toggle()
      guard !state.isReady else { return nil }
      defer { state.next += 1 }
      return state.next
    }
    guard let part else {
      DispatchQueue.global().async { [exchange] in exchange.resumeBody() }
      return .waiting
    }
    if part == parts { return .end }
    output.append(fitting: Array("part \(part % 10)\n".utf8).span)
    return .some
  }
}

/// A thread of the test's own, so that it may block.
final class Thread: Sendable {
  private let body: @Sendable () -> Void
  private let isDone = DispatchSemaphore(value: 0)

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }

  func start() {
    DispatchQueue(label: "test").async { [self] in
      body()
      isDone.signal()
    }
  }

  func join() { isDone.wait() }
}
