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

  @Test func isValidTextFormat() throws {
    let running = try RunningService()
    let empty = try PrometheusText(running.request("GET", "/metrics").text)
    #expect(empty.families["nalu_requests_total"] == "counter")
    _ = running.post("/inspect", [1, 2])
    _ = running.post("/encode?width=16&height=16", movingFrames(width: 16, height: 16, count: 2))
    _ = running.request("GET", "/a\"b\\c%0A")
    #expect(running.becomesIdle())
    let page = try PrometheusText(running.request("GET", "/metrics").text)
    #expect(page.families["nalu_job_duration_seconds"] == "histogram")
    for endpoint in ["encode", "inspect"] {
      let name = "nalu_job_duration_seconds"
      let buckets = page.samples.filter {
        $0.name == "\(name)_bucket" && $0.labels["endpoint"] == endpoint
      }
      let bounds = buckets.compactMap { $0.labels["le"].flatMap { Double($0) } }
      #expect(bounds == bounds.sorted() && bounds.last == .infinity)
      #expect(buckets.map(\.value) == buckets.map(\.value).sorted())
      let count = page.samples.first {
        $0.name == "\(name)_count" && $0.labels["endpoint"] == endpoint
      }
      #expect(buckets.last?.value == 1 && count?.value == 1)
    }
  }
}

/// Prometheus text format 0.0.4, read strictly.
private struct PrometheusText {
  struct Sample: Hashable {
    var name: String
    var labels: [String: String]
    var value: Double
  }
  struct Malformed: Error {
    var line: String
  }

  /// Types by family.
  var families: [String: String] = [:]
  var samples: [Sample] = []

  init(_ text: String) throws {
    guard text.hasSuffix("\n") else { throw Malformed(line: "the last has no end") }
    var family = ""
    var help: Set<String> = []
    var series: Set<[String]> = []
    for line in text.split(separator: "\n").map(String.init) {
      if line.hasPrefix("#") {
        let words = line.split(separator: " ", maxSplits: 3).map(String.init)
        guard words.count == 4, isName(words[2]) else { throw Malformed(line: line) }
        if words[1] == "HELP" {
          guard help.insert(words[2]).inserted else { throw Malformed(line: line) }
        } else {
          guard words[1] == "TYPE", families[words[2]] == nil,
            ["counter", "gauge", "histogram"].contains(words[3])
          else { throw Malformed(line: line) }
          family = words[2]
          families[family] = words[3]
        }
        continue
      }
      let sample = try sample(line)
      let suffixes = families[family] == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
      guard suffixes.contains(where: { sample.name == family + $0 }), help.contains(family),
        families[family] != "counter" || (family.hasSuffix("_total") && sample.value >= 0),
        series.insert([sample.name] + sample.labels.sorted { $0 < $1 }.map { "\($0)" }).inserted
      else { throw Malformed(line: line) }
      samples.append(sample)
    }
  }

  private func sample(_ line: String) throws -> Sample {
    guard let space = line.lastIndex(of: " "),
      let value = Double(line[line.index(after: space)...])
    else { throw Malformed(line: line) }
    let head = line[..<space]
    guard let brace = head.firstIndex(of: "{") else {
      guard isName(String(head)) else { throw Malformed(line: line) }
      return Sample(name: String(head), labels: [:], value: value)
    }
    let name = String(head[..<brace])
    guard isName(name), head.hasSuffix("}") else { throw Malformed(line: line) }
    var labels: [String: String] = [:]
    // Our label values have neither quotes nor commas; anything else would not read as a pair.
    for pair in head[head.index(after: brace)...].dropLast().split(separator: ",") {
      let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2, isName(parts[0]), parts[1].count >= 2, parts[1].hasPrefix("\""),
        parts[1].hasSuffix("\""), !parts[1].dropFirst().dropLast().contains("\""),
        labels.updateValue(String(parts[1].dropFirst().dropLast()), forKey: parts[0]) == nil
      else { throw Malformed(line: line) }
    }
    return Sample(name: name, labels: labels, value: value)
  }

  private func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, !(0x30...0x39).contains(first) else { return false }
    return text.utf8.allSatisfy {
      (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
        || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ":")
    }
  }
}
