import HTTP
import Platform
import TestSupport

@testable import NaluService

/// The whole service on a free port of this machine.
final class RunningService {
  let service: Service
  let server: Server
  private let lines: LogLines

  /// Collects the log.
  final class LogLines: Sendable {
    private let state = Lock([String]())
    func append(_ line: String) { state.withLock { $0.append(line) } }
    var all: [String] { state.withLock { $0 } }
  }

  init(
    endpoints: [MediaEndpoint] = MediaEndpoint.all,
    _ change: (inout Configuration) -> Void = { _ in }
  ) throws {
    var configuration = Configuration(processors: 2)
    configuration.http.port = 0
    configuration.grace = 5
    change(&configuration)
    let lines = LogLines()
    self.lines = lines
    service = try Service(configuration, endpoints: endpoints) { lines.append($0) }
    server = try service.listen()
  }

  deinit { server.stop() }

  var log: [String] { lines.all }

  /// Reads of it fail after `timeout` seconds without a byte.
  func connect(timeout: Int = 20) -> Client { Client(port: server.port, timeout: timeout) }

  /// One request on a connection of its own.
  func request(
    _ method: String, _ target: String, headers: [String] = [], body: [UInt8]? = nil
  ) -> Client.Reply {
    let client = connect()
    client.send(head(method, target, headers: headers, length: body?.count))
    if let body { client.send(body) }
    return client.reply(toHead: method == "HEAD")
  }

  func post(_ target: String, _ body: [UInt8], headers: [String] = []) -> Client.Reply {
    request("POST", target, headers: headers, body: body)
  }

  /// Waits until no job, no step and no codec is left; false after ten seconds.
  func becomesIdle() -> Bool {
    let deadline = monotonicNanoseconds() + 10_000_000_000
    while service.registry.count > 0 || service.workQueue.figures.running > 0
      || service.admission.figures != (0, 0)
    {
      guard monotonicNanoseconds() < deadline else { return false }
      sleep(milliseconds: 5)
    }
    return true
  }
}

/// The head of a request, with its empty line.
func head(
  _ method: String, _ target: String, headers: [String] = [], length: Int? = nil
) -> String {
  var lines = ["\(method) \(target) HTTP/1.1", "Host: test"] + headers
  if let length { lines.append("Content-Length: \(length)") }
  return lines.joined(separator: "\r\n") + "\r\n\r\n"
}

/// Frames of 4:2:0 video whose brightness moves.
func movingFrames(width: Int, height: Int, count: Int) -> [UInt8] {
  var bytes: [UInt8] = []
  bytes.reserveCapacity(width * height * 3 / 2 * count)
  for frame in 0..<count {
    for y in 0..<height {
      for x in 0..<width { bytes.append(UInt8(truncatingIfNeeded: 3 * x + 5 * y + 7 * frame)) }
    }
    bytes += [UInt8](repeating: UInt8(100 + frame % 50), count: width * height / 2)
  }
  return bytes
}

/// Bytes that look random and are always the same.
func noise(bytes count: Int) -> [UInt8] {
  var state: UInt32 = 1
  return [UInt8](capacity: count) { output in
    while !output.isFull {
      state = state &* 1_664_525 &+ 1_013_904_223
      output.append(UInt8(state >> 24))
    }
  }
}

extension Client.Reply {
  /// The value of a string member of a JSON object; enough for problems.
  func string(_ member: String) -> String? {
    guard let start = text.range(of: "\"\(member)\":\"")?.upperBound else { return nil }
    return String(text[start...].prefix { $0 != "\"" })
  }

  /// The value of an integer member.
  func integer(_ member: String) -> Int? {
    guard let start = text.range(of: "\"\(member)\":")?.upperBound else { return nil }
    return Int(text[start...].prefix { $0.isNumber })
  }
}

extension String {
  /// The first place where `part` stands.
  func range(of part: String) -> Range<String.Index>? { firstRange(of: part) }
}
