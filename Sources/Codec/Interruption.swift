internal import CFFmpeg
internal import Platform
internal import Synchronization

/// Ends, in the middle of a step, the reading of a container for a job that nobody wants any more or
/// whose time is up: one call of libavformat may pass over all of an upload.
package final class Interruption: Sendable {
  private let isCancelled = Atomic<Bool>(false)
  private let deadline = Atomic<UInt64>(.max)

  package init() {}

  /// Nothing that is read for the job is wanted any more.
  package func cancel() { isCancelled.store(true, ordering: .relaxed) }

  /// The calling thread works for the job from now on, for which it has time until `deadline`, as
  /// `monotonicNanoseconds` counts.
  package func attach(until deadline: UInt64) {
    self.deadline.store(deadline, ordering: .relaxed)
    nalu_interruption_of_thread().pointee = Unmanaged.passUnretained(self).toOpaque()
  }

  /// The calling thread works for nobody.
  package func detach() { nalu_interruption_of_thread().pointee = nil }

  /// The job of the calling thread is to read no further.
  static var isDue: Bool {
    guard let current = nalu_interruption_of_thread().pointee else { return false }
    return Unmanaged<Interruption>.fromOpaque(current).takeUnretainedValue().isDue
  }

  private var isDue: Bool {
    if isCancelled.load(ordering: .relaxed) { return true }
    let deadline = deadline.load(ordering: .relaxed)
    return deadline != .max && monotonicNanoseconds() >= deadline
  }
}
