internal import Dispatch
internal import Platform

/// Something the work queue can advance.
package protocol Steppable: AnyObject, Sendable {
  var stepClass: StepClass { get }
  /// Does one bounded piece of work. True when it is ready for another.
  func runStep() -> Bool
}

/// The Dispatch work queue: ready jobs in lines, and as many steps at once as there are workers. A
/// step is a block on a concurrent Dispatch queue; a job that has more to do goes to the end of its
/// line.
///
/// A job that waits for its client is not in a line, so it costs no thread, and a long job cannot
/// hold up a short one for longer than a step. Who came first goes first, but for two things: slow
/// steps leave one worker to the others, and where heavier steps have all workers, a step begins
/// beyond them if no other of its class or a lighter one runs. So steps without a codec never wait
/// for a picture, and no picture that is done soon for slow ones; the system shares the processors.
package final class WorkQueue: Sendable {
  private struct State: ~Copyable {
    /// By class.
    var lines = StepClass.allCases.map { _ in FirstInFirstOut<Place>() }
    /// Steps that run, by class.
    var running = StepClass.allCases.map { _ in 0 }
    var tickets = 0
    var peak = 0
    var steps = 0
  }

  private struct Place {
    let job: any Steppable
    /// Lower is earlier.
    let ticket: Int
  }

  private struct Turn {
    let job: any Steppable
    let stepClass: StepClass
  }

  package let workers: Int
  private let queue = DispatchQueue(label: "nalu.work", attributes: .concurrent)
  private let state = Lock(State())

  package init(workers: Int) {
    precondition(workers > 0)
    self.workers = workers
  }

  /// Puts a job that is ready at the end of its line. It must not be in a line already.
  package func enqueue(_ job: any Steppable) {
    let stepClass = job.stepClass
    beginSteps { append(job, stepClass, to: &$0) }
  }

  private func append(_ job: any Steppable, _ stepClass: StepClass, to state: inout State) {
    state.lines[stepClass.rawValue].append(Place(job: job, ticket: state.tickets))
    state.tickets += 1
  }

  /// Changes the state, then begins all steps that may begin now.
  private func beginSteps(after change: (inout State) -> Void) {
    var turn = state.withLock { state in
      change(&state)
      return takeFirst(&state)
    }
    while let next = turn {
      queue.async { self.run(next) }
      turn = state.withLock { takeFirst(&$0) }
    }
  }

  /// The job that came first, of those whose step may begin; it counts as running.
  private func takeFirst(_ state: inout State) -> Turn? {
    var first: (stepClass: StepClass, ticket: Int)?
    for stepClass in StepClass.allCases {
      guard let ticket = state.lines[stepClass.rawValue].first?.ticket,
        ticket < first?.ticket ?? .max, mayBegin(stepClass, state)
      else { continue }
      first = (stepClass, ticket)
    }
    guard let stepClass = first?.stepClass,
      let place = state.lines[stepClass.rawValue].removeFirst()
    else { return nil }
    state.running[stepClass.rawValue] += 1
    state.peak = max(state.peak, state.running.reduce(0, +))
    state.steps += 1
    return Turn(job: place.job, stepClass: stepClass)
  }

  private func mayBegin(_ stepClass: StepClass, _ state: borrowing State) -> Bool {
    if stepClass == .slow, state.running[stepClass.rawValue] >= max(1, workers - 1) { return false }
    return state.running.reduce(0, +) < workers
      || state.running[...stepClass.rawValue].allSatisfy { $0 == 0 }
  }

  private func run(_ turn: Turn) {
    let next = turn.job.runStep() ? turn.job.stepClass : nil
    beginSteps { state in
      state.running[turn.stepClass.rawValue] -= 1
      if let next { append(turn.job, next, to: &state) }
    }
  }

  /// What the queue does now and has done.
  package struct Figures: Equatable, Sendable {
    /// Jobs in the lines.
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
        ready: state.lines.reduce(0) { $0 + $1.count }, running: state.running.reduce(0, +),
        peak: state.peak, steps: state.steps)
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
}

extension FirstInFirstOut: Sendable where Element: Sendable {}
