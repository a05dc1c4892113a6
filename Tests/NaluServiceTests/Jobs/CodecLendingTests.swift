import Platform
import TestSupport
import Testing

@testable import NaluService

/// Clients that keep a codec idle while others could use it. The tests set the clock ahead.
@Suite struct CodecLendingTests {
  private func look(
    _ harness: JobHarness, after seconds: Double, _ start: UInt64 = monotonicNanoseconds()
  ) {
    harness.admission.look(at: start + UInt64(seconds * 1e9))
  }

  /// A job that holds a codec or waits for one, and whose client has sent one block.
  private func trickle(
    _ harness: JobHarness, bytes: Int = .max, isLarge: Bool = false
  ) -> (job: Job, client: JobClient) {
    let (job, client) = harness.start(
      RepeatingOperation(blockSize: 1, isExpensive: true, isLarge: isLarge, codecBytes: bytes))
    let isTaken = job.offer([1].span)
    #expect(isTaken)
    settle([job])
    return (job, client)
  }

  /// Waits until none of the jobs is in the work queue; asleep, because a thread that runs keeps
  /// Dispatch from beginning another.
  private func settle(_ jobs: [Job]) {
    let deadline = monotonicNanoseconds() + 10_000_000_000
    for job in jobs {
      while job.state.withLock({ $0.phase == .ready || $0.phase == .running }),
        monotonicNanoseconds() < deadline
      { usleepShortly() }
    }
  }

  /// A job that waits for a codec until the clock is set; its upload is complete.
  private func complete(_ harness: JobHarness) -> (job: Job, client: JobClient) {
    let (job, client) = harness.start(RepeatingOperation(isExpensive: true))
    #expect(client.upload([1, 2, 3], to: job))
    return (job, client)
  }

  @Test func theSlotOfAnIdleCodecIsLent() throws {
    let harness = JobHarness(jobs: 1, queue: 4)
    let (camera, cameraClient) = trickle(harness, bytes: 1)
    let (job, client) = complete(harness)
    #expect(harness.admission.figures == (1, 1))
    look(harness, after: 1)
    #expect(harness.admission.idleFigures == (1, 0))
    #expect(client.waitForAnswer() != nil)
    #expect(client.download(from: job) == [1, 2, 3])
    // The camera has not noticed.
    #expect(cameraClient.upload([2, 3], to: camera))
    #expect(cameraClient.waitForAnswer() != nil)
    #expect(cameraClient.download(from: camera) == [1, 2, 3])
    #expect(harness.admission.figures == (0, 0))
  }

  /// Also when nobody waits: there need not be a queue.
  @Test func aFreeSlotIsFoundBeforeItIsAskedFor() {
    let harness = JobHarness(jobs: 1, queue: 1)
    let (camera, _) = trickle(harness, bytes: 1)
    look(harness, after: 1)
    let (job, client) = complete(harness)
    #expect(client.waitForAnswer() != nil)
    #expect(client.download(from: job) == [1, 2, 3])
    camera.cancel()
  }

  @Test(
    arguments: [
      (queue: 2, limit: 100, bytes: 1, isLarge: false, lent: 2),
      (queue: 9, limit: 100, bytes: 33, isLarge: false, lent: 3),
      (queue: 9, limit: 100, bytes: 101, isLarge: false, lent: 0),
      (queue: 9, limit: 100, bytes: 1, isLarge: true, lent: 0),
    ])
  func whatIsLentIsBounded(queue: Int, limit: Int, bytes: Int, isLarge: Bool, lent: Int) {
    let harness = JobHarness(jobs: 1, queue: queue, lentLimit: limit)
    let jobs = (0..<6).map { _ in trickle(harness, bytes: bytes, isLarge: isLarge).job }
    for second in 1...12 {
      look(harness, after: Double(second))
      settle(jobs)
    }
    #expect(harness.admission.idleFigures == (lent, 5 - lent))
    #expect(harness.admission.figures == (lent + 1, 5 - lent))
    for job in jobs { job.cancel() }
    #expect(harness.admission.figures == (0, 0))
  }

  /// The more wait, and the more codecs are idle, the sooner.
  @Test(
    arguments: [
      (1, 1, 30), (2, 1, 15), (10, 1, 3), (15, 1, 2), (100, 1, 2), (1, 2, 15), (2, 3, 5),
    ])
  func whoeverKeepsACodecIdleThatCannotBeLentIsGivenUp(
    waiting: Int, idle: Int, patience: Int
  ) throws {
    let harness = JobHarness(jobs: idle, queue: 100)
    let holders = (0..<idle).map { _ in trickle(harness) }
    let others = (0..<waiting).map { _ in complete(harness) }
    // However long it took the test to come here.
    let starts = holders.map { $0.job.state.withLock { $0.phaseStart } }
    look(harness, after: Double(patience) - 0.5, starts.min() ?? 0)
    #expect(harness.admission.figures == (idle, waiting))
    look(harness, after: Double(patience) + 0.5, starts.max() ?? 0)
    for (job, client) in others {
      #expect(client.waitForAnswer() != nil)
      #expect(client.download(from: job) == [1, 2, 3])
    }
    let given = holders.filter { $0.job.report.failure != nil }
    // Each makes room for one.
    #expect(given.count == min(waiting, idle))
    for (_, client) in given {
      guard case .problem(let problem) = try #require(client.waitForAnswer()) else {
        Issue.record("expected a problem")
        continue
      }
      #expect(problem.code == .uploadStalled)
    }
    for (job, _) in holders { job.cancel() }
  }

  /// Nor is it lent: that may save it.
  @Test func aYoungCodecIsNotGivenUp() {
    let harness = JobHarness(jobs: 1, queue: 100, grace: .max / 2)
    let (young, _) = trickle(harness, bytes: 1)
    let others = (0..<100).map { _ in complete(harness).job }
    for second in [1, 10, 100] { look(harness, after: Double(second)) }
    #expect(harness.admission.figures == (1, 100))
    #expect(harness.admission.idleFigures.lent == 0)
    #expect(young.report.failure == nil)
    for job in others + [young] { job.cancel() }
  }

  @Test func anUploadMayBeSlowWhenNobodyWaits() {
    let harness = JobHarness(jobs: 1, queue: 4)
    let (job, _) = trickle(harness)
    // Whose own upload trickles has no claim.
    let (other, _) = trickle(harness)
    for second in 1...100 { look(harness, after: Double(1000 * second)) }
    #expect(harness.admission.figures == (1, 1))
    #expect(job.report.failure == nil)
    job.cancel()
    other.cancel()
  }

  @Test func whoeverWorksKeepsItsCodec() {
    let harness = JobHarness(jobs: 2, queue: 4)
    let gauge = CountingOperation.Gauge()
    let (worker, _) = harness.start(CountingOperation(steps: .max, gauge: gauge))
    worker.endInput()
    let (idle, _) = trickle(harness)
    let (job, client) = complete(harness)
    look(harness, after: 1)
    look(harness, after: 100)
    #expect(client.waitForAnswer() != nil)
    #expect(client.download(from: job) == [1, 2, 3])
    #expect(idle.report.failure?.code == .uploadStalled)
    #expect(worker.report.failure == nil)
    worker.cancel()
  }

  /// What is lent makes room, when all that may be is lent.
  @Test func ofAllThatAreIdleAsManyAreGivenUpAsOthersWait() {
    let harness = JobHarness(jobs: 2, queue: 3)
    let trickles = (0..<8).map { _ in trickle(harness, bytes: 1).job }
    for second in 1...5 {
      look(harness, after: Double(second))
      settle(trickles)
    }
    #expect(harness.admission.idleFigures == (3, 3))
    let (job, client) = complete(harness)
    for tenth in 1...61 { look(harness, after: 5 + Double(tenth) / 10) }
    look(harness, after: 12)
    #expect(client.waitForAnswer() != nil)
    #expect(client.download(from: job) == [1, 2, 3])
    #expect(trickles.count { $0.report.failure != nil } == 1)
    for job in trickles { job.cancel() }
    #expect(harness.admission.figures == (0, 0))
  }

  @Test func largePicturesContendOnlyForWhatTheyMayHave() {
    let harness = JobHarness(jobs: 2, queue: 100)
    let (small, _) = trickle(harness)
    let (large, _) = trickle(harness, isLarge: true)
    let (waiting, client) = harness.start(RepeatingOperation(isExpensive: true, isLarge: true))
    #expect(client.upload([1], to: waiting))
    look(harness, after: 1)
    look(harness, after: 100)
    #expect(client.waitForAnswer() != nil)
    #expect(small.report.failure == nil)
    #expect(large.report.failure != nil)
    small.cancel()
    waiting.cancel()
  }
}

@Suite struct IdlenessTests {
  private func time(_ tenths: UInt64) -> UInt64 { tenths * 100_000_000 }

  @Test func itIsKnownAfterTheFirstLook() {
    var idleness = Idleness(at: 0)
    #expect(!idleness.isHigh)
    idleness.look(at: time(1), waited: time(1))
    #expect(idleness.isHigh)
    #expect(idleness.share == 1)
  }

  @Test func tooShortATimeSaysNothing() {
    var idleness = Idleness(at: 0)
    idleness.look(at: 40_000_000, waited: 40_000_000)
    #expect(!idleness.isHigh)
    idleness.look(at: time(1), waited: 40_000_000)
    #expect(abs(idleness.share - 0.4) < 1e-9)
  }

  @Test func aPauseOfAMomentIsForgotten() {
    var idleness = Idleness(at: 0)
    idleness.look(at: time(10), waited: 0)
    idleness.look(at: time(12), waited: time(2))
    #expect(idleness.isLow)
    idleness.look(at: time(42), waited: time(32))
    #expect(idleness.isHigh)
    idleness.look(at: time(52), waited: time(32))
    #expect(idleness.isLow)
  }

  @Test func onlyWaitingWhileOthersWaitCounts() {
    var idleness = Idleness(at: 0)
    idleness.look(at: time(50), waited: time(40))
    idleness.count(othersWait: false)
    #expect(idleness.seconds == 0)
    idleness.look(at: time(80), waited: time(60))
    idleness.count(othersWait: true)
    #expect(idleness.seconds == 2)
    idleness.look(at: time(95), waited: time(75))
    idleness.count(othersWait: false)
    #expect(idleness.seconds == 0.5)
  }
}
