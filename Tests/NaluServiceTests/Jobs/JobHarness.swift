import Dispatch
import Platform

@testable import NaluService

/// A place to run jobs in, with small limits.
struct JobHarness {
  var limits: Limits
  let workQueue: WorkQueue
  let admission: Admission
  let spoolDirectory: SpoolDirectory

  init(
    workers: Int = 2, jobs: Int = 8, queue: Int = 8, maxSpool: Int = 1 << 30,
    memory: Int = 1 << 30, lentLimit: Int = 1 << 30, grace: UInt64 = 0,
    limits: Limits = .init()
  ) {
    self.limits = limits
    workQueue = WorkQueue(workers: workers)
    admission = Admission(slots: jobs, queueLimit: queue, lentLimit: lentLimit, grace: grace)
    spoolDirectory = SpoolDirectory(path: "/tmp", capacity: maxSpool, memory: memory)
  }

  func start(_ operation: consuming any Operation & ~Copyable) -> (job: Job, client: JobClient) {
    let job = Job(
      id: "test", operation: operation, workQueue: workQueue, admission: admission, limits: limits,
      spoolDirectory: spoolDirectory)
    let client = JobClient()
    job.observe(client)
    return (job, client)
  }
}

/// Collects what a job tells, and lets a test wait for it.
final class JobClient: JobObserver {
  private struct State {
    var answer: JobAnswer?
    var roomNotices = 0
  }
  private let state = Lock(State())
  private let answered = DispatchSemaphore(value: 0)
  private let room = DispatchSemaphore(value: 0)
  private let more = DispatchSemaphore(value: 0)

  func inputHasRoom() {
    state.withLock { $0.roomNotices += 1 }
    room.signal()
  }

  func answer(_ answer: JobAnswer) {
    state.withLock { $0.answer = answer }
    answered.signal()
  }

  func outputHasMore() { more.signal() }

  var roomNotices: Int { state.withLock { $0.roomNotices } }

  /// The answer, or nil when there is none after ten seconds.
  func waitForAnswer() -> JobAnswer? {
    guard answered.wait(timeout: .now() + 10) == .success else { return nil }
    answered.signal()
    return state.withLock { $0.answer }
  }

  /// Uploads all of `bytes` in pieces, waiting for room where there is none.
  func upload(_ bytes: [UInt8], pieces: Int = 4096, to job: Job) -> Bool {
    var position = 0
    while position < bytes.count {
      let end = min(position + pieces, bytes.count)
      while !job.offer(bytes.span.extracting(position..<end)) {
        guard room.wait(timeout: .now() + 10) == .success else { return false }
      }
      position = end
    }
    job.endInput()
    return true
  }

  /// Reads to the end; nil when the result failed or stalled.
  func download(from job: Job, pieces: Int = 1000) -> [UInt8]? {
    var result: [UInt8] = []
    while true {
      var outcome = Job.ReadResult.waiting
      let piece = [UInt8](capacity: pieces) { outcome = job.read(into: &$0) }
      switch outcome {
      case .some: result += piece
      case .waiting:
        guard more.wait(timeout: .now() + 10) == .success else { return nil }
      case .end: return result
      case .failed: return nil
      }
    }
  }
}
