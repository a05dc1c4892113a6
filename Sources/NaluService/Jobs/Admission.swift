internal import Platform

/// Who may hold a codec: at most `Limits.jobs` jobs at once; those that become ready later wait in
/// order. A job asks when its first whole block is there, so silent clients hold nothing.
package final class Admission: Sendable {
  private struct State: ~Copyable {
    var admitted = 0
    var waiting = FirstInFirstOut<Job>()
  }

  package let slots: Int
  package let queueLimit: Int
  private let state = Lock(State())

  package init(slots: Int, queueLimit: Int) {
    self.slots = slots
    self.queueLimit = queueLimit
  }

  /// True when the job may go on now; false when it has been put at the end of the line, and
  /// `leave` will hand it to its `admit` later.
  func enter(_ job: Job) -> Bool {
    state.withLock { state in
      if state.admitted < slots, state.waiting.isEmpty {
        state.admitted += 1
        return true
      }
      state.waiting.append(job)
      return false
    }
  }

  /// An admitted job gives its slot up; the first that waits gets it.
  func leave() {
    let next = state.withLock { state -> Job? in
      if let next = state.waiting.removeFirst() { return next }
      state.admitted -= 1
      return nil
    }
    next?.admit()
  }

  /// A waiting job gives up. False when it was not waiting (any more).
  func withdraw(_ job: Job) -> Bool {
    state.withLock { $0.waiting.removeAll { $0 === job } }
  }

  /// As many jobs wait as may: the next request for a codec is refused.
  package var isFull: Bool {
    state.withLock { $0.admitted >= slots && $0.waiting.count >= queueLimit }
  }

  package var figures: (admitted: Int, waiting: Int) {
    state.withLock { ($0.admitted, $0.waiting.count) }
  }
}
