internal import CMicroHTTPD
internal import Platform

/// One request and its answer.
///
/// Two sides meet here. The *I/O thread* of the connection runs libmicrohttpd's callbacks, the only
/// place where a handler, an upload or a body source is called. *Any thread* may call the methods
/// below, which only note something under the exchange's lock and wake the connection.
///
/// Locks: the exchange's lock is held only for a few instructions and never while calling out;
/// below it come libmicrohttpd's own. So every method here may be called with any lock of the
/// caller held, and the callbacks of `Upload` and `BodySource` may take any lock.
package final class Exchange {
  let server: ServerCore
  let connection: Connection
  /// The side that only the I/O thread touches.
  var flow: Flow
  let state: Lock<State>
  private let head = Lock<Request?>(nil)

  /// How far the exchange has come.
  enum Stage: Equatable {
    /// The head is being received.
    case head
    /// The upload is being received, for the operation or to be thrown away.
    case receiving
    /// The upload is complete; the answer is not there yet.
    case waiting
    /// The answer is being sent.
    case answering
    case over
  }

  /// What both sides share.
  struct State {
    var stage = Stage.head
    /// libmicrohttpd is not watching the connection, and waits for `MHD_resume_connection`.
    var isSuspended = false
    /// Somebody asked for a wake-up since the I/O thread last looked.
    var isSignalled = false
    var isAnswered = false
    /// The answer, until the I/O thread takes it.
    var answer: Response?
    /// An answer that comes too early for libmicrohttpd: it is written past it, when it lets go of
    /// the connection or does not hear from the client.
    var lastWord: Response?
    var hasSaidLastWord = false
    /// Of the answer that was begun.
    var sentStatus: Int?
    /// Told when the client is too slow with its body.
    var upload: (any Upload)?
    /// How long a short rest of the upload is still waited for, once the answer is there.
    var drain: Pace?
    /// How the exchange is to end; once set, callbacks refuse to go on.
    var ending: Outcome?
    /// Bytes of the upload to come; nil when that is not known.
    var remaining: Int?
    var wakeThreshold = WakeThreshold()
    /// What is left of the client's time in this stage.
    var pace: Pace
    /// Bytes that the client had acknowledged when the sweep last looked.
    var acknowledged: UInt64 = 0
    /// Sweeps since `lastWord` was given, and then since it was said.
    var sweepsSinceLastWord = 0
  }

  /// `pace` is the time left for the head.
  init(_ connection: Connection, target: UnsafePointer<CChar>?, pace: Pace) {
    server = connection.server
    self.connection = connection
    flow = Flow(target: target)
    state = Lock(State(pace: pace))
  }

  /// The request; its head is complete from `RequestHandler.begin` on.
  package var request: Request {
    head.withLock { $0 ?? Request() }
  }

  func publish(_ request: Request) {
    head.withLock { $0 = request }
  }

  /// Offers the upload's next bytes again after `Upload.receive` refused them.
  package func resumeUpload() {
    state.withLock { wake(&$0) }
  }

  /// Asks the body source again after it answered `.waiting`.
  package func resumeBody() {
    state.withLock { wake(&$0) }
  }

  /// Answers; the first call wins.
  ///
  /// May come before the upload has ended. Then the rest of the upload is thrown away for the
  /// connection's sake, if it is known to be at most `drainLimit` and as long as it comes fast;
  /// otherwise the answer goes out at once and the connection ends after it.
  package func respond(_ response: Response) {
    state.withLock { state in
      guard !state.isAnswered, state.stage != .over, state.ending == nil else { return }
      state.isAnswered = true
      if state.stage == .receiving && !canWait(for: state.remaining, response) {
        state.lastWord = response
      } else {
        state.answer = response
        if state.stage == .receiving { startDraining(&state) }
      }
      wake(&state)
    }
  }

  /// Cuts the connection so that a truncated answer cannot pass for a whole one.
  package func abort() {
    state.withLock { end(.aborted, &$0) }
  }

  /// Whether the peer has gone or the exchange has ended.
  package var isOver: Bool {
    state.withLock { $0.stage == .over || $0.ending != nil }
  }

  /// The status of the answer that was begun; nil as long as none was.
  package var sentStatus: Int? {
    state.withLock { $0.sentStatus }
  }

  /// Whether the rest of the upload is to be read before answering. A streamed body always has to
  /// wait for it.
  private func canWait(for remaining: Int?, _ response: Response) -> Bool {
    if case .stream = response.body { return true }
    return remaining.map { $0 <= server.configuration.drainLimit } ?? false
  }

  // MARK: Under the lock

  /// From now on the client has `drainPatience` to send the rest of its body, more if it is fast.
  func startDraining(_ state: inout State) {
    // A streamed answer cannot be given before the end of the upload.
    if case .stream = state.answer?.body { return }
    state.drain = Pace(
      allowance: server.configuration.drainPatience, rate: Exchange.drainRate)
  }

  /// Bytes per second at which a rest is worth waiting for.
  private static let drainRate = 8 << 20

  /// Lets the I/O thread look again, now or when it next wants to sleep.
  private func wake(_ state: inout State) {
    guard state.stage != .over else { return }
    if state.isSuspended {
      state.isSuspended = false
      MHD_resume_connection(connection.handle)
    } else {
      state.isSignalled = true
    }
  }

  /// Puts the connection to sleep until the next `wake`; only on the I/O thread. False when the
  /// exchange is to end instead.
  func sleep(_ state: inout State) -> Bool {
    guard state.ending == nil else { return false }
    MHD_suspend_connection(connection.handle)
    if state.isSignalled {
      // The wake-up came first. Going once around the I/O loop lets other connections have a turn.
      state.isSignalled = false
      MHD_resume_connection(connection.handle)
    } else {
      state.isSuspended = true
    }
    return true
  }

  /// Writes an answer past libmicrohttpd.
  func say(_ lastWord: Response, isHead: Bool, _ state: inout State) {
    state.hasSaidLastWord = connection.write(lastWord, isHead: isHead)
    if state.hasSaidLastWord { state.sentStatus = lastWord.status }
  }

  /// Ends the exchange from outside: the socket fails, and the I/O thread notices.
  ///
  /// The descriptor is open: libmicrohttpd closes it only after `completed(_:)`, which makes the
  /// stage `.over` under this lock.
  func end(_ outcome: Outcome, _ state: inout State) {
    guard state.stage != .over, state.ending == nil else { return }
    state.ending = outcome
    if state.hasSaidLastWord {
      // Not to lose what was written.
      Sockets.endReading(connection.descriptor)
    } else if outcome == .clientGone {
      Sockets.endBoth(connection.descriptor)
    } else {
      Sockets.reset(connection.descriptor)
    }
    wake(&state)
  }
}

// SAFETY: `flow` is touched only by the connection's I/O thread; all else is locked or constant.
extension Exchange: @unchecked Sendable {}
