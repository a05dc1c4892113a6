internal import Platform

/// What there is to say of a job at some moment: for response headers, the log and the metrics.
package struct JobReport: Equatable, Sendable {
  package var answer: Answer
  package var counters: Counters
  package var timing: Job.Timing
  /// Bytes of upload that arrived.
  package var bytesIn: Int
  /// Bytes of result that were produced.
  package var bytesOut: Int
  package var failure: Problem?

  /// Of a request that became no job.
  static func refusal(_ problem: Problem) -> JobReport {
    JobReport(
      answer: Answer(), counters: Counters(), timing: Job.Timing(), bytesIn: 0, bytesOut: 0,
      failure: problem)
  }
}

extension Job {
  package var report: JobReport {
    state.withLock { state in
      JobReport(
        answer: state.output.answer, counters: state.output.counters, timing: state.timing,
        bytesIn: state.input.received, bytesOut: state.output.length, failure: state.failure)
    }
  }
}
