internal import Dispatch
internal import Platform

/// Looks after connections ten times a second.
///
/// libmicrohttpd does not watch suspended connections and knows no deadline but inactivity. The
/// sweep finds clients that have gone while their connection was suspended, and ends those that
/// are too slow.
final class Sweep {
  private static let period = DispatchTimeInterval.milliseconds(100)
  private let timer: any DispatchSourceTimer

  init(_ server: ServerCore) {
    let queue = DispatchQueue(label: "nalu.http.sweep")
    timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now() + Sweep.period, repeating: Sweep.period)
    timer.setEventHandler { [weak server] in server?.sweep() }
    timer.activate()
  }

  func stop() {
    timer.cancel()
  }
}

extension ServerCore {
  fileprivate func sweep() {
    let now = monotonicNanoseconds()
    let connections = connections()
    for connection in connections { connection.look(at: now) }
    // Asked without a lock, so a descriptor may be another's by now: only a suspicion.
    let suspicions = Sockets.peersAreGone(connections.map(\.descriptor))
    for (connection, isSuspect) in zip(connections, suspicions) where isSuspect {
      connection.lookForPeer()
    }
    lingering.look(at: now)
  }
}

extension Exchange {
  /// Ends the exchange when its client is too slow.
  func look(at now: UInt64) {
    let isTooSlow = state.withLock { state -> Bool in
      guard state.stage != .over, state.ending == nil else { return false }
      if state.stage == .receiving && state.lastWord != nil {
        insist(&state)
        return false
      }
      if state.stage == .answering {
        let acknowledged = Sockets.acknowledged(connection.descriptor)
        state.pace.progressed(by: Int(acknowledged &- state.acknowledged))
        state.acknowledged = acknowledged
      }
      let isClientsTurn = !state.isSuspended && state.stage != .waiting
      return !state.pace.isInTime(at: now, isItsTurn: isClientsTurn)
    }
    if isTooSlow { timeOut() }
  }

  /// An answer waits for the I/O thread, which hears nothing from a client that has stopped
  /// sending: it is written from here, and reading is ended.
  ///
  /// The I/O thread does not write at this stage, and GnuTLS lets one thread write while another
  /// reads.
  private func insist(_ state: inout State) {
    state.sweepsSinceLastWord += 1
    guard state.sweepsSinceLastWord > 1, !state.isSuspended, let lastWord = state.lastWord else {
      return
    }
    state.lastWord = nil
    state.hasSaidLastWord = connection.write(lastWord, isHead: false)
    Sockets.endReading(connection.descriptor)
  }

  private func timeOut() {
    let tooSlow = server.tooSlow(request)
    state.withLock { state in
      guard state.ending == nil else { return }
      let lastWord: Response? =
        switch state.stage {
        case .receiving where state.isAnswered: state.answer
        case .receiving: tooSlow
        // libmicrohttpd may be writing an answer of its own, which a TLS session would not bear.
        case .head: server.configuration.isEncrypted ? nil : tooSlow
        case .waiting, .answering, .over: nil
        }
      if let lastWord { state.hasSaidLastWord = connection.write(lastWord, isHead: false) }
      end(.timedOut, &state)
    }
  }

  /// The client sends no more: it has gone, or half closed, which is taken for the same while the
  /// connection sleeps.
  func lookForPeer() {
    state.withLock { state in
      guard state.stage != .over, Sockets.peersAreGone([connection.descriptor]) == [true] else {
        return
      }
      if state.isSuspended {
        end(.clientGone, &state)
      } else if state.stage != .answering {
        connection.rouse()
      }
    }
  }
}
