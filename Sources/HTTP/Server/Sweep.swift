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
      if state.stage == .receiving {
        if !state.isSuspended {
          state.wakeThreshold.look(connection.descriptor, remaining: state.remaining)
        }
        loseDrainPatience(&state, at: now)
        if state.lastWord != nil || state.hasSaidLastWord {
          insist(&state)
          return false
        }
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

  /// The answer is not held back any longer for the sake of a body that comes slowly.
  private func loseDrainPatience(_ state: inout State, at now: UInt64) {
    guard state.answer != nil, state.drain?.isInTime(at: now) == false else { return }
    state.lastWord = state.answer
    state.answer = nil
  }

  /// Sweeps in which a client that has its answer may still notice, before it is let go.
  private static let sweepsOfGrace = 20

  /// An answer waits for the I/O thread, which hears nothing from a client that has stopped
  /// sending: it is written from here. The connection is kept a little longer, because what the
  /// client still sends would be answered by a reset, which can overtake the answer.
  ///
  /// The I/O thread does not write at this stage, and GnuTLS lets one thread write while another
  /// reads.
  private func insist(_ state: inout State) {
    state.sweepsSinceLastWord += 1
    guard !state.isSuspended else { return }
    if let lastWord = state.lastWord {
      guard state.sweepsSinceLastWord > 1 else { return }
      state.lastWord = nil
      state.sweepsSinceLastWord = 0
      say(lastWord, isHead: false, &state)
      if state.hasSaidLastWord, !server.configuration.isEncrypted {
        Sockets.endWriting(connection.descriptor)
        return
      }
    } else if state.sweepsSinceLastWord <= Exchange.sweepsOfGrace {
      return
    }
    Sockets.endReading(connection.descriptor)
  }

  private func timeOut() {
    // Whoever takes the upload may know better what to say of it.
    let upload = state.withLock { state in
      state.stage == .receiving && !state.isAnswered ? state.upload : nil
    }
    upload?.stalled()
    let isUnanswered = state.withLock { state in
      // In the head libmicrohttpd may be writing an answer of its own, which a TLS session would
      // not bear.
      state.stage == .head
        ? !server.configuration.isEncrypted : state.stage == .receiving && !state.isAnswered
    }
    let tooSlow = isUnanswered ? server.tooSlow(request) : nil
    state.withLock { state in
      guard state.ending == nil, state.stage != .over else { return }
      if state.stage == .head || state.stage == .receiving,
        let lastWord = state.answer ?? state.lastWord ?? tooSlow
      {
        state.answer = nil
        state.lastWord = nil
        state.isAnswered = true
        say(lastWord, isHead: false, &state)
      }
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
