import Dispatch
import HTTP
import Testing
import TestSupport

@testable import NaluService

@Suite struct ServiceEndpointTests {
  @Test func answersAboutItself() throws {
    let running = try RunningService { $0.limits.maxBody = 12345 }
    #expect(running.request("GET", "/healthz").text == "ok\n")
    #expect(running.request("HEAD", "/healthz").status == 200)
    #expect(running.request("GET", "/readyz").status == 200)
    let version = running.request("GET", "/version")
    #expect(version.header("Content-Type") == "application/json")
    #expect(version.string("version") == Version.nalu)
    #expect(version.integer("max_body") == 12345)
    for name in ["libmicrohttpd", "libavcodec", "libavutil", "libswscale"] {
      #expect(version.string(name)?.isEmpty == false)
    }
    let options = running.request("OPTIONS", "/encode")
    #expect(options.status == 204)
    #expect(options.header("Allow") == "POST, OPTIONS")
    let server = running.request("OPTIONS", "*")
    #expect(server.status == 204)
    #expect(server.header("Allow") == "GET, HEAD, POST, OPTIONS")
  }

  @Test func refusesWorkWhileItShutsDown() throws {
    let running = try RunningService()
    let frames = movingFrames(width: 32, height: 32, count: 2)
    let client = running.connect()
    client.send(head("POST", "/encode?width=32&height=32", length: frames.count))
    client.send(Array(frames.prefix(2000)))
    try #require(eventually { running.service.registry.count > 0 })
    running.service.registry.drain()
    #expect(running.request("GET", "/readyz").status == 503)
    let refused = running.post("/inspect", [1])
    #expect(refused.status == 503)
    #expect(refused.string("code") == "draining")
    // What runs already is finished.
    client.send(Array(frames.dropFirst(2000)))
    #expect(client.reply().header("Nalu-Frames-Out") == "2")
  }

  /// What a load balancer asks while running jobs are finished is answered, on new connections too.
  @Test func listensUntilTheLastJobIsDone() throws {
    let running = try RunningService()
    let frames = movingFrames(width: 32, height: 32, count: 2)
    let client = running.connect()
    client.send(head("POST", "/encode?width=32&height=32", length: frames.count))
    client.send(Array(frames.prefix(2000)))
    try #require(eventually { running.service.registry.count > 0 })
    let isDown = DispatchSemaphore(value: 0)
    let (service, server) = (running.service, running.server)
    DispatchQueue(label: "shut down").async {
      service.shutDown(server)
      isDown.signal()
    }
    try #require(eventually { service.registry.isDraining })
    #expect(running.request("GET", "/healthz").status == 200)
    #expect(running.request("GET", "/readyz").status == 503)
    #expect(running.post("/decode", [1]).string("code") == "draining")
    client.send(Array(frames.dropFirst(2000)))
    #expect(client.reply().header("Nalu-Frames-Out") == "2")
    isDown.wait()
    #expect(!running.connect().isConnected)
  }

  @Test(arguments: ["/healthz?probe=1", "/readyz?%20"])
  func aLoadBalancerMayAskWhatItLikes(target: String) throws {
    #expect(try RunningService().request("GET", target).status == 200)
  }

  /// An upload that stalls ends a job like any other, for its client and in the log.
  @Test func anUploadThatStallsIsAJobThatFailed() throws {
    let running = try RunningService { $0.http.uploadStallTimeout = .milliseconds(300) }
    let client = running.connect()
    client.send(head("POST", "/inspect", length: 1000))
    client.send([0, 0, 1])
    let reply = client.reply()
    #expect(reply.status == 408)
    #expect(reply.string("code") == "upload-stalled")
    #expect(reply.header("Server-Timing") != nil)
    let id = try #require(reply.header("Nalu-Job-Id"))
    #expect(running.becomesIdle())
    try #require(eventually { running.log.contains(where: { $0.contains(id) }) })
    let line = try #require(running.log.first { $0.contains(id) })
    for part in [
      "\"operation\":\"inspect\"", "\"status\":408", "\"code\":\"upload-stalled\"",
      "\"outcome\":\"timed-out\"",
    ] {
      #expect(line.contains(part), "\(part) in \(line)")
    }
  }

  @Test func logsOneLineAJob() throws {
    let running = try RunningService()
    _ = running.post("/inspect", Array("text".utf8), headers: ["X-Request-Id: abc"])
    #expect(running.becomesIdle())
    try #require(eventually { !running.log.isEmpty })
    let line = try #require(running.log.first)
    for part in [
      "\"operation\":\"inspect\"", "\"request_id\":\"abc\"", "\"bytes_in\":4", "\"status\":422",
      "\"code\":\"unrecognised-input\"", "\"outcome\":\"delivered\"",
    ] {
      #expect(line.contains(part), "\(part) in \(line)")
    }
  }

  /// Names and values are the client's: neither ends a string or a line of the log.
  @Test func aClientCannotForgeTheLog() throws {
    let running = try RunningService()
    _ = running.request(
      "POST", "/inspect?%22%0A%7B%22job%22:=%22%0D%0A%5C", headers: ["X-Request-Id: \"\\"],
      body: [1])
    try #require(eventually { !running.log.isEmpty })
    let line = try #require(running.log.first)
    #expect(!line.contains { $0.isNewline })
    #expect(line.contains(#""parameters":{"\"\n{\"job\":":"\"\r\n\\"}"#))
    #expect(line.contains(#""request_id":"\"\\""#))
  }

  /// Neither do control characters of a terminal get into it, nor any amount of bytes: a character
  /// can have thousands.
  @Test func aClientCannotFillTheLogOrCommandATerminal() throws {
    let running = try RunningService()
    let marks = String(repeating: "%CC%81", count: 3000)
    _ = running.request("POST", "/inspect?a=%C2%9B31m%7F%C2%B0&b=x\(marks)", body: [1])
    try #require(eventually { !running.log.isEmpty })
    let line = try #require(running.log.first)
    #expect(line.contains(#""a":"\u009b31m\u007f°""#), "\(line.utf8.count)")
    #expect(line.utf8.count < 1000)
    let detail = running.request("POST", "/inspect?x\(marks)=1", body: [1]).body
    #expect(detail.count < 2000)
  }

  /// What was sent is 200, whatever becomes of the result afterwards.
  @Test func logsTheStatusThatWasSentAndWhyTheRestWasNot() throws {
    let running = try RunningService()
    var stream = running.post(
      "/encode?width=320&height=240&gop=5&preset=ultrafast",
      movingFrames(width: 320, height: 240, count: 20)
    ).body
    stream = (0..<10).flatMap { _ in stream }
    for index in stream.count - 3000..<stream.count - 100 where index % 7 == 0 {
      stream[index] ^= 0x55
    }
    let reply = running.post("/decode?format=yuv&on_error=fail", stream)
    #expect(reply.status == 200 && !reply.isComplete)
    #expect(running.becomesIdle())
    while !running.log.contains(where: { $0.contains("\"operation\":\"decode\"") }) {
      usleepShortly()
    }
    let line = try #require(running.log.first { $0.contains("\"operation\":\"decode\"") })
    for part in ["\"status\":200", "\"code\":\"undecodable\"", "\"outcome\":\"aborted\""] {
      #expect(line.contains(part), "\(part) in \(line)")
    }
    let page = running.request("GET", "/metrics").text
    #expect(page.contains("\nnalu_jobs_aborted_total 1\n"))
    #expect(page.contains("\nnalu_jobs_cancelled_total 0\n"))
  }

  @Test func countsClientsThatGoAway() throws {
    let running = try RunningService()
    let client = running.connect()
    client.send(head("POST", "/inspect", length: 1000) + "abc")
    try #require(eventually { running.service.registry.count > 0 })
    client.reset()
    #expect(running.becomesIdle())
    // The server may have a line of its own for it.
    try #require(eventually { running.log.contains(where: { $0.contains("\"operation\"") }) })
    let line = running.log.first { $0.contains("\"operation\"") }
    #expect(line?.contains("\"status\":0,") == true)
    let page = running.request("GET", "/metrics").text
    #expect(page.contains("\nnalu_jobs_aborted_total 0\n"))
    #expect(page.contains("\nnalu_jobs_cancelled_total 1\n"))
  }

  @Test func logsWhatTheCodecLibrariesSayUnderTheIDOfTheJob() throws {
    let running = try RunningService { $0.codecLog = .info }
    let frames = movingFrames(width: 32, height: 32, count: 2)
    let replies = (0..<3).map { _ in running.post("/encode?width=32&height=32", frames) }
    #expect(running.becomesIdle())
    try #require(
      eventually { running.log.count(where: { $0.contains("\"operation\"") }) >= 3 })
    for reply in replies {
      let id = try #require(reply.header("Nalu-Job-Id"))
      let said = running.log.filter { $0.contains("\"module\":\"libx264\"") }
      #expect(said.contains { $0.hasPrefix("{\"job\":\"\(id)\"") && $0.contains("profile High") })
      #expect(!reply.text.contains("libx264"))
    }
  }

  @Test func logsAFewComplaintsAboutADamagedStreamAndTellsTheClientNone() throws {
    let running = try RunningService()
    var stream = running.post(
      "/encode?width=64&height=64&bframes=0", noise(bytes: 64 * 64 * 3 / 2 * 60)
    ).body
    for index in stride(from: 2000, to: stream.count, by: 1000) { stream[index] ^= 0x55 }
    let reply = running.post("/decode?format=yuv", stream)
    #expect(reply.status == 200)
    #expect(running.becomesIdle())
    let id = try #require(reply.header("Nalu-Job-Id"))
    try #require(
      eventually {
        running.log.contains { $0.contains("\"operation\":\"decode\"") && $0.contains(id) }
      })
    let said = running.log.filter {
      $0.hasPrefix("{\"job\":\"\(id)\"") && $0.contains("\"module\"")
    }
    #expect((2...21).contains(said.count))
    #expect(said.contains { $0.contains("\"module\":\"h264\"") })
  }
}
