internal import Platform

/// The jobs that live now, so that they can be counted, cancelled and waited for.
package final class JobRegistry: Sendable {
  private struct State: ~Copyable {
    var jobs: [ObjectIdentifier: Job] = [:]
    var total = 0
    var isDraining = false
  }
  private let state = Lock(State())

  package init() {}

  /// False when no new job is accepted any more.
  func add(_ job: Job) -> Bool {
    state.withLock { state in
      guard !state.isDraining else { return false }
      state.jobs[ObjectIdentifier(job)] = job
      state.total += 1
      return true
    }
  }

  func remove(_ job: Job) {
    state.withLock { _ = $0.jobs.removeValue(forKey: ObjectIdentifier(job)) }
  }

  /// Those that live at this moment.
  var all: [Job] { state.withLock { Array($0.jobs.values) } }

  package var count: Int { state.withLock { $0.jobs.count } }
  /// Jobs since the start.
  var total: Int { state.withLock { $0.total } }
  package var isDraining: Bool { state.withLock { $0.isDraining } }

  /// From now on new jobs are refused.
  package func drain() { state.withLock { $0.isDraining = true } }
}
