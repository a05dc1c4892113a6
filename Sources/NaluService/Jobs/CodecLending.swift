internal import Platform

/// What becomes of codecs that their clients keep idle.
///
/// A camera in real time needs its encoder for hours, and most of that time the encoder waits for the
/// next picture. So does one whose client has stopped sending, or wants to keep others from working.
/// The slot of either is lent to another job; its own goes on as soon as there is a picture. What is
/// lent costs memory only: it is bounded by number and by bytes. Beyond that, while others wait, the
/// job that keeps its codec idle most is given up.
extension Admission {
  /// Looks at all codecs; called ten times a second.
  package func look(at now: UInt64) {
    // Not under the lock: a job's own lock comes first.
    let jobs = state.withLock { state in
      state.taken < slots && state.waiting.isEmpty ? [] : state.holders.map(\.job)
    }
    guard !jobs.isEmpty else { return }
    let uses = jobs.map { $0.codecUse(at: now) }
    let (admitted, given) = state.withLock { state in
      for (job, use) in zip(jobs, uses) {
        guard let index = state.holders.firstIndex(where: { $0.job === job }) else { continue }
        state.holders[index].idleness.look(at: now, waited: use.waited)
        if state.holders[index].idleness.isLow { state.holders[index].lentBytes = nil }
      }
      lend(&state, at: now, bytes: zip(jobs, uses).map { (job: $0, bytes: $1.bytes) })
      return (admitNext(&state), patienceIsOver(&state, at: now))
    }
    for job in admitted { job.admit() }
    for job in given { job.giveUpCodec() }
  }

  /// Lends the slots of codecs that are idle, as far as memory goes.
  private func lend(_ state: inout State, at now: UInt64, bytes: [(job: Job, bytes: Int)]) {
    var count = state.holders.count(where: { $0.isLent })
    var room = lentLimit - state.holders.reduce(0) { $0 + ($1.lentBytes ?? 0) }
    for (job, bytes) in bytes where count < queueLimit && bytes <= room {
      guard let index = state.holders.firstIndex(where: { $0.job === job }),
        !state.holders[index].isLent, !state.holders[index].isLarge,
        isIdle(state.holders[index], at: now)
      else { continue }
      state.holders[index].lentBytes = bytes
      count += 1
      room -= bytes
    }
  }

  /// Jobs that are to give up their codecs, because these are idle, cannot be lent, and others wait.
  private func patienceIsOver(_ state: inout State, at now: UInt64) -> [Job] {
    let stuck = state.holders.filter { !$0.isLent && isIdle($0, at: now) }
    let contenders = stuck.map { rivals(of: $0, state) }.max() ?? 0
    for index in state.holders.indices {
      state.holders[index].idleness.count(othersWait: contenders > 0)
    }
    guard contenders > 0 else { return [] }
    let idle = state.holders.filter { isIdle($0, at: now) }
    let patience = Limits.codecPatience(whileWaiting: contenders, idle: idle.count)
    // Another can be lent in the place of one that is given up.
    let isSmallStuck = stuck.contains { !$0.isLarge }
    return
      idle
      .filter { holder in
        holder.idleness.seconds >= Double(patience)
          && (holder.isLent ? isSmallStuck : rivals(of: holder, state) > 0)
      }
      .sorted { $0.idleness.share > $1.idleness.share }
      .prefix(min(contenders, stuck.count)).map(\.job)
  }

  /// A young job may yet show what it does with its codec.
  private func isIdle(_ holder: Holder, at now: UInt64) -> Bool {
    holder.idleness.isHigh && !isYoung(holder.since, at: now)
  }

  /// Waiting jobs that could have the slot of `holder`.
  private func rivals(of holder: Holder, _ state: borrowing State) -> Int {
    guard !holder.isLarge, !hasPlaceForLarge(state) else { return state.pressing }
    return state.waiting.count(where: { $0.isPressing && !$0.isLarge })
  }
}

extension Job {
  /// Nanoseconds for which the job waited for its upload while it held a codec, and the codec's bytes.
  func codecUse(at now: UInt64) -> (waited: UInt64, bytes: Int) {
    state.withLock { state in
      let current = state.isStarving && now > state.phaseStart ? now - state.phaseStart : 0
      return (state.starved + current, state.codecBytes)
    }
  }

  /// Another job needs the codec that this one's client keeps idle.
  func giveUpCodec() {
    update { state in
      guard state.isStarving else { return }
      let seconds = (state.starved + monotonicNanoseconds() - state.phaseStart) / 1_000_000_000
      fail(
        Problem(
          .uploadStalled,
          "The upload kept an encoder idle for \(seconds) seconds in all, and others wait for one. "
            + "Send it faster, or again later."),
        &state)
    }
  }

  /// Another job waits for a codec.
  ///
  /// One that holds a codec and waits for its reader writes the rest of its result to the spool
  /// instead, and so comes to its end.
  func makeWay() {
    update { state in
      guard state.isAdmitted, state.phase == .idle, !state.needsInput else { return }
      state.output.neverWaits = true
    }
  }
}

extension Job.State {
  /// It holds a codec, and its client sends nothing for that.
  var isStarving: Bool { isAdmitted && phase == .idle && needsInput }
}
