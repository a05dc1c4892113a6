import Dispatch
import Platform
import Testing

@testable import NaluService

/// Jobs that wait for their reader, or for their turn.
@Suite struct JobPatienceTests {
  /// Whether the other comes when the job waits already or, as likely, before that.
  @Test(arguments: [false, true])
  func aJobWithoutAReaderComesToItsEndWhenOthersWait(isAboveMark: Bool) throws {
    let harness = JobHarness(jobs: 1, queue: 4)
    let upload = [UInt8](repeating: 7, count: 1 << 20)
    // 16 MiB are four times what waits in memory for a reader.
    let (job, client) = harness.start(
      RepeatingOperation(blockSize: 1 << 16, isExpensive: true, times: 16, atEnd: true))
    #expect(client.upload(upload, to: job))
    guard case .streamed = try #require(client.waitForAnswer()) else {
      Issue.record("a large result is streamed")
      return
    }
    while isAboveMark, job.state.withLock({ $0.phase != .idle }) {}
    let (second, other) = harness.start(RepeatingOperation(isExpensive: true))
    #expect(other.upload([1, 2, 3], to: second))
    #expect(other.waitForAnswer() != nil)
    #expect(other.download(from: second) == [1, 2, 3])
    let result = try #require(client.download(from: job, pieces: 1 << 16))
    #expect(result.count == 16 << 20)
    #expect(result.allSatisfy { $0 == 7 })
    job.cancel()
    #expect(harness.spoolDirectory.usedBytes == 0)
  }

  /// No step comes to a job that waits for a codec, so that its time must be looked at from outside.
  @Test func aJobThatWaitsForACodecForTooLongIsGivenUp() throws {
    var harness = JobHarness(jobs: 1, queue: 4)
    let (holder, _) = harness.start(RepeatingOperation(blockSize: 1, isExpensive: true))
    let isTaken = holder.offer([1].span)
    #expect(isTaken)
    harness.limits.jobTimeout = 0
    let (job, client) = harness.start(RepeatingOperation(isExpensive: true))
    #expect(client.upload([1, 2, 3], to: job))
    #expect(harness.admission.figures.waiting == 1)
    job.lookAtTime()
    guard case .problem(let problem) = try #require(client.waitForAnswer()) else {
      Issue.record("expected a problem")
      return
    }
    #expect(problem.code == .jobTimeout)
    #expect(harness.admission.figures == (1, 0))
    // What waits for its client is not at fault.
    holder.lookAtTime()
    #expect(harness.admission.figures == (1, 0))
    holder.cancel()
  }

  @Test func aJobThatIsReadyForTooLongIsGivenUp() throws {
    var harness = JobHarness(workers: 1)
    harness.limits.jobTimeout = 0
    // Nothing is stepped while the only worker is busy.
    let busy = WaitingJob()
    harness.workQueue.enqueue(busy)
    #expect(busy.begins())
    let (job, client) = harness.start(RepeatingOperation())
    #expect(client.upload([1, 2, 3], to: job))
    job.lookAtTime()
    guard case .problem(let problem) = try #require(client.waitForAnswer()) else {
      Issue.record("expected a problem")
      return
    }
    #expect(problem.code == .jobTimeout)
    busy.mayEnd.signal()
  }
}
