internal import Platform

/// Who may hold a codec: at most `Limits.jobs` jobs at once. A job asks when its first whole block is
/// there, so silent clients hold nothing; those that find no slot wait.
///
/// Of those that wait, the one goes first that will keep its client's pace least: whose upload is
/// complete, then of which as much is there as may be. Whoever came first is passed over three times
/// at most. Otherwise who came first goes first; but large pictures never get the last slot.
package final class Admission: Sendable {
  /// How much a job depends on its client for the time that it holds a codec.
  enum Readiness: Int, Comparable {
    /// There is a block, and more to come.
    case trickling
    /// There is as much as may wait.
    case full
    case complete

    static func < (left: Readiness, right: Readiness) -> Bool { left.rawValue < right.rawValue }
  }

  private struct Applicant {
    let job: Job
    let isLarge: Bool
    var readiness = Readiness.trickling
  }

  private struct State: ~Copyable {
    var holders: [Applicant] = []
    var waiting: [Applicant] = []
    /// How often whoever came first was passed over.
    var timesPassed = 0
  }

  private static let mostTimesPassed = 3

  package let slots: Int
  package let queueLimit: Int
  private let state = Lock(State())

  package init(slots: Int, queueLimit: Int) {
    self.slots = slots
    self.queueLimit = queueLimit
  }

  /// True when the job may go on now; false when it has been put into the line, and `leave` will
  /// hand it to its `admit` later. `isLarge`: a picture may take it long.
  func enter(_ job: Job, isLarge: Bool) -> Bool {
    let holders = state.withLock { state -> [Applicant]? in
      let applicant = Applicant(job: job, isLarge: isLarge)
      guard state.holders.count < slots, !isLarge || hasPlaceForLarge(state) else {
        state.waiting.append(applicant)
        return state.holders
      }
      state.holders.append(applicant)
      return nil
    }
    guard let holders else { return true }
    for holder in holders { holder.job.makeWay() }
    return false
  }

  /// An admitted job gives its slot up; one that waits gets it.
  func leave(_ job: Job) {
    let next = state.withLock { state -> Job? in
      state.holders.removeAll { $0.job === job }
      return admitNext(&state)
    }
    next?.admit()
  }

  /// More of the upload of a waiting job has come.
  func note(_ readiness: Readiness, of job: Job) {
    state.withLock { state in
      guard let index = state.waiting.firstIndex(where: { $0.job === job }) else { return }
      state.waiting[index].readiness = max(readiness, state.waiting[index].readiness)
    }
  }

  /// A waiting job gives up. False when it was not waiting (any more).
  func withdraw(_ job: Job) -> Bool {
    state.withLock { state in
      let before = state.waiting.count
      state.waiting.removeAll { $0.job === job }
      return state.waiting.count < before
    }
  }

  /// Waiting jobs that could have the slot of `job`.
  func contenders(for job: Job) -> Int {
    state.withLock { state in
      guard let holder = state.holders.first(where: { $0.job === job }) else { return 0 }
      guard !holder.isLarge, !hasPlaceForLarge(state) else { return state.waiting.count }
      return state.waiting.count(where: { !$0.isLarge })
    }
  }

  private func admitNext(_ state: inout State) -> Job? {
    guard state.holders.count < slots else { return nil }
    let admitsLarge = hasPlaceForLarge(state)
    let able = state.waiting.indices.filter { admitsLarge || !state.waiting[$0].isLarge }
    guard let oldest = able.first else { return nil }
    var chosen = oldest
    if state.timesPassed < Self.mostTimesPassed {
      for index in able where state.waiting[index].readiness > state.waiting[chosen].readiness {
        chosen = index
      }
    }
    state.timesPassed = chosen == oldest ? 0 : state.timesPassed + 1
    let next = state.waiting.remove(at: chosen)
    state.holders.append(next)
    return next.job
  }

  private func hasPlaceForLarge(_ state: borrowing State) -> Bool {
    state.holders.count(where: { $0.isLarge }) < max(1, slots - 1)
  }

  /// As many jobs wait as may: the next request for a codec is refused. Twice as many may wait while
  /// there is a slot, which large pictures do not get.
  package var isFull: Bool {
    state.withLock { state in
      let limit = state.holders.count < slots ? 2 * queueLimit : queueLimit
      return state.waiting.count >= limit
        && (state.holders.count >= slots || !state.waiting.isEmpty)
    }
  }

  package var figures: (admitted: Int, waiting: Int) {
    state.withLock { ($0.holders.count, $0.waiting.count) }
  }
}
