package import Codec
internal import Platform

/// What a job tells whoever asked for it. Called without any lock of the job held, from any thread.
package protocol JobObserver: AnyObject, Sendable {
  /// A refused upload may be offered again.
  func inputHasRoom()
  /// How the job is answered; called once.
  func answer(_ answer: JobAnswer)
  /// The result has more bytes, has ended, or has failed, after `read` had nothing.
  func outputHasMore()
}

/// The beginning of the answer to a job.
package enum JobAnswer: Sendable {
  case problem(Problem)
  /// The result has that many bytes, which are there if they are few.
  case whole(Answer, length: Int)
  /// The result begins; its length is not known yet.
  case streamed(Answer)
}

/// An operation with its input and output, its limits, its counters and its cancel flag: what the
/// work queue runs.
///
/// The upload thread fills the job's blocks under a short lock and never touches the operation. A
/// worker takes the operation out of the state, pushes a block, steps, and puts it back; so the
/// operation needs no lock, and nothing waits for a step but the job itself.
package final class Job: Steppable {
  package let id: String
  let workQueue: WorkQueue
  let admission: Admission
  let limits: Limits
  let spoolDirectory: SpoolDirectory
  /// What the codec libraries say of the job.
  let messages: CodecMessages
  /// Ends the reading of containers when the job is over.
  let interruption = Interruption()
  let state: Lock<State>

  enum Phase: Equatable {
    /// Nothing can be done before the client sends or reads.
    case idle
    /// Could go on, but holds no codec slot yet.
    case waitingForSlot
    /// In the work queue's line.
    case ready
    /// A worker has the operation.
    case running
    /// The operation is gone: finished, failed or cancelled.
    case over
  }

  struct State: ~Copyable {
    var operation: (any Operation & ~Copyable)?
    var observer: (any JobObserver)?
    var phase = Phase.idle
    var input: JobInput
    var output: JobOutput
    /// What the operation keeps in memory.
    var records: HeldMemory
    var needsInput = true
    var endIsTold = false
    var isExpensive: Bool
    var isLarge: Bool
    var pace = StepPace()
    var isAdmitted = false
    /// What the admission knows of the upload.
    var readiness = Admission.Readiness.trickling
    var isFinished = false
    var isCancelled = false
    var isAnswered = false
    var failure: Problem?
    /// Nanoseconds for which the job held a codec, and its client sent nothing.
    var starved: UInt64 = 0
    /// Of the codec, about.
    var codecBytes: Int
    var phaseStart = monotonicNanoseconds()
    var timing = Timing()
  }

  /// Where a job's time went, in nanoseconds; waiting for the client is not counted.
  package struct Timing: Equatable, Sendable {
    /// Ready, and waiting for a worker or a codec slot.
    package var queued: UInt64 = 0
    /// Running steps.
    package var work: UInt64 = 0
  }

  package init(
    id: String, operation: consuming any Operation & ~Copyable, workQueue: WorkQueue,
    admission: Admission, limits: Limits, spoolDirectory: SpoolDirectory,
    messages: CodecMessages = CodecMessages(level: nil)
  ) {
    self.id = id
    self.messages = messages
    self.workQueue = workQueue
    self.admission = admission
    self.limits = limits
    self.spoolDirectory = spoolDirectory
    let blockSize = operation.blockSize
    let isExpensive = operation.isExpensive
    let isLarge = operation.isLarge
    let codecBytes = operation.codecBytes
    state = Lock(
      State(
        operation: operation,
        input: JobInput(blockSize: blockSize, memory: spoolDirectory.memory),
        output: JobOutput(in: spoolDirectory),
        records: HeldMemory(spoolDirectory.memory), isExpensive: isExpensive,
        isLarge: isLarge, codecBytes: codecBytes))
  }

  // MARK: What the client's side does

  package func observe(_ observer: any JobObserver) {
    state.withLock { $0.observer = observer }
  }

  /// Takes all of `bytes`, or nothing and false: then `inputHasRoom` follows. What comes after the
  /// job is over is taken and forgotten. `isSecond`: the bytes are of the second part.
  package func offer(_ bytes: Span<UInt8>, isSecond: Bool = false) -> Bool {
    let isQuiet = state.withLock { state in
      state.phase != .over && !state.isCancelled
        && state.input.received + bytes.count <= limits.maxBody
        && state.input.addQuietly(bytes, isSecond: isSecond)
    }
    if isQuiet { return true }
    var isTaken = true
    update { state in
      guard state.phase != .over, !state.isCancelled else { return }
      guard state.input.received + bytes.count <= limits.maxBody else {
        fail(.bodyTooLarge(limit: limits.maxBody), &state)
        return
      }
      do throws(Problem) {
        isTaken = try state.input.offer(
          bytes, isSecond: isSecond, besides: state.records.bytes)
      } catch {
        fail(error, &state)
      }
    }
    return isTaken
  }

  /// The upload is complete.
  package func endInput() {
    update { $0.input.end() }
  }

  /// The upload cannot be completed; the job is answered with `problem`.
  package func failInput(_ problem: Problem) {
    update { fail(problem, &$0) }
  }

  /// Nobody wants the result any more. What the job holds is released at once, or when the step
  /// that runs is over.
  package func cancel() {
    interruption.cancel()
    update { state in
      state.isCancelled = true
      state.isAnswered = true
      state.observer = nil
      if state.phase == .over { state.output.removeAll() }
    }
  }

  /// What a reader of the result gets.
  package enum ReadResult: Equatable, Sendable {
    case some
    /// Nothing yet; `outputHasMore` follows.
    case waiting
    case end
    case failed
  }

  /// Moves bytes of the result into the free room of `output`.
  package func read(into output: inout OutputSpan<UInt8>) -> ReadResult {
    var result = ReadResult.waiting
    update { state in
      let before = output.count
      do throws(Problem) {
        try state.output.read(into: &output)
      } catch {
        state.failure = state.failure ?? error
      }
      if state.failure != nil {
        result = .failed
      } else if output.count > before {
        result = .some
      } else if state.isFinished, state.phase == .over {
        result = .end
      } else {
        state.output.readerWaits = true
      }
    }
    return result
  }

  // MARK: Scheduling

  /// Changes the state, then does what follows from the change: puts the job in the line or in the
  /// queue for a codec, and tells the observer; all of that without the lock.
  func update(_ change: (inout State) -> Void) {
    carryOut(consequences(of: change))
  }

  /// Changes the state and settles it; the caller carries out what follows.
  func consequences(of change: (inout State) -> Void) -> Consequences {
    var consequences = Consequences()
    let dropped = state.withLock { state -> (any Operation & ~Copyable)? in
      change(&state)
      return settle(&state, &consequences)
    }
    _ = consume dropped
    return consequences
  }

  struct Consequences {
    var observer: (any JobObserver)?
    var tellsInput = false
    var tellsOutput = false
    var answer: JobAnswer?
    var enqueues = false
    var entersAdmission = false
    var isLarge = false
    var readiness: Admission.Readiness?
    var withdraws = false
    var leavesAdmission = false
  }

  /// Brings `state` to rest and notes what must be done outside the lock. Returns the operation
  /// when its time is over, to be released outside the lock too.
  private func settle(
    _ state: inout State, _ consequences: inout Consequences
  ) -> (any Operation & ~Copyable)? {
    consequences.observer = state.observer
    var dropped: (any Operation & ~Copyable)?
    let isOver = state.isCancelled || state.failure != nil || state.isFinished
    if isOver, state.phase != .running, state.phase != .over {
      consequences.withdraws = state.phase == .waitingForSlot
      // A job in the line is stepped once more and finds that it is over.
      dropped = state.operation.take()
      enter(.over, &state)
      consequences.leavesAdmission = state.isAdmitted
      state.isAdmitted = false
      state.input.removeAll()
      state.records.change(to: 0)
      if !state.isFinished || state.isCancelled { state.output.removeAll() }
    }
    if state.phase == .idle, state.isAdmitted, !state.isExpensive {
      // The codec is closed; what is left needs none.
      state.isAdmitted = false
      consequences.leavesAdmission = true
    }
    if state.phase == .idle, state.hasWork {
      if state.isExpensive, !state.isAdmitted {
        enter(.waitingForSlot, &state)
        consequences.entersAdmission = true
        consequences.isLarge = state.isLarge
        state.readiness = .trickling
      } else {
        enter(.ready, &state)
        consequences.enqueues = true
      }
    }
    if state.phase == .waitingForSlot, state.readinessNow > state.readiness {
      state.readiness = state.readinessNow
      consequences.readiness = state.readiness
    }
    consequences.tellsInput = state.input.takeRoomNotice(isOver: state.phase == .over)
    if !state.isAnswered, let answer = state.answerIfDue {
      state.isAnswered = true
      consequences.answer = answer
    }
    if state.output.readerWaits,
      state.output.isReadable || state.phase == .over || state.failure != nil
    {
      state.output.readerWaits = false
      consequences.tellsOutput = true
    }
    return dropped
  }

  func carryOut(_ consequences: Consequences) {
    if consequences.withdraws { _ = admission.withdraw(self) }
    if consequences.leavesAdmission { admission.leave(self) }
    if consequences.entersAdmission { enterAdmission(isLarge: consequences.isLarge) }
    if let readiness = consequences.readiness { admission.note(readiness, of: self) }
    if consequences.enqueues { workQueue.enqueue(self) }
    guard let observer = consequences.observer else { return }
    if consequences.tellsInput { observer.inputHasRoom() }
    if let answer = consequences.answer { observer.answer(answer) }
    if consequences.tellsOutput { observer.outputHasMore() }
  }

  private func enterAdmission(isLarge: Bool) {
    if admission.enter(self, isLarge: isLarge) { return admit() }
    // More of the upload may have come before the job was in the line.
    admission.note(state.withLock { $0.readiness }, of: self)
  }

  /// The admission gives the job its codec slot.
  func admit() {
    var isLate = false
    var enqueues = false
    state.withLock { state in
      guard state.phase == .waitingForSlot else {
        isLate = true
        return
      }
      state.isAdmitted = true
      enter(.ready, &state)
      enqueues = true
    }
    if isLate { admission.leave(self) }
    if enqueues { workQueue.enqueue(self) }
  }

  /// Changes the phase and books the time that the last one took.
  func enter(_ phase: Phase, _ state: inout State) {
    let now = monotonicNanoseconds()
    let elapsed = now - state.phaseStart
    switch state.phase {
    case .ready, .waitingForSlot: state.timing.queued += elapsed
    case .running:
      state.timing.work += elapsed
      if state.isAdmitted { state.pace.took(elapsed) }
    case .idle: if state.isStarving { state.starved += elapsed }
    case .over: break
    }
    state.phase = phase
    state.phaseStart = now
  }

  func fail(_ problem: Problem, _ state: inout State) {
    // What finished before its upload has ended has no answer yet.
    guard state.failure == nil, !state.isFinished || !state.isAnswered else { return }
    state.failure = problem
  }
}

extension Job.State {
  /// Whether a step could do anything now.
  fileprivate var hasWork: Bool {
    if needsInput {
      return input.hasBlock || (input.isEnded && !endIsTold)
    }
    return !waitsForReader
  }

  /// The result must be read before there can be more of it.
  var waitsForReader: Bool { output.isStreaming(after: input) && output.isAboveMark }

  fileprivate var readinessNow: Admission.Readiness {
    input.isEnded ? .complete : input.isFull ? .full : .trickling
  }

  /// The answer, once there is one to give.
  fileprivate var answerIfDue: JobAnswer? {
    if let failure { return .problem(failure) }
    guard input.isEnded, phase != .running else { return nil }
    if isFinished { return .whole(output.answer, length: output.length) }
    if output.answer.start == .whenReady, output.length >= JobOutput.streamThreshold {
      return output.answer.length.map { .whole(output.answer, length: $0) }
        ?? .streamed(output.answer)
    }
    return nil
  }
}

extension Problem {
  static func bodyTooLarge(limit: Int) -> Problem {
    Problem(
      .bodyTooLarge, "The body is larger than max_body, \(limit) bytes.",
      members: [Member("limit", limit)])
  }
}
