import Testing
import TestSupport

@testable import NaluService

@Suite struct MetricsTests {
  @Test func countsWhatWasAsked() throws {
    let running = try RunningService()
    let frames = movingFrames(width: 16, height: 16, count: 3)
    _ = running.post("/encode?width=16&height=16", frames)
    _ = running.post("/inspect", [1, 2])
    _ = running.request("GET", "/nothing")
    #expect(running.becomesIdle())
    let page = running.request("GET", "/metrics")
    #expect(page.header("Content-Type") == "text/plain; version=0.0.4")
    let lines = page.text.split(separator: "\n").map(String.init)
    for line in [
      "nalu_requests_total{endpoint=\"encode\",status=\"200\"} 1",
      "nalu_requests_total{endpoint=\"inspect\",status=\"422\"} 1",
      "nalu_requests_total{endpoint=\"other\",status=\"404\"} 1", "nalu_frames_in_total 3",
      "nalu_frames_out_total 3", "nalu_bytes_in_total \(frames.count + 2)",
      "nalu_jobs{state=\"open\"} 0",
      "nalu_job_duration_seconds_bucket{endpoint=\"encode\",le=\"+Inf\"} 1",
    ] {
      #expect(lines.contains(line), "\(line)")
    }
  }

  /// Prometheus text format 0.0.4: every sample follows the type of its family.
  @Test func isValidTextFormat() throws {
    let running = try RunningService()
    _ = running.post("/inspect", [1, 2])
    #expect(running.becomesIdle())
    var family = ""
    for line in running.request("GET", "/metrics").text.split(separator: "\n") {
      if line.hasPrefix("# TYPE ") {
        family = String(line.split(separator: " ")[2])
      } else if !line.hasPrefix("#") {
        #expect(line.hasPrefix(family))
        let value = line.split(separator: " ").last.flatMap { Double($0) }
        #expect(value != nil, "\(line)")
      }
    }
  }
}
