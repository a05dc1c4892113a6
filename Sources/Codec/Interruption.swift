internal import CFFmpeg
internal import Platform
internal import Synchronization

/// Ends what may last long within a step for a job that nobody wants any more or whose time is up:
/// the reading of a container, of which one call of libavformat may pass over all, and the writing
/// of a large PNG.
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
  static var isDue: Bool { current?.isDue ?? false }

  /// Of the job of the calling thread.
  static var current: Interruption? {
    guard let current = nalu_interruption_of_thread().pointee else { return nil }
    return Unmanaged<Interruption>.fromOpaque(current).takeUnretainedValue()
  }

  var isDue: Bool {
    if isCancelled.load(ordering: .relaxed) { return true }
    let deadline = deadline.load(ordering: .relaxed)
    return deadline != .max && monotonicNanoseconds() >= deadline
  }
}
