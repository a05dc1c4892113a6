internal import Dispatch
internal import Platform

/// What is looked at once a second: whether jobs wait too long, and whether memory can be given back;
/// and ten times a second, whether codecs are idle that others could use.
final class Housekeeping: Sendable {
  /// Memory that has come since the last time is worth a look for what of it is free.
  private static let growth = 64 << 20
  private let queue = DispatchQueue(label: "nalu.housekeeping")

  init(_ registry: JobRegistry, _ admission: Admission, _ workQueue: WorkQueue) {
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now() + 1, repeating: 1, leeway: .milliseconds(100))
    let memory = Lock(Memory())
    timer.setEventHandler { [weak registry, weak workQueue] in
      guard let registry, let workQueue else {
        timer.cancel()
        return
      }
      for job in registry.all { job.lookAtTime() }
      let isIdle = registry.count == 0
      let done = workQueue.figures.steps + registry.total
      memory.withLock { $0.look(isIdle: isIdle, done: done) }
    }
    timer.activate()
    let often = DispatchSource.makeTimerSource(queue: queue)
    often.schedule(deadline: .now() + 0.1, repeating: 0.1, leeway: .milliseconds(10))
    often.setEventHandler { [weak admission] in
      guard let admission else {
        often.cancel()
        return
      }
      admission.look(at: monotonicNanoseconds())
    }
    often.activate()
  }

  /// The C library keeps what many jobs at once have used for the next such crowd.
  private struct Memory {
    /// Jobs and steps that had been there.
    private var done = 0
    private var resident = residentBytes()

    mutating func look(isIdle: Bool, done: Int) {
      let now = residentBytes()
      let hasWorked = isIdle && done != self.done
      guard hasWorked || now > resident + Housekeeping.growth else {
        resident = min(resident, now)
        return
      }
      if isIdle { self.done = done }
      returnFreeMemory()
      resident = residentBytes()
    }
  }
}
