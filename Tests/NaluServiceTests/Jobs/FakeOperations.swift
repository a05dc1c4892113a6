import Dispatch
import Platform
import Synchronization

@testable import NaluService

/// Repeats every block of its input `times` times, one block a step; or at the end of the input
/// everything, one block a step.
struct RepeatingOperation: ~Copyable, Operation {
  var blockSize = 1024
  var isExpensive = false
  var isLarge = false
  var codecBytes: Int
  var heldBytes = 0
  var times = 1
  var start = Answer.Start.whenReady
  var failure: Problem?
  var atEnd: Bool
  private var block: Block?
  private var kept: [UInt8] = []
  private var keptTimes = 0
  private var isEnded = false

  init(
    blockSize: Int = 1024, isExpensive: Bool = false, isLarge: Bool = false, times: Int = 1,
    start: Answer.Start = .whenReady, failure: Problem? = nil, atEnd: Bool = false,
    codecBytes: Int = .max
  ) {
    self.codecBytes = codecBytes
    self.atEnd = atEnd
    self.blockSize = blockSize
    self.isExpensive = isExpensive
    self.isLarge = isLarge
    self.times = times
    self.start = start
    self.failure = failure
  }

  mutating func push(_ block: Block) { self.block = block }

  mutating func endOfInput() throws(Problem) {
    isEnded = true
    if let failure { throw failure }
  }

  mutating func step(into output: inout Output) -> Step {
    output.answer.start = start
    if atEnd {
      if let block = block.take() { kept.append(copying: block.span) }
      guard isEnded else { return .needsInput }
      output.bytes = kept
      keptTimes += 1
      return keptTimes == times ? .finished : .again
    }
    if let block = block.take() {
      for _ in 0..<times { output.bytes.append(copying: block.span) }
      output.counters.framesIn += 1
    }
    return isEnded ? .finished : .needsInput
  }
}

/// Takes `steps` steps that each last a while, and counts how many steps of all such operations
/// run at once.
struct CountingOperation: ~Copyable, Operation {
  /// Steps under way and the most there ever were.
  final class Gauge: Sendable {
    let now = Atomic<Int>(0)
    let peak = Atomic<Int>(0)
    let living = Atomic<Int>(0)

    init() {}
  }

  let blockSize = 16
  let isExpensive = true
  let gauge: Gauge
  var remaining: Int
  private var isEnded = false

  init(steps: Int, gauge: Gauge) {
    self.gauge = gauge
    remaining = steps
    gauge.living.add(1, ordering: .relaxed)
  }

  deinit { gauge.living.subtract(1, ordering: .relaxed) }

  mutating func push(_ block: Block) {}
  mutating func endOfInput() { isEnded = true }

  mutating func step(into output: inout Output) -> Step {
    guard isEnded else { return .needsInput }
    let running = gauge.now.add(1, ordering: .relaxed).newValue
    gauge.peak.max(running, ordering: .relaxed)
    let until = monotonicNanoseconds() + 200_000
    while monotonicNanoseconds() < until {}
    gauge.now.subtract(1, ordering: .relaxed)
    remaining -= 1
    output.bytes.append(0)
    return remaining > 0 ? .again : .finished
  }
}

/// A job whose one step lasts until the test has it end.
final class WaitingJob: Steppable {
  let stepClass: StepClass
  let mayEnd = DispatchSemaphore(value: 0)
  private let begun = DispatchSemaphore(value: 0)

  init(_ stepClass: StepClass = .light) {
    self.stepClass = stepClass
  }

  func runStep() -> Bool {
    begun.signal()
    mayEnd.wait()
    return false
  }

  /// Waits for the step; false after ten seconds.
  func begins() -> Bool {
    begun.wait(timeout: .now() + 10) == .success
  }
}
