internal import Codec
internal import Platform

extension Job {
  /// What a worker takes out of the state for one step.
  private struct Turn: ~Copyable {
    var operation: any Operation & ~Copyable
    var scratch: Output
    /// The spool of the result, while the result cannot be read yet.
    var spool: Spool?
    var piece: JobInput.Piece?
    /// Bytes of this step that went to the spool.
    var spooled = 0
    var tellsEnd: Bool

    /// Moves what the step produced to the spool, if this turn has it.
    mutating func spoolResult() throws(Problem) {
      guard spool != nil else { return }
      let bytes = scratch.bytes
      scratch.bytes = []
      spooled = bytes.count
      try spool?.append(bytes.span)
    }
  }

  package var stepClass: StepClass {
    state.withLock { state in
      !state.isAdmitted ? .light : state.isLarge || state.pace.isSlow ? .slow : .quick
    }
  }

  package func runStep() -> Bool {
    guard var turn = takeTurn() else { return false }
    messages.attach()
    interruption.attach(until: deadline)
    defer {
      messages.detach()
      interruption.detach()
    }
    var step = Step.finished
    var failure: Problem?
    do throws(Problem) {
      if let piece = turn.piece {
        if piece.isSecond {
          try turn.operation.pushSecond(piece.block)
        } else {
          try turn.operation.push(piece.block)
        }
      }
      if turn.tellsEnd { try turn.operation.endOfInput() }
      step = try turn.operation.step(into: &turn.scratch)
      try turn.spoolResult()
    } catch {
      failure = error
    }
    return putBack(turn, step, failure)
  }

  /// When the job's time is up, unless it waits again for its client.
  private var deadline: UInt64 {
    let spent = state.withLock { $0.timing.work + $0.timing.queued }
    let (allowed, overflows) = UInt64(limits.jobTimeout).multipliedReportingOverflow(
      by: 1_000_000_000)
    guard !overflows, allowed < .max / 2 else { return .max }
    return monotonicNanoseconds() + (allowed > spent ? allowed - spent : 0)
  }

  private func takeTurn() -> Turn? {
    state.withLock { state -> Turn? in
      guard state.phase == .ready, let operation = state.operation.take() else { return nil }
      enter(.running, &state)
      var piece: JobInput.Piece?
      var tellsEnd = false
      if state.needsInput {
        piece = state.input.takeBlock()
        tellsEnd = piece == nil && state.input.isEnded && !state.endIsTold
        if tellsEnd { state.endIsTold = true }
      }
      var scratch = Output()
      scratch.answer = state.output.answer
      scratch.counters = state.output.counters
      scratch.codecsInUse = max(1, admission.codecsAtWork + (state.isAdmitted ? 0 : 1))
      let streams = state.output.isStreaming(after: state.input)
      return Turn(
        operation: operation, scratch: scratch, spool: streams ? nil : state.output.takeSpool(),
        piece: piece, tellsEnd: tellsEnd)
    }
  }

  /// Puts everything back; true when the job stays in the line.
  private func putBack(_ turn: consuming Turn, _ step: Step, _ failure: Problem?) -> Bool {
    let blockSize = turn.operation.blockSize
    let isExpensive = turn.operation.isExpensive
    let isLarge = turn.operation.isLarge
    let heldBytes = turn.operation.heldBytes
    let codecBytes = turn.operation.codecBytes
    let block = turn.piece?.block
    turn.piece = nil
    let answer = turn.scratch.answer
    let counters = turn.scratch.counters
    let bytes = turn.scratch.bytes
    let spooled = turn.spooled
    var spool = turn.spool.take()
    var operation: (any Operation & ~Copyable)? = turn.operation
    var following = consequences { state in
      enter(.idle, &state)
      state.operation = operation.take()
      if let spool = spool.take() { state.output.putBack(spool) }
      state.input.blockSize = blockSize
      state.isExpensive = isExpensive
      state.isLarge = isLarge
      state.codecBytes = codecBytes
      if let block { state.input.recycle(block) }
      state.output.answer = answer
      state.output.counters = counters
      var failure = failure
      do throws(Problem) {
        try state.output.append(bytes, spooled: spooled)
      } catch {
        failure = failure ?? error
      }
      if !state.records.change(to: heldBytes) {
        failure =
          failure
          ?? .outOfMemory(spoolDirectory.memory, need: heldBytes + state.input.reserved)
      }
      if let late = limitExceeded(state, isFinished: step == .finished && failure == nil) {
        // What was read only until then is no fault of the input.
        failure = failure == nil || late.code == .jobTimeout ? late : failure
      }
      state.needsInput = step == .needsInput
      state.isFinished = step == .finished && failure == nil
      if state.isAdmitted, state.waitsForReader, admission.figures.waiting > 0 {
        state.output.neverWaits = true
      }
      if let failure { fail(failure, &state) }
    }
    let staysInLine = following.enqueues
    following.enqueues = false
    carryOut(following)
    return staysInLine
  }

  private func limitExceeded(_ state: borrowing State, isFinished: Bool) -> Problem? {
    if state.output.length > limits.maxOutput {
      return Problem(
        .outputTooLarge, "The result is larger than max_output, \(limits.maxOutput) bytes.",
        members: [.init("limit", limits.maxOutput)])
    }
    return isFinished ? nil : timeExceeded(state)
  }

  /// Steps look at the clock themselves; a job that waits in a line for its turn, or for a codec,
  /// comes to no step. It is looked at by `Housekeeping`.
  func lookAtTime() {
    update { state in
      guard state.phase == .waitingForSlot || state.phase == .ready else { return }
      if let problem = timeExceeded(state) { fail(problem, &state) }
    }
  }

  private func timeExceeded(_ state: borrowing State) -> Problem? {
    let isInLine = state.phase == .waitingForSlot || state.phase == .ready
    let current = isInLine ? monotonicNanoseconds() - state.phaseStart : 0
    let seconds = (state.timing.work + state.timing.queued + current) / 1_000_000_000
    guard seconds >= limits.jobTimeout else { return nil }
    return Problem(
      .jobTimeout, "The job was not done after job_timeout, \(limits.jobTimeout) seconds.",
      members: [.init("limit", limits.jobTimeout)])
  }
}
