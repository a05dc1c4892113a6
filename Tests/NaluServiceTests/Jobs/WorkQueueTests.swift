import Dispatch
import Synchronization
import Testing

@testable import NaluService

@Suite struct WorkQueueTests {
  private func enqueue(_ stepClass: StepClass, _ count: Int, in queue: WorkQueue) -> [WaitingJob] {
    let jobs = (0..<count).map { _ in WaitingJob(stepClass) }
    for job in jobs { queue.enqueue(job) }
    return jobs
  }

  /// Has the step end, and what else may begin begin.
  private func end(_ job: WaitingJob, in queue: WorkQueue) {
    let (running, ready) = (queue.figures.running, queue.figures.ready)
    job.mayEnd.signal()
    while queue.figures.running == running, queue.figures.ready == ready {}
  }

  @Test func jobsWithoutACodecDoNotWaitForPictures() {
    let queue = WorkQueue(workers: 2)
    let pictures = enqueue(.quick, 3, in: queue)
    let light = enqueue(.light, 2, in: queue)
    #expect(pictures[0].begins() && pictures[1].begins() && light[0].begins())
    // One of them at a time, and no third picture.
    #expect(queue.figures.ready == 2)
    light[0].mayEnd.signal()
    #expect(light[1].begins())
    // The places of two end; the one that is left goes to the picture that waits.
    end(light[1], in: queue)
    pictures[0].mayEnd.signal()
    #expect(pictures[2].begins())
    for job in pictures[1...] { job.mayEnd.signal() }
    while queue.figures.running > 0 {}
    #expect(queue.figures == WorkQueue.Figures(ready: 0, running: 0, peak: 3, steps: 5))
  }

  @Test(arguments: [1, 2, 3, 8])
  func slowStepsLeaveAWorkerToOthers(workers: Int) {
    let queue = WorkQueue(workers: workers)
    let slow = enqueue(.slow, 10, in: queue)
    #expect(queue.figures.running == max(1, workers - 1))
    // However many pictures come, they are done, and the slow steps that wait do not come between.
    for _ in 0..<5 {
      let pictures = enqueue(.quick, 1, in: queue)
      #expect(pictures[0].begins())
      end(pictures[0], in: queue)
    }
    #expect(queue.figures.ready == 10 - max(1, workers - 1))
    for job in slow {
      #expect(job.begins())
      job.mayEnd.signal()
    }
    while queue.figures.running > 0 {}
    #expect(queue.figures.ready == 0 && queue.figures.steps == 15)
  }

  @Test func whoeverCameFirstGoesFirstWhateverItsSteps() {
    let queue = WorkQueue(workers: 1)
    let first = enqueue(.quick, 1, in: queue)
    #expect(first[0].begins())
    let slow = enqueue(.slow, 1, in: queue)
    let later = enqueue(.quick, 1, in: queue)
    #expect(queue.figures.running == 1)
    first[0].mayEnd.signal()
    #expect(slow[0].begins() && later[0].begins())
    for job in slow + later { job.mayEnd.signal() }
    while queue.figures.running > 0 {}
    #expect(queue.figures.peak == 2)
  }

  @Test func neverMoreStepsRunAtOnceThanThereAreWorkers() {
    let harness = JobHarness(workers: 2, jobs: 16)
    let gauge = CountingOperation.Gauge()
    let started = (0..<16).map { _ in
      harness.start(CountingOperation(steps: 50, gauge: gauge))
    }
    for (job, _) in started { job.endInput() }
    for (_, client) in started { #expect(client.waitForAnswer() != nil) }
    #expect(gauge.peak.load(ordering: .relaxed) <= 2)
    #expect(harness.workQueue.figures.peak <= 2)
    #expect(harness.workQueue.figures.steps >= 16 * 50)
  }

  @Test func noMoreJobsHoldACodecThanThereAreSlots() {
    let harness = JobHarness(workers: 4, jobs: 1, queue: 8)
    let gauge = CountingOperation.Gauge()
    let started = (0..<8).map { _ in
      harness.start(CountingOperation(steps: 20, gauge: gauge))
    }
    for (job, _) in started { job.endInput() }
    for (_, client) in started { #expect(client.waitForAnswer() != nil) }
    #expect(gauge.peak.load(ordering: .relaxed) == 1)
  }

  @Test func aShortJobDoesNotWaitForALongOne() {
    let harness = JobHarness(workers: 1)
    let gauge = CountingOperation.Gauge()
    let (long, _) = harness.start(CountingOperation(steps: .max, gauge: gauge))
    long.endInput()
    for _ in 0..<50 {
      let (job, client) = harness.start(RepeatingOperation(isExpensive: true))
      #expect(client.upload([1, 2, 3], to: job))
      #expect(client.waitForAnswer() != nil)
      #expect(client.download(from: job) == [1, 2, 3])
    }
    long.cancel()
  }
}
