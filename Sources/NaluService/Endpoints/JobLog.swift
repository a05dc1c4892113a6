internal import Codec
internal import HTTP

/// One line of JSON for a job that is over.
struct JobLog {
  let id: String
  let operation: String
  let request: Request
  let report: JobReport
  /// Of the answer that was begun; 0 when there was none.
  let status: Int
  let outcome: Outcome

  var line: String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("job", id)
    writer.member("client", request.remoteAddress)
    if let requestID = request.header("X-Request-Id") {
      writer.member("request_id", start(of: requestID, bytes: 128))
    }
    writer.member("operation", operation)
    writer.key("parameters")
    writer.beginObject()
    for (name, value) in request.query {
      writer.key(escaping: start(of: name, bytes: 128))
      writer.value(start(of: value, bytes: 128))
    }
    writer.endObject()
    writer.member("bytes_in", report.bytesIn)
    writer.member("bytes_out", report.bytesOut)
    writer.member("frames_in", report.counters.framesIn)
    writer.member("frames_out", report.counters.framesOut)
    writer.member("queue_ms", Double(report.timing.queued / 1000) / 1000)
    writer.member("work_ms", Double(report.timing.work / 1000) / 1000)
    writer.member("status", status)
    writer.member("code", report.failure?.code.rawValue)
    writer.member("note", report.answer.headers.first { $0.name == "Nalu-Note" }?.value)
    writer.member("outcome", outcome.name)
    writer.endObject()
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

extension Outcome {
  fileprivate var name: String {
    switch self {
    case .delivered: "delivered"
    case .clientGone: "client-gone"
    case .timedOut: "timed-out"
    case .stopped: "stopped"
    case .aborted: "aborted"
    }
  }
}

/// What the codec libraries said of a job, a line of JSON each.
enum CodecMessageLog {
  static func lines(of job: Job) -> [String] {
    let (messages, omitted) = job.messages.take()
    var lines = messages.map { line(job, $0.level.name, $0.module, $0.text) }
    if omitted > 0 {
      lines.append(line(job, "info", "nalu", "\(omitted) more messages were left out"))
    }
    return lines
  }

  private static func line(
    _ job: Job, _ level: String, _ module: String, _ message: String
  ) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("job", job.id)
    writer.member("level", level)
    writer.member("module", module)
    writer.member("message", message)
    writer.endObject()
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}

/// A line of the log that belongs to no job.
enum ServerLog {
  static func line(_ message: String) -> String {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("server", message)
    writer.endObject()
    return String(decoding: writer.bytes, as: UTF8.self)
  }
}
