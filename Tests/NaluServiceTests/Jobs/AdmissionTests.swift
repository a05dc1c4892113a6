import Glibc
import Platform
import TestSupport
import Testing

@testable import NaluService

/// Who gets a codec next.
@Suite struct AdmissionTests {
  /// What a waiting job has of its upload.
  private enum Upload {
    /// A block, and more to come.
    case trickling
    /// As much as may wait.
    case full
  }

  /// Blocks of this size fill the input of a job at once.
  private static let block = [UInt8](repeating: 1, count: 1 << 16)

  private let harness = JobHarness(jobs: 1, queue: 100)

  private func start(_ upload: Upload, isLarge: Bool = false, in harness: JobHarness) -> Job {
    let isSmall = upload == .trickling
    let (job, _) = harness.start(
      RepeatingOperation(
        blockSize: isSmall ? 1024 : Self.block.count, isExpensive: true, isLarge: isLarge))
    send(isSmall ? 1024 : Self.block.count, to: job)
    if upload == .full { send(Self.block.count, to: job) }
    return job
  }

  private func send(_ count: Int, to job: Job) {
    let isTaken = job.offer(Self.block.span.extracting(0..<count))
    #expect(isTaken)
  }

  private func isAdmitted(_ job: Job) -> Bool { job.state.withLock { $0.isAdmitted } }

  /// The numbers of the jobs in the order in which they get the only slot, each when the one before
  /// it gives up; the first gets it from `holder`.
  private func order(_ jobs: [Job], after holder: Job) -> [Int] {
    var order: [Int] = []
    var holder = holder
    while order.count < jobs.count {
      holder.cancel()
      let deadline = monotonicNanoseconds() + 10_000_000_000
      var next: Int?
      while next == nil, monotonicNanoseconds() < deadline {
        next = jobs.indices.first { !order.contains($0) && isAdmitted(jobs[$0]) }
        if next == nil { usleepShortly() }
      }
      guard let next else { break }
      order.append(next)
      holder = jobs[next]
    }
    holder.cancel()
    return order
  }

  @Test func jobsWithAFullInputGoFirst() {
    let holder = start(.trickling, in: harness)
    let jobs = [Upload.trickling, .full, .trickling, .full].map { start($0, in: harness) }
    #expect(harness.admission.figures == (1, 4))
    #expect(order(jobs, after: holder) == [1, 3, 0, 2])
  }

  @Test func aCompleteUploadGoesBeforeOthers() {
    let holder = start(.trickling, in: harness)
    let others = [Upload.trickling, .full].map { start($0, in: harness) }
    let (complete, client) = harness.start(RepeatingOperation(isExpensive: true))
    #expect(client.upload([1, 2, 3], to: complete))
    #expect(harness.admission.figures == (1, 3))
    holder.cancel()
    #expect(eventually { complete.state.withLock { $0.phase } == .over })
    #expect(client.download(from: complete) == [1, 2, 3])
    #expect(eventually { isAdmitted(others[1]) })
    #expect(!isAdmitted(others[0]))
    for job in others { job.cancel() }
  }

  @Test func whoeverCameFirstIsPassedOverThreeTimesAtMost() {
    let holder = start(.trickling, in: harness)
    let full = (0..<3).map { _ in start(.full, in: harness) }
    let gauge = CountingOperation.Gauge()
    let complete = (0..<7).map { _ in
      harness.start(CountingOperation(steps: .max, gauge: gauge)).job
    }
    for job in complete { job.endInput() }
    #expect(order(full + complete, after: holder) == [3, 4, 5, 0, 6, 7, 8, 1, 9, 2])
  }

  /// A block costs a client little.
  @Test func tricklesComeLastHoweverLongTheyHaveWaited() {
    let holder = start(.trickling, in: harness)
    let uploads = [Upload](repeating: .trickling, count: 3) + [Upload](repeating: .full, count: 7)
    let jobs = uploads.map { start($0, in: harness) }
    #expect(order(jobs, after: holder) == [3, 4, 5, 6, 7, 8, 9, 0, 1, 2])
  }

  @Test func tricklesDoNotFillTheQueue() {
    let harness = JobHarness(jobs: 1, queue: 2)
    let trickles = (0..<6).map { _ in start(.trickling, in: harness) }
    #expect(harness.admission.figures == (1, 5))
    #expect(harness.admission.idleFigures == (0, 5))
    #expect(!harness.admission.isFull)
    let first = start(.full, in: harness)
    #expect(!harness.admission.isFull)
    trickles[5].endInput()
    #expect(harness.admission.figures == (1, 6))
    #expect(harness.admission.isFull)
    first.cancel()
    #expect(!harness.admission.isFull)
    for job in trickles { job.cancel() }
  }

  /// A job is ready, and has its place in the queue, when its first block is there.
  @Test func youngTricklesFillTheQueue() {
    let harness = JobHarness(jobs: 1, queue: 2, grace: .max / 2)
    let trickles = (0..<2).map { _ in start(.trickling, in: harness) }
    #expect(!harness.admission.isFull)
    let last = start(.trickling, in: harness)
    #expect(harness.admission.isFull)
    // Nor is a codec lent that was just taken.
    harness.admission.look(at: monotonicNanoseconds() + 1_000_000_000)
    #expect(harness.admission.idleFigures.lent == 0)
    last.cancel()
    #expect(!harness.admission.isFull)
    for job in trickles { job.cancel() }
  }

  @Test func aTrickleThatIsCompletedWhileItWaitsGoesFirst() {
    let holder = start(.trickling, in: harness)
    let jobs = (0..<4).map { _ in start(.trickling, in: harness) }
    for _ in 0..<63 { send(1024, to: jobs[3]) }
    jobs[2].endInput()
    // The one that is complete runs through.
    holder.cancel()
    #expect(eventually { isAdmitted(jobs[3]) })
    #expect(jobs[2].state.withLock { $0.phase } == .over)
    #expect(order([jobs[0], jobs[1]], after: jobs[3]) == [0, 1])
  }

  @Test func largePicturesDoNotGetTheLastSlot() {
    let harness = JobHarness(jobs: 3, queue: 100)
    let large = (0..<4).map { _ in start(.full, isLarge: true, in: harness) }
    #expect(harness.admission.figures == (2, 2))
    #expect(!harness.admission.isFull)
    let small = (0..<2).map { _ in start(.full, in: harness) }
    #expect(harness.admission.figures == (3, 3))
    // A slot of any goes to whoever came first and may have it.
    small[0].cancel()
    #expect(eventually { isAdmitted(small[1]) })
    #expect(harness.admission.figures == (3, 2))
    large[0].cancel()
    #expect(eventually { isAdmitted(large[2]) })
    #expect(!isAdmitted(large[3]))
    for job in large + small { job.cancel() }
    #expect(eventually { harness.admission.figures == (0, 0) })
  }

  @Test func theLineIsBoundedWhileOnlyLargePicturesWait() {
    let harness = JobHarness(jobs: 2, queue: 2)
    var jobs = (0..<4).map { _ in start(.full, isLarge: true, in: harness) }
    #expect(harness.admission.figures == (1, 3))
    #expect(!harness.admission.isFull)
    jobs.append(start(.full, isLarge: true, in: harness))
    #expect(harness.admission.isFull)
    for job in jobs { job.cancel() }
  }

  @Test func theOnlySlotIsForLargePicturesToo() {
    let job = start(.full, isLarge: true, in: harness)
    #expect(harness.admission.figures == (1, 0))
    job.cancel()
  }
}
