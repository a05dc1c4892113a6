internal import Dispatch
internal import Platform

/// Something the work queue can advance.
package protocol Steppable: AnyObject, Sendable {
  /// The next step is a codec's: one picture, which may take seconds if it is large.
  var isHeavy: Bool { get }
  /// Does one bounded piece of work. True when it is ready for another.
  func runStep() -> Bool
}

/// The Dispatch work queue: ready jobs in a line and a fixed number of slots. A slot takes the
/// first job, runs one step of it as a block on a concurrent Dispatch queue, and puts it back at
/// the end of the line if there is more to do.
///
/// A job that waits for its client is not in the line, so it costs no thread, and a long job cannot
/// hold up a short one for longer than a step. While codecs have all slots, there is one more, for
/// jobs without a codec: those never wait for a large picture.
package final class WorkQueue: Sendable {
  private struct State: ~Copyable {
    var light = FirstInFirstOut<Place>()
    var heavy = FirstInFirstOut<Place>()
    var tickets = 0
    var running = 0
    var heavyRunning = 0
    var peak = 0
    var steps = 0
  }

  private struct Place {
    let job: any Steppable
    /// Lower is earlier.
    let ticket: Int
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
    let isHeavy = job.isHeavy
    let startsSlot = state.withLock { state in
      append(job, isHeavy: isHeavy, to: &state)
      return startSlot(&state)
    }
    if startsSlot { queue.async { self.runSlot() } }
  }

  private func append(_ job: any Steppable, isHeavy: Bool, to state: inout State) {
    let place = Place(job: job, ticket: state.tickets)
    state.tickets += 1
    if isHeavy { state.heavy.append(place) } else { state.light.append(place) }
  }

  /// Slots that there may be.
  private func slots(_ state: borrowing State) -> Int {
    state.heavyRunning == workers ? workers + 1 : workers
  }

  /// Whether a slot would find something to do.
  private func hasWork(_ state: borrowing State) -> Bool {
    !state.light.isEmpty || !state.heavy.isEmpty && state.heavyRunning < workers
  }

  /// True when the caller has to start a slot, which counts already.
  private func startSlot(_ state: inout State) -> Bool {
    guard hasWork(state), state.running < slots(state) else { return false }
    state.running += 1
    state.peak = max(state.peak, state.running)
    return true
  }

  private func takeFirst(_ state: inout State) -> (job: any Steppable, isHeavy: Bool)? {
    let heavy = state.heavyRunning < workers ? state.heavy.first : nil
    guard let heavy, heavy.ticket < state.light.first?.ticket ?? .max else {
      return state.light.removeFirst().map { ($0.job, false) }
    }
    _ = state.heavy.removeFirst()
    state.heavyRunning += 1
    return (heavy.job, true)
  }

  /// One turn of a slot: a step, then the next turn as a new block, or the slot is free.
  private func runSlot() {
    var startsSlot = false
    let next = state.withLock { state -> (job: any Steppable, isHeavy: Bool)? in
      guard let next = takeFirst(&state) else {
        state.running -= 1
        return nil
      }
      state.steps += 1
      // What was in the line when the last of the slots went to a codec.
      startsSlot = startSlot(&state)
      return next
    }
    if startsSlot { queue.async { self.runSlot() } }
    guard let (job, wasHeavy) = next else { return }
    let isReady = job.runStep()
    let isHeavy = isReady && job.isHeavy
    let goesOn = state.withLock { state in
      if wasHeavy { state.heavyRunning -= 1 }
      if isReady { append(job, isHeavy: isHeavy, to: &state) }
      let goesOn = hasWork(state) && state.running <= slots(state)
      if !goesOn { state.running -= 1 }
      return goesOn
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
        ready: state.light.count + state.heavy.count, running: state.running, peak: state.peak,
        steps: state.steps)
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
