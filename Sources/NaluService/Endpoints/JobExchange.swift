internal import HTTP
internal import Platform

/// Joins a job to the HTTP exchange that asked for it: the upload goes in, the result comes out,
/// and when one of the two ends, so does the other.
final class JobExchange: Upload, BodySource, JobObserver {
  private let job: Job
  private let exchange: Exchange
  private let endpoint: String
  /// A second file part of the form.
  let secondPartName: String?
  let bodyLimit: Int
  private let service: Service
  private let started: UInt64

  /// Results up to this many bytes are handed over in one piece.
  private static let smallResult = 1 << 16

  init(
    job: Job, exchange: Exchange, endpoint: MediaEndpoint, service: Service, started: UInt64,
    bodyLimit: Int
  ) {
    self.job = job
    self.exchange = exchange
    self.endpoint = endpoint.name
    secondPartName = endpoint.secondPart?.name
    self.service = service
    self.started = started
    self.bodyLimit = bodyLimit
  }

  // MARK: Upload

  func receive(_ bytes: Span<UInt8>) -> Bool { job.offer(bytes) }

  func receiveSecond(_ bytes: Span<UInt8>) -> Bool { job.offer(bytes, isSecond: true) }

  func endOfUpload() { job.endInput() }

  func failed(_ error: UploadError) {
    let limit = service.configuration.limits.maxBody
    job.failInput(error == .bodyTooLarge ? .bodyTooLarge(limit: limit) : Problem(error))
  }

  func stalled() {
    job.failInput(Problem(.uploadStalled, "The request did not arrive in time."))
  }

  func ended(_ outcome: Outcome) {
    job.cancel()
    let report = job.report
    let seconds = Double(monotonicNanoseconds() - started) / 1e9
    for line in CodecMessageLog.lines(of: job) { service.log(line) }
    service.metrics.count(report, endpoint: endpoint, seconds: seconds, outcome)
    service.log(
      JobLog(
        id: job.id, operation: endpoint, request: exchange.request, report: report,
        status: exchange.sentStatus ?? 0, outcome: outcome
      ).line)
    // Whoever waits for the last job finds it counted and logged.
    service.registry.remove(job)
  }

  // MARK: JobObserver

  func inputHasRoom() { exchange.resumeUpload() }

  func outputHasMore() { exchange.resumeBody() }

  func answer(_ answer: JobAnswer) {
    switch answer {
    case .problem(let problem):
      respond(Response(problem, headers: [jobID, timing]))
    case .whole(let answer, let length):
      let isSmall = length <= JobExchange.smallResult
      let bytes = isSmall ? wholeResult(length) : []
      if isSmall, bytes.count < length {
        let problem = job.report.failure ?? Problem(.internal, "The result is not there.")
        return respond(Response(problem, headers: [jobID, timing]))
      }
      let fields = (answer.headers + answer.trailers).map { ($0.name, $0.value) }
      respond(
        Response(
          status: 200, headers: [contentType(answer), jobID, timing] + fields,
          body: isSmall ? .bytes(bytes) : .stream(self, length: length)))
    case .streamed(let answer):
      let names = answer.trailerNames + ["Server-Timing"]
      respond(
        Response(
          status: 200,
          headers: [contentType(answer), jobID, ("Trailer", names.joined(separator: ", "))]
            + answer.headers.map { ($0.name, $0.value) },
          body: .stream(self, length: nil)))
    }
  }

  private func respond(_ response: Response) {
    service.metrics.count(endpoint: endpoint, status: response.status)
    var response = response
    response.headers += service.commonFields(for: exchange.request)
    exchange.respond(response)
  }

  private func wholeResult(_ length: Int) -> [UInt8] {
    [UInt8](capacity: length) { output in
      while !output.isFull, job.read(into: &output) == .some {}
    }
  }

  private func contentType(_ answer: Answer) -> Request.Field {
    ("Content-Type", answer.contentType)
  }

  private var jobID: Request.Field { ("Nalu-Job-Id", job.id) }

  private var timing: Request.Field {
    let timing = job.report.timing
    return (
      "Server-Timing",
      "queue;dur=\(milliseconds(timing.queued)), work;dur=\(milliseconds(timing.work))"
    )
  }

  // MARK: BodySource

  func read(into output: inout OutputSpan<UInt8>) -> BodyRead {
    switch job.read(into: &output) {
    case .some: .some
    case .waiting: .waiting
    case .end: .end
    case .failed: .failed
    }
  }

  var trailers: [Request.Field] {
    job.report.answer.trailers.map { ($0.name, $0.value) } + [timing]
  }
}

/// Nanoseconds as milliseconds with three decimals.
func milliseconds(_ nanoseconds: UInt64) -> String {
  let microseconds = nanoseconds / 1000
  let fraction = String(microseconds % 1000)
  return "\(microseconds / 1000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction)"
}

extension Problem {
  /// What is wrong with the form of an upload.
  init(_ error: UploadError) {
    if case .emptyFile(let name) = error {
      self = .emptySecondPart(name)
      return
    }
    let detail =
      switch error {
      case .bodyTooLarge: "The form is too large."
      case .noBoundary: "Content-Type is multipart/form-data without a usable boundary."
      case .malformed(let what): what
      case .truncated: "The body ends before its closing boundary."
      case .noFile: "No part of the form carries a file; send it as in: curl -F file=@clip.h264."
      case .severalFiles(nil):
        "The form carries several files for the media; send one a request."
      case .severalFiles(let name?), .emptyFile(let name):
        "The form carries more than one part \(name); one may be there."
      case .textField(let name):
        "The form has a text field \(quoted(name)); parameters go into the query string."
      case .tooLarge: "The form has too much beside its files."
      }
    self.init(.malformedMultipart, detail)
  }

  /// What may stand beside the media is there without content.
  package static func emptySecondPart(_ name: String) -> Problem {
    Problem(
      .emptyBody, "The part \(name) is empty; leave it out when there is nothing to send.",
      members: [.init("part", name)])
  }
}
