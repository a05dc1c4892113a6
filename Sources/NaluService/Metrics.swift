internal import HTTP
internal import Platform

/// What has happened since the start, for `GET /metrics`.
package final class Metrics: Sendable {
  /// Upper bounds of the latency buckets, in seconds.
  private static let bounds = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 300]

  private struct Key: Hashable {
    var endpoint: String
    var status: Int
  }

  private struct Histogram {
    /// One more than there are bounds; not cumulative.
    var buckets = [Int](repeating: 0, count: Metrics.bounds.count + 1)
    var sum = 0.0
  }

  private struct State: ~Copyable {
    var requests: [Key: Int] = [:]
    var durations: [String: Histogram] = [:]
    var framesIn = 0
    var framesOut = 0
    var bytesIn = 0
    var bytesOut = 0
    var decodeErrors = 0
    var cancelled = 0
    var aborted = 0
  }

  private let state = Lock(State())

  package init() {}

  /// An answer was given. `endpoint` is one of our own routes or `other`, never a client's text.
  func count(endpoint: String, status: Int) {
    state.withLock { $0.requests[Key(endpoint: endpoint, status: status), default: 0] += 1 }
  }

  /// A job is over after `seconds` from its head to its end.
  func count(_ report: JobReport, endpoint: String, seconds: Double, _ outcome: Outcome) {
    state.withLock { state in
      state.framesIn += report.counters.framesIn
      state.framesOut += report.counters.framesOut
      state.bytesIn += report.bytesIn
      state.bytesOut += report.bytesOut
      state.decodeErrors += report.counters.decodeErrors
      switch outcome {
      case .delivered: break
      case .clientGone: state.cancelled += 1
      case .timedOut, .stopped, .aborted: state.aborted += 1
      }
      let bucket = Metrics.bounds.firstIndex { seconds <= $0 } ?? Metrics.bounds.count
      state.durations[endpoint, default: Histogram()].buckets[bucket] += 1
      state.durations[endpoint, default: Histogram()].sum += seconds
    }
  }

  /// Prometheus text format 0.0.4.
  func text(of service: Service) -> String {
    var page = MetricsPage()
    state.withLock { state in
      page.begin("nalu_requests_total", "counter", "Answers by endpoint and status.")
      for (key, count) in state.requests.sorted(by: {
        ($0.key.endpoint, $0.key.status) < ($1.key.endpoint, $1.key.status)
      }) {
        page.add(
          "nalu_requests_total{endpoint=\"\(key.endpoint)\",status=\"\(key.status)\"}", count)
      }
      page.begin(
        "nalu_job_duration_seconds", "histogram",
        "From the head of a request to the end of its job.")
      for (endpoint, histogram) in state.durations.sorted(by: { $0.key < $1.key }) {
        page.add(endpoint, histogram.buckets, bounds: Metrics.bounds, sum: histogram.sum)
      }
      page.add(
        "nalu_jobs_cancelled_total", "counter", "Jobs whose client went away.", state.cancelled)
      page.add(
        "nalu_jobs_aborted_total", "counter",
        "Jobs cut for another reason: a client too slow, a failure in mid-answer, the server's end.",
        state.aborted)
      page.add("nalu_frames_in_total", "counter", "Raw frames received.", state.framesIn)
      page.add("nalu_frames_out_total", "counter", "Frames encoded or decoded.", state.framesOut)
      page.add("nalu_bytes_in_total", "counter", "Bytes of media received.", state.bytesIn)
      page.add("nalu_bytes_out_total", "counter", "Bytes of results produced.", state.bytesOut)
      page.add(
        "nalu_decode_errors_total", "counter", "Damage found by decoding.", state.decodeErrors)
    }
    let queue = service.workQueue.figures
    let admission = service.admission.figures
    let idle = service.admission.idleFigures
    page.begin("nalu_jobs", "gauge", "Jobs by state; the first counts all.")
    page.add("nalu_jobs{state=\"open\"}", service.registry.count)
    page.add("nalu_jobs{state=\"ready\"}", queue.ready)
    page.add("nalu_jobs{state=\"stepping\"}", queue.running)
    page.add("nalu_jobs{state=\"codec\"}", admission.admitted)
    page.add("nalu_jobs{state=\"codec_lent\"}", idle.lent)
    page.add("nalu_jobs{state=\"waiting_for_codec\"}", max(0, admission.waiting - idle.trickling))
    page.add("nalu_jobs{state=\"waiting_and_trickling\"}", idle.trickling)
    page.add("nalu_steps_total", "counter", "Steps of jobs begun.", queue.steps)
    page.add("nalu_spool_bytes", "gauge", "Temporary files.", service.spoolDirectory.usedBytes)
    page.add(
      "nalu_waiting_bytes", "gauge", "Uploads, records and results that wait in memory.",
      service.spoolDirectory.memory.usedBytes)
    page.add("process_resident_memory_bytes", "gauge", "Resident memory.", residentBytes())
    return page.text
  }
}

/// Lines of the text format.
private struct MetricsPage {
  private(set) var text = ""

  mutating func begin(_ name: String, _ type: String, _ help: String) {
    text += "# HELP \(name) \(help)\n# TYPE \(name) \(type)\n"
  }

  mutating func add(_ series: String, _ value: Int) { text += "\(series) \(value)\n" }

  mutating func add(_ name: String, _ type: String, _ help: String, _ value: Int) {
    begin(name, type, help)
    add(name, value)
  }

  mutating func add(_ endpoint: String, _ buckets: [Int], bounds: [Double], sum: Double) {
    let name = "nalu_job_duration_seconds"
    var total = 0
    for (count, bound) in zip(buckets, bounds.map(shortest) + ["+Inf"]) {
      total += count
      add("\(name)_bucket{endpoint=\"\(endpoint)\",le=\"\(bound)\"}", total)
    }
    text += "\(name)_sum{endpoint=\"\(endpoint)\"} \(sum)\n"
    add("\(name)_count{endpoint=\"\(endpoint)\"}", total)
  }
}
