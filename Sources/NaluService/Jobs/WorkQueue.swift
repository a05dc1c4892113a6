internal import Dispatch
internal import Platform

/// Something the work queue can advance.
package protocol Steppable: AnyObject, Sendable {
  /// Does one bounded piece of work. True when it is ready for another.
  func runStep() -> Bool
}

/// The Dispatch work queue: ready jobs in a line and a fixed number of slots. A slot takes the
/// first job, runs one step of it as a block on a concurrent Dispatch queue, and puts it back at
/// the end of the line if there is more to do.
///
/// A job that waits for its client is not in the line, so it costs no thread, and a long job cannot
/// hold up a short one for longer than a step.
package final class WorkQueue: Sendable {
  private struct State: ~Copyable {
    var ready = FirstInFirstOut<any Steppable>()
    var running = 0
    var peak = 0
    var steps = 0
  }

  package let workers: Int
  private let queue = DispatchQueue(label: "nalu.work", attributes: .concurrent)
  private let state = Lock(State())

  package init(workers: Int) {
    precondition(workers > 0)
    self.workers = workers
  }

  /// Puts a job that is ready at the end of the line. It must not be in the line already.
  package func enqueue(_ job: any Steppable) {
    let startsSlot = state.withLock { state in
      state.ready.append(job)
      guard state.running < workers else { return false }
      state.running += 1
      state.peak = max(state.peak, state.running)
      return true
    }
    if startsSlot { queue.async { self.runSlot() } }
  }

  /// One turn of a slot: a step, then the next turn as a new block, or the slot is free.
  private func runSlot() {
    let next = state.withLock { state -> (any Steppable)? in
      guard let job = state.ready.removeFirst() else {
        state.running -= 1
        return nil
      }
      state.steps += 1
      return job
    }
    guard let job = next else { return }
    let isReady = job.runStep()
    let goesOn = state.withLock { state in
      if isReady { state.ready.append(job) }
      if state.ready.isEmpty { state.running -= 1 }
      return !state.ready.isEmpty
    }
    if goesOn { queue.async { self.runSlot() } }
  }

  /// What the queue does now and has done.
  package struct Figures: Equatable, Sendable {
    /// Jobs in the line.
    package var ready: Int
    /// Steps that run now.
    package var running: Int
    /// The most steps that ever ran at once.
    package var peak: Int
    /// Steps begun so far.
    package var steps: Int
  }

  package var figures: Figures {
    state.withLock { state in
      Figures(
        ready: state.ready.count, running: state.running, peak: state.peak, steps: state.steps)
    }
  }
}

/// A line: in at the end, out at the front, both in constant time on average.
struct FirstInFirstOut<Element> {
  private var elements: [Element?] = []
  private var head = 0

  var count: Int { elements.count - head }
  var isEmpty: Bool { head == elements.count }
  var first: Element? { isEmpty ? nil : elements[head] }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func removeFirst() -> Element? {
    guard !isEmpty else { return nil }
    defer {
      elements[head] = nil
      head += 1
      if head == elements.count {
        elements.removeAll(keepingCapacity: head <= 1024)
        head = 0
      } else if head >= 64, head * 2 > elements.count {
        elements.removeFirst(head)
        head = 0
      }
    }
    return elements[head]
  }

  /// Removes the elements that `isMatch` picks; true when there were any.
  mutating func removeAll(where isMatch: (Element) -> Bool) -> Bool {
    let before = count
    let kept = elements[head...].filter { element in element.map { !isMatch($0) } ?? false }
    elements = Array(kept)
    head = 0
    return count != before
  }
}

extension FirstInFirstOut: Sendable where Element: Sendable {}
