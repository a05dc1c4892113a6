import Testing

@testable import NaluService

@Suite struct MemoryBudgetTests {
  private func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 / 7) }
  }

  @Test func resultsAndSpoolsLeaveRoomForUploads() {
    let budget = MemoryBudget(capacity: 400)
    #expect(budget.reserve(100, for: .spools))
    #expect(!budget.reserve(1, for: .spools))
    #expect(budget.reserve(100, for: .results))
    #expect(!budget.reserve(1, for: .results))
    #expect(budget.reserve(200, for: .uploads))
    #expect(!budget.reserve(1, for: .uploads))
    budget.release(400)
    #expect(budget.usedBytes == 0)
  }

  @Test func whatIsHeldFollowsWhatIsSaid() {
    let budget = MemoryBudget(capacity: 100)
    do {
      var held = HeldMemory(budget)
      let answers = [60, 100, 101, 10].map { size in held.change(to: size) }
      #expect(answers == [true, true, false, true])
      #expect(budget.usedBytes == 10)
    }
    #expect(budget.usedBytes == 0)
  }

  /// The result waits in files where memory has no room, and is the same.
  @Test(arguments: [0, 20_000, 1 << 18, 1 << 20])
  func aResultWithoutMemoryGoesToFiles(memory: Int) throws {
    let harness = JobHarness(memory: memory + 150_000)
    let upload = bytes(100_000)
    // What the uploads of others have is not there for results.
    #expect(harness.spoolDirectory.memory.reserve(10_000, for: .uploads))
    let operation = RepeatingOperation(blockSize: 1 << 17, times: 40, atEnd: true)
    let (job, client) = harness.start(operation)
    #expect(client.upload(upload, to: job))
    guard case .streamed = try #require(client.waitForAnswer()) else {
      Issue.record("a large result is streamed")
      return
    }
    let result = try #require(client.download(from: job, pieces: 65536))
    #expect(result == (0..<40).flatMap { _ in upload })
    #expect(harness.spoolDirectory.usedBytes == 0)
    job.cancel()
    #expect(harness.spoolDirectory.memory.usedBytes == 10_000)
  }

  /// Whether it is worth trying again depends on whose memory it is.
  @Test(arguments: [(0, 20_000, nil), (9000, 5000, 1), (9000, 20_000, nil)] as [(Int, Int, Int?)])
  func anUploadWithoutMemoryIsRefused(others: Int, size: Int, retryAfter: Int?) throws {
    let harness = JobHarness(memory: 10_000)
    #expect(harness.spoolDirectory.memory.reserve(others, for: .uploads))
    let (job, client) = harness.start(RepeatingOperation(blockSize: 1 << 20))
    #expect(client.upload(bytes(size), pieces: 1 << 20, to: job))
    guard case .problem(let problem) = try #require(client.waitForAnswer()) else {
      Issue.record("expected a problem")
      return
    }
    #expect(problem.code == .insufficientStorage)
    #expect(problem.retryAfter == retryAfter)
    #expect(problem.detail.contains("retry") == (retryAfter != nil))
    #expect(harness.spoolDirectory.memory.usedBytes == others)
  }

  /// What an operation keeps, such as the index of an MP4 file.
  @Test(arguments: [(0, 20_000, nil), (9000, 5000, 1)] as [(Int, Int, Int?)])
  func recordsWithoutMemoryAreRefused(others: Int, size: Int, retryAfter: Int?) throws {
    let harness = JobHarness(memory: 10_000)
    #expect(harness.spoolDirectory.memory.reserve(others, for: .uploads))
    var operation = RepeatingOperation(blockSize: 10)
    operation.heldBytes = size
    let (job, client) = harness.start(operation)
    #expect(client.upload(bytes(10), to: job))
    guard case .problem(let problem) = try #require(client.waitForAnswer()) else {
      Issue.record("expected a problem")
      return
    }
    #expect(problem.code == .insufficientStorage)
    #expect(problem.retryAfter == retryAfter)
  }
}
