import Testing

@testable import NaluService

/// Clients that keep a codec idle while others wait for one.
@Suite struct JobPatienceTests {
  @Test func aJobWithoutAReaderComesToItsEndWhenOthersWait() throws {
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
    let (second, other) = harness.start(RepeatingOperation(isExpensive: true))
    #expect(other.upload([1, 2, 3], to: second))
    while harness.admission.figures.waiting == 1 { job.othersWait(for: 1) }
    #expect(other.waitForAnswer() != nil)
    #expect(other.download(from: second) == [1, 2, 3])
    let result = try #require(client.download(from: job, pieces: 1 << 16))
    #expect(result.count == 16 << 20)
    #expect(result.allSatisfy { $0 == 7 })
    job.cancel()
    #expect(harness.spoolDirectory.usedBytes == 0)
  }

  @Test func anUploadThatKeepsACodecIdleIsGivenUpWhenOthersWait() throws {
    let harness = JobHarness(jobs: 1, queue: 4)
    let (job, client) = harness.start(RepeatingOperation(blockSize: 1, isExpensive: true))
    let isTaken = job.offer([1].span)
    #expect(isTaken)
    while harness.workQueue.figures.running > 0 || harness.workQueue.figures.steps < 1 {}
    job.othersWait(for: Limits.codecPatience - 1)
    #expect(harness.admission.figures.admitted == 1)
    job.othersWait(for: 1)
    guard case .problem(let problem) = try #require(client.waitForAnswer()) else {
      Issue.record("expected a problem")
      return
    }
    #expect(problem.code == .uploadStalled)
    #expect(harness.admission.figures.admitted == 0)
  }
}
