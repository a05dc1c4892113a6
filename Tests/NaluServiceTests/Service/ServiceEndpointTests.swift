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
  }

  @Test func refusesWorkWhileItShutsDown() throws {
    let running = try RunningService()
    let frames = movingFrames(width: 32, height: 32, count: 2)
    let client = running.connect()
    client.send(head("POST", "/encode?width=32&height=32", length: frames.count))
    client.send(Array(frames.prefix(2000)))
    while running.service.registry.count == 0 { usleepShortly() }
    running.service.registry.drain()
    #expect(running.request("GET", "/readyz").status == 503)
    let refused = running.post("/inspect", [1])
    #expect(refused.status == 503)
    #expect(refused.string("code") == "draining")
    // What runs already is finished.
    client.send(Array(frames.dropFirst(2000)))
    #expect(client.reply().header("Nalu-Frames-Out") == "2")
  }

  @Test func logsOneLineAJob() throws {
    let running = try RunningService()
    _ = running.post("/inspect", Array("text".utf8), headers: ["X-Request-Id: abc"])
    #expect(running.becomesIdle())
    while running.log.isEmpty { usleepShortly() }
    let line = try #require(running.log.first)
    for part in [
      "\"operation\":\"inspect\"", "\"request_id\":\"abc\"", "\"bytes_in\":4", "\"status\":422",
      "\"code\":\"unrecognised-input\"", "\"outcome\":\"delivered\"",
    ] {
      #expect(line.contains(part), "\(part) in \(line)")
    }
  }
}
