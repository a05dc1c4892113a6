internal import Synchronization

/// The memory that all jobs share for what waits: uploads for a worker, records for the end of a
/// report, results for a reader. Counted against `Limits.maxMemory`.
///
/// Uploads and records may use all of it, and fail beyond. Results may use a part, beyond which
/// they go to temporary files, so that slow readers do not keep others from uploading.
package final class MemoryBudget: Sendable {
  /// What memory is wanted for.
  enum Use {
    case uploads, results, spools

    /// The part of the whole that may be taken before this use has to do without.
    fileprivate var divisor: Int {
      switch self {
      case .uploads: 1
      case .results: 2
      case .spools: 4
      }
    }
  }

  package let capacity: Int
  private let used = Atomic<Int>(0)

  package init(capacity: Int) {
    self.capacity = capacity
  }

  /// Bytes taken now.
  package var usedBytes: Int { used.load(ordering: .relaxed) }

  /// Takes memory if there is some.
  func reserve(_ bytes: Int, for use: Use) -> Bool {
    let now = used.add(bytes, ordering: .relaxed).newValue
    guard now > capacity / use.divisor else { return true }
    release(bytes)
    return false
  }

  func release(_ bytes: Int) {
    used.subtract(bytes, ordering: .relaxed)
  }
}

/// The part of a budget that somebody holds.
struct HeldMemory: ~Copyable {
  private let budget: MemoryBudget
  private(set) var bytes = 0

  init(_ budget: MemoryBudget) {
    self.budget = budget
  }

  deinit {
    budget.release(bytes)
  }

  /// Holds that much from now on; false, and as much as before, when there is no more.
  @discardableResult
  mutating func change(to bytes: Int) -> Bool {
    guard bytes <= self.bytes || budget.reserve(bytes - self.bytes, for: .uploads) else {
      return false
    }
    if bytes < self.bytes { budget.release(self.bytes - bytes) }
    self.bytes = bytes
    return true
  }
}

extension Problem {
  /// There is no memory for what waits. `need`: the bytes of the job that asks, in all.
  static func outOfMemory(_ budget: MemoryBudget, need: Int) -> Problem {
    guard need > budget.capacity else {
      return Problem(
        .insufficientStorage,
        "What waits of all jobs would exceed max_memory, \(budget.capacity) bytes; retry later.")
    }
    var problem = Problem(
      .insufficientStorage,
      "The request alone needs more memory than all may have, max_memory, \(budget.capacity) bytes."
    )
    problem.retryAfter = nil
    return problem
  }
}
