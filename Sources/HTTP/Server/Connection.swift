internal import CMicroHTTPD
internal import Platform

/// A client's connection, from accept to close.
final class Connection {
  let server: ServerCore
  let handle: OpaquePointer
  let descriptor: Int32
  let remoteAddress: String
  /// What the client is shown; GnuTLS borrows it for as long as the connection is open.
  let certificate: LoadedCertificate?
  private let state: Lock<State>

  private struct State {
    /// The request being served, if any.
    var exchange: Exchange?
    /// The time left until the next request has to begin, or its head has to end.
    var pace: Pace
    /// Nothing was received since the last request ended: the next has not begun.
    var isIdle = false
    /// What had been received when the last request ended.
    var received: UInt64 = 0
    var isClosed = false
    /// It was cut: exchanges that begin on what was already read end at once.
    var ending: Outcome?
  }

  init(_ server: ServerCore, _ handle: OpaquePointer) {
    self.server = server
    self.handle = handle
    certificate = server.certificate
    descriptor = nalu_http_descriptor(handle)
    remoteAddress = nalu_http_client_address(handle).map { Sockets.text(of: $0) } ?? ""
    state = Lock(State(pace: Pace(allowance: server.configuration.headerTimeout)))
    Sockets.detectVanishedPeers(descriptor)
  }

  /// A request line has come in.
  func began(target: UnsafePointer<CChar>?) -> Exchange {
    let (exchange, ending) = state.withLock { state in
      // A request whose first byte nobody has seen until now is as young as its line.
      let pace = state.isIdle ? headPace() : state.pace
      let exchange = Exchange(self, target: target, pace: pace)
      state.exchange = exchange
      return (exchange, state.ending)
    }
    if let ending {
      exchange.state.withLock { exchange.end(ending, &$0) }
    }
    exchange.judgeLine()
    return exchange
  }

  private func headPace() -> Pace { Pace(allowance: server.configuration.headerTimeout) }

  /// The exchange is over; the next may follow.
  func ended(_ exchange: Exchange) {
    let received = Sockets.received(descriptor)
    state.withLock { state in
      state.exchange = nil
      state.isIdle = true
      state.received = received
      state.pace = Pace(allowance: server.configuration.idleTimeout)
    }
  }

  /// libmicrohttpd closes the socket when this returns.
  func closed() {
    state.withLock { $0.isClosed = true }
  }

  /// Ends it, or its exchange, when the client is too slow.
  func look(at now: UInt64) {
    enum Verdict { case busy(Exchange), idle, tooLate(isIdle: Bool) }
    let verdict = state.withLock { state -> Verdict in
      if state.isClosed { return .idle }
      if let exchange = state.exchange { return .busy(exchange) }
      if state.isIdle, Sockets.received(descriptor) != state.received {
        state.isIdle = false
        state.pace = headPace()
      }
      return state.pace.isInTime(at: now) ? .idle : .tooLate(isIdle: state.isIdle)
    }
    switch verdict {
    case .busy(let exchange):
      exchange.look(at: now)
    case .idle:
      break
    case .tooLate(let isIdle):
      // A TLS session could be written to only on the I/O thread.
      let isPlain = !server.configuration.isEncrypted
      let answer = !isIdle && isPlain ? server.tooSlow(Request()) : nil
      state.withLock { state in
        guard !state.isClosed, state.exchange == nil else { return }
        // Nobody else writes: no request has been read.
        if let answer { _ = write(answer, isHead: false) }
        Sockets.endBoth(descriptor)
      }
    }
  }

  /// The client seems to have closed its side.
  func lookForPeer() {
    let exchange = state.withLock { state -> Exchange? in
      if state.exchange == nil && !state.isClosed && Sockets.peersAreGone([descriptor]) == [true] {
        rouse()
      }
      return state.exchange
    }
    exchange?.lookForPeer()
  }

  /// Makes libmicrohttpd read once more. It overlooks an end that came together with bytes: it
  /// reads the bytes and waits for the next edge of epoll, which never comes.
  func rouse() {
    // Nothing is lost: the peer has ended this direction, and what it sent can still be read.
    Sockets.endReading(descriptor)
  }

  /// Ends the connection from outside.
  func cut(_ outcome: Outcome) {
    let exchange = state.withLock { state -> Exchange? in
      guard !state.isClosed else { return nil }
      state.ending = outcome
      if state.exchange == nil { Sockets.endBoth(descriptor) }
      return state.exchange
    }
    exchange.map { exchange in exchange.state.withLock { exchange.end(outcome, &$0) } }
  }

  /// Writes a whole answer past libmicrohttpd, on its I/O thread or when it has nothing to write;
  /// false when it is streamed, does not fit into the kernel's buffer, or cannot be written.
  func write(_ answer: Response, isHead: Bool) -> Bool {
    if case .stream = answer.body { return false }
    let bytes = answer.serialized(isHead: isHead)
    guard server.configuration.isEncrypted else {
      return Sockets.send(descriptor, bytes.span) == bytes.count
    }
    guard let session = nalu_http_session(handle) else { return false }
    var done = 0
    while done < bytes.count {
      let sent = bytes[done...].withUnsafeBytes {
        gnutls_record_send(session, $0.baseAddress, $0.count)
      }
      guard sent > 0 else { return false }
      done += sent
    }
    return true
  }
}

// SAFETY: the handle is used only while the connection is open: on its I/O thread, or under the
// lock of an exchange that is not over.
extension Connection: @unchecked Sendable {}
