internal import Platform

/// Who may hold a codec: at most `Limits.jobs` jobs at once that keep it at work. A job asks when its
/// first whole block is there, so silent clients hold nothing; those that find no slot wait.
///
/// Of those that wait, the one goes first that will keep its client's pace least: whose upload is
/// complete, then of which as much is there as may be; whoever of them came first is passed over three
/// times at most. Uploads that trickle come last, and count for the queue only as long as they are
/// young: few bytes from many clients shall not fill it for long. Large pictures never get the last
/// slot.
///
/// A codec that its client keeps idle is lent out (`CodecLending`).
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

  struct Applicant {
    let job: Job
    let isLarge: Bool
    /// When its first block was there, in nanoseconds.
    let since: UInt64
    var readiness = Readiness.trickling

    /// It has a claim, whatever its client does next.
    var isPressing: Bool { readiness > .trickling }
  }

  struct Holder {
    let job: Job
    let isLarge: Bool
    let since: UInt64
    var idleness: Idleness
    /// Bytes of the codec when its slot is lent to another job; nil when it is not.
    var lentBytes: Int?

    var isLent: Bool { lentBytes != nil }
  }

  struct State: ~Copyable {
    var holders: [Holder] = []
    var waiting: [Applicant] = []
    /// How often whoever came first was passed over.
    var timesPassed = 0

    /// Slots that are taken.
    var taken: Int { holders.count(where: { !$0.isLent }) }
    var pressing: Int { waiting.count(where: { $0.isPressing }) }
  }

  private static let mostTimesPassed = 3

  package let slots: Int
  package let queueLimit: Int
  /// Bytes of all lent codecs together.
  let lentLimit: Int
  /// Nanoseconds for which a job whose upload trickles is treated as any other.
  private let grace: UInt64
  let state = Lock(State())

  package init(slots: Int, queueLimit: Int, lentLimit: Int, grace: UInt64) {
    self.slots = slots
    self.queueLimit = queueLimit
    self.lentLimit = lentLimit
    self.grace = grace
  }

  /// True when the job may go on now; false when it has been put into the line, and `leave` will
  /// hand it to its `admit` later. `isLarge`: a picture may take it long.
  func enter(_ job: Job, isLarge: Bool) -> Bool {
    let now = monotonicNanoseconds()
    let holders = state.withLock { state -> [Holder]? in
      guard state.taken < slots, !isLarge || hasPlaceForLarge(state) else {
        state.waiting.append(Applicant(job: job, isLarge: isLarge, since: now))
        return state.holders
      }
      hold(Applicant(job: job, isLarge: isLarge, since: now), &state)
      return nil
    }
    guard let holders else { return true }
    for holder in holders { holder.job.makeWay() }
    return false
  }

  private func hold(_ applicant: Applicant, _ state: inout State) {
    state.holders.append(
      Holder(
        job: applicant.job, isLarge: applicant.isLarge, since: applicant.since,
        idleness: Idleness(at: monotonicNanoseconds())))
  }

  /// A job that has been there since `since` is young.
  func isYoung(_ since: UInt64, at now: UInt64) -> Bool { now < since + grace }

  /// An admitted job gives its slot up; those that wait for it get it.
  func leave(_ job: Job) {
    let next = state.withLock { state -> [Job] in
      state.holders.removeAll { $0.job === job }
      return admitNext(&state)
    }
    for job in next { job.admit() }
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

  /// Gives free slots to those that wait; the caller admits them, without the lock.
  func admitNext(_ state: inout State) -> [Job] {
    var next: [Job] = []
    while state.taken < slots, let job = takeNext(&state) { next.append(job) }
    return next
  }

  private func takeNext(_ state: inout State) -> Job? {
    let admitsLarge = hasPlaceForLarge(state)
    let able = state.waiting.indices.filter { admitsLarge || !state.waiting[$0].isLarge }
    guard let oldest = able.first(where: { state.waiting[$0].isPressing }) ?? able.first else {
      return nil
    }
    var chosen = oldest
    if state.timesPassed < Self.mostTimesPassed {
      for index in able where state.waiting[index].readiness > state.waiting[chosen].readiness {
        chosen = index
      }
    }
    state.timesPassed = chosen == oldest ? 0 : state.timesPassed + 1
    let next = state.waiting.remove(at: chosen)
    hold(next, &state)
    return next.job
  }

  func hasPlaceForLarge(_ state: borrowing State) -> Bool {
    state.holders.count(where: { $0.isLarge }) < max(1, slots - 1)
  }

  /// As many jobs wait as may: the next request for a codec is refused. Twice as many may wait while
  /// there is a slot, which large pictures do not get.
  package var isFull: Bool {
    let now = monotonicNanoseconds()
    return state.withLock { state in
      let count = state.waiting.count { $0.isPressing || isYoung($0.since, at: now) }
      let hasSlot = state.taken < slots
      return count >= (hasSlot ? 2 * queueLimit : queueLimit) && (!hasSlot || count > 0)
    }
  }

  /// All codecs, and all jobs that wait for one.
  package var figures: (admitted: Int, waiting: Int) {
    state.withLock { ($0.holders.count, $0.waiting.count) }
  }

  /// Codecs that are lent out, and waiting jobs whose uploads trickle.
  package var idleFigures: (lent: Int, trickling: Int) {
    state.withLock { ($0.holders.count - $0.taken, $0.waiting.count - $0.pressing) }
  }

  /// Codecs that divide the threads.
  var codecsAtWork: Int { state.withLock { $0.taken } }
}
