import Dispatch
import Platform
import Synchronization
import Testing

@testable import NaluService

@Suite struct JobTests {
  private func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 / 7) }
  }

  @Test(arguments: [0, 1, 1023, 1024, 1025, 50_000], [1, 100, 5000])
  func aResultIsTheSameHoweverTheUploadIsCut(count: Int, pieces: Int) throws {
    let harness = JobHarness()
    let (job, client) = harness.start(RepeatingOperation())
    #expect(client.upload(bytes(count), pieces: pieces, to: job))
    guard case .whole(_, let length) = try #require(client.waitForAnswer()) else {
      Issue.record("a small result is answered whole")
      return
    }
    #expect(length == count)
    #expect(client.download(from: job) == bytes(count))
  }

  /// libmicrohttpd reads no answer before the upload has ended: a result larger than every buffer
  /// must not stop the upload.
  @Test func aResultLargerThanEveryBufferDoesNotStopTheUpload() throws {
    let harness = JobHarness()
    let (job, client) = harness.start(RepeatingOperation(times: 100))
    let upload = bytes(400_000)
    #expect(client.upload(upload, to: job))
    guard case .streamed = try #require(client.waitForAnswer()) else {
      Issue.record("a large result is streamed")
      return
    }
    #expect(harness.spoolDirectory.usedBytes > 0)
    let result = try #require(client.download(from: job, pieces: 65536))
    #expect(result.count == upload.count * 100)
    #expect(result.prefix(102_400) == (0..<100).flatMap { _ in upload[..<1024] }[...])
    #expect(harness.spoolDirectory.usedBytes == 0)
  }

  @Test func anUploadAheadOfTheWorkersIsRefusedUntilThereIsRoom() {
    let harness = JobHarness(workers: 1)
    let (job, client) = harness.start(RepeatingOperation(blockSize: 65536, start: .whenComplete))
    // Nothing is stepped while the only worker is busy.
    let busy = WaitingJob()
    harness.workQueue.enqueue(busy)
    #expect(busy.begins())
    let piece = bytes(65536)
    var taken = 0
    while taken < 10, job.offer(piece.span) { taken += 1 }
    #expect(taken >= 2 && taken < 10)
    #expect(client.roomNotices == 0)
    busy.mayEnd.signal()
    #expect(client.upload(piece, to: job))
    #expect(client.roomNotices >= 1)
    _ = client.waitForAnswer()
    #expect(client.download(from: job)?.count == (taken + 1) * piece.count)
  }

  @Test func aProblemIsAnsweredAtOnceAndTheRestOfTheUploadIsTaken() throws {
    let harness = JobHarness()
    var limits = Limits()
    limits.maxBody = 5000
    let small = JobHarness(limits: limits)
    let (job, client) = small.start(RepeatingOperation())
    #expect(client.upload(bytes(20_000), to: job))
    guard case .problem(let problem) = try #require(client.waitForAnswer()) else {
      Issue.record("expected a problem")
      return
    }
    #expect(problem.code == .bodyTooLarge)

    let (failing, other) = harness.start(RepeatingOperation(failure: Problem(.partialFrame, "x")))
    #expect(other.upload(bytes(10), to: failing))
    guard case .problem(let second) = try #require(other.waitForAnswer()) else {
      Issue.record("expected a problem")
      return
    }
    #expect(second.code == .partialFrame)
  }

  @Test func aSpoolThatIsFullIsInsufficientStorage() throws {
    let harness = JobHarness(maxSpool: 1 << 20)
    let (job, client) = harness.start(RepeatingOperation(times: 100))
    #expect(client.upload(bytes(200_000), to: job))
    guard case .problem(let problem) = try #require(client.waitForAnswer()) else {
      Issue.record("expected a problem")
      return
    }
    #expect(problem.code == .insufficientStorage)
    #expect(harness.spoolDirectory.usedBytes == 0)
  }

  @Test func cancellingReleasesTheOperationAndItsSlot() {
    let harness = JobHarness(jobs: 1, queue: 4)
    let gauge = CountingOperation.Gauge()
    let jobs = (0..<3).map { _ in
      harness.start(CountingOperation(steps: 1_000_000, gauge: gauge)).job
    }
    for job in jobs { job.endInput() }
    #expect(harness.admission.figures == (1, 2))
    for job in jobs { job.cancel() }
    let deadline = monotonicNanoseconds() + 10_000_000_000
    // The slot is given up right after the operation.
    while gauge.living.load(ordering: .relaxed) > 0 || harness.admission.figures != (0, 0),
      monotonicNanoseconds() < deadline
    {}
    #expect(gauge.living.load(ordering: .relaxed) == 0)
    #expect(harness.admission.figures == (0, 0))
  }
}
