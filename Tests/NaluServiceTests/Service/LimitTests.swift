import Glibc
import HTTP
import Testing
import TestSupport

@testable import NaluService

/// Every limit, crossed from outside.
@Suite struct LimitTests {
  private static let names = [
    "max_body", "max_frame_pixels", "max_dimension", "max_frames", "max_output", "max_nal_units",
    "job_timeout", "min_upload_rate", "min_read_rate", "header_timeout", "idle_timeout",
    "max_connections",
    "max_connections_per_address", "workers", "jobs", "queue", "spool_dir", "max_spool",
    "max_memory", "max_codec_memory",
  ]

  @Test(arguments: names)
  func isAnOptionAndShownByVersion(name: String) throws {
    let option = String(name.map { $0 == "_" ? "-" : $0 })
    #expect(ServeOptions.all.contains { $0.name == option })
    let running = try RunningService()
    #expect(running.request("GET", "/version").text.contains("\"\(name)\":"))
  }

  /// Where everybody may ask, nobody is told a path.
  @Test func showsTheSpoolDirectoryToHoldersOfATokenOnly() throws {
    #expect(try RunningService().request("GET", "/version").text.contains("\"spool_dir\":null"))
  }

  /// What a stream of three frames, or its frames, run into.
  struct Crossing: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var target: String
    var status: Int
    var code: String
    var change: @Sendable (inout Limits) -> Void

    init(
      _ target: String, _ status: Int, _ code: String,
      _ change: @escaping @Sendable (inout Limits) -> Void
    ) {
      testDescription = "\(target) \(code)"
      self.target = target
      self.status = status
      self.code = code
      self.change = change
    }
  }

  private static let encode = "/encode?width=32&height=32"
  private static let crossings = [
    Crossing("/inspect", 413, "body-too-large") { $0.maxBody = 10 },
    Crossing(encode, 413, "body-too-large") { $0.maxBody = 10 },
    Crossing("/decode", 413, "body-too-large") { $0.maxBody = 10 },
    Crossing(encode, 422, "dimensions-too-large") { $0.maxFramePixels = 1023 },
    Crossing("/decode", 422, "dimensions-too-large") { $0.maxFramePixels = 1023 },
    Crossing(encode, 422, "dimensions-too-large") { $0.maxDimension = 31 },
    Crossing("/decode", 422, "dimensions-too-large") { $0.maxDimension = 31 },
    Crossing(encode, 422, "too-many-frames") { $0.maxFrames = 2 },
    Crossing("/decode", 422, "too-many-frames") { $0.maxFrames = 2 },
    Crossing("/inspect", 422, "output-too-large") { $0.maxOutput = 100 },
    Crossing(encode, 422, "output-too-large") { $0.maxOutput = 100 },
    Crossing("/decode", 422, "output-too-large") { $0.maxOutput = 100 },
    Crossing("/remux?format=mkv", 422, "output-too-large") { $0.maxOutput = 100 },
    Crossing("/transcode?format=mp4", 422, "output-too-large") { $0.maxOutput = 100 },
    Crossing("/inspect", 422, "too-many-nal-units") { $0.maxNALUnits = 2 },
    Crossing("/decode", 422, "too-many-nal-units") { $0.maxNALUnits = 2 },
    Crossing(encode, 507, "insufficient-storage") { $0.maxMemory = 1000 },
    Crossing("/inspect", 507, "insufficient-storage") { $0.maxMemory = 100 },
    Crossing(encode, 400, "conflicting-parameters") { $0.maxCodecMemory = 15_000 },
    Crossing("/inspect", 504, "job-timeout") { $0.jobTimeout = 0 },
    Crossing(encode, 504, "job-timeout") { $0.jobTimeout = 0 },
    Crossing("/decode", 504, "job-timeout") { $0.jobTimeout = 0 },
  ]

  @Test(arguments: crossings)
  func isRefused(crossing: Crossing) throws {
    let frames = movingFrames(width: 32, height: 32, count: 3)
    let open = try RunningService()
    let stream = open.post(LimitTests.encode, frames).body
    let body = crossing.target == LimitTests.encode ? frames : stream
    #expect(open.post(crossing.target, body).status == 200)

    let running = try RunningService { crossing.change(&$0.limits) }
    let reply = running.post(crossing.target, body)
    #expect(reply.status == crossing.status)
    #expect(reply.string("code") == crossing.code)
    // It would not go better later.
    #expect(reply.header("Retry-After") == nil)
    #expect(running.becomesIdle())
  }

  /// A stream that does not fit into the memory of a spool.
  private func longStream(_ running: RunningService) -> [UInt8] {
    let frames = noise(bytes: 128 * 128 * 3 / 2 * 8)
    let stream = running.post("/encode?width=128&height=128&qp=1&preset=ultrafast", frames).body
    let copies = Limits.spoolMemory / stream.count + 2
    return (0..<copies).flatMap { _ in stream }
  }

  @Test func aFullSpoolIsInsufficientStorage() throws {
    let running = try RunningService { $0.limits.maxSpool = 16 }
    let reply = running.post("/decode?frames=0", longStream(running))
    #expect(reply.status == 507)
    #expect(reply.string("code") == "insufficient-storage")
    // It does not fit by itself.
    #expect(reply.header("Retry-After") == nil)
    #expect(running.becomesIdle())
    #expect(running.service.spoolDirectory.usedBytes == 0)
  }

  /// A job that takes all it may leaves room for another.
  @Test func aJobHasAShareOfTheSpool() throws {
    let whole = SpoolDirectory(path: "/tmp", capacity: 1000)
    let piece = [UInt8](repeating: 1, count: 250)
    let shares = [whole.share(), whole.share()]
    func fill(_ share: SpoolDirectory, pieces: Int) throws(Problem) -> Spool {
      var spool = Spool(in: share, memoryCapacity: 0)
      for _ in 0..<pieces { try spool.append(piece.span) }
      return spool
    }
    let alone = #expect(throws: Problem.self) { _ = try fill(shares[0], pieces: 4) }
    #expect(alone?.retryAfter == nil)
    #expect(whole.usedBytes == 0)
    let large = try fill(shares[0], pieces: 3)
    let small = try fill(shares[1], pieces: 1)
    let crowded = #expect(throws: Problem.self) { _ = try fill(shares[1], pieces: 1) }
    #expect(crowded?.retryAfter == 1)
    let used = whole.usedBytes
    let counts = [large.count, small.count]
    #expect(used == 1000 && counts == [750, 250])
  }

  @Test func aSpoolDirectoryThatFailsIsInsufficientStorageUntilItWorksAgain() throws {
    let path = "/tmp/nalu-test-spool-\(UInt64.random(in: .min ... .max))"
    mkdir(path, 0o700)
    defer { rmdir(path) }
    let running = try RunningService { $0.spoolDirectory = path }
    let upload = longStream(running)
    #expect(running.post("/decode?frames=0", upload).status == 200)
    rmdir(path)
    let reply = running.post("/decode?frames=0", upload)
    #expect(reply.status == 507)
    #expect(reply.string("code") == "insufficient-storage")
    #expect(reply.header("Retry-After") != nil)
    #expect(!reply.text.contains(path))
    mkdir(path, 0o700)
    #expect(running.post("/decode?frames=0", upload).status == 200)
    #expect(running.becomesIdle())
    #expect(running.service.spoolDirectory.usedBytes == 0)
  }

  @Test func aSpoolDirectoryThatIsNotThereIsSaidAtTheStart() {
    #expect(throws: StartError.self) {
      try RunningService { $0.spoolDirectory = "/tmp/nalu-test-no-such-directory" }
    }
  }

  @Test func aHeadThatTakesTooLongIsAnswered() throws {
    let running = try RunningService { $0.http.headerTimeout = .milliseconds(200) }
    let client = running.connect()
    client.send("GET /healthz HTTP/1.1\r\nHo")
    let reply = client.reply()
    #expect(reply.status == 408)
    #expect(reply.string("code") == "upload-stalled")
    #expect(client.isEnded())
  }

  @Test func anUploadThatIsTooSlowIsAnswered() throws {
    let running = try RunningService {
      $0.http.minimumUploadRate = 1_000_000
      $0.http.uploadStallTimeout = .milliseconds(300)
    }
    let client = running.connect()
    client.send(head("POST", "/inspect", length: 1 << 20))
    // A byte now and then is progress, but not enough.
    for _ in 0..<40 {
      client.send([0])
      usleep(20_000)
    }
    let reply = client.reply()
    #expect(reply.status == 408)
    #expect(reply.string("code") == "upload-stalled")
    #expect(running.becomesIdle())
  }

  @Test func aReaderThatIsTooSlowIsCut() throws {
    let running = try RunningService {
      $0.http.minimumReaderRate = 100_000_000
      $0.http.readerStallTimeout = .milliseconds(300)
    }
    let frames = movingFrames(width: 320, height: 240, count: 2)
    let stream = running.post("/encode?width=320&height=240&preset=ultrafast", frames).body
    let many = (0..<200).flatMap { _ in stream }
    let client = Client(port: running.server.port, receiveBuffer: 4096)
    client.send(head("POST", "/decode?format=yuv", length: many.count))
    client.send(many)
    // Some bytes now and then are progress, but not enough.
    var read = 0
    while client.canRead(read + 1000), read < 40 << 20 {
      read += 1000
      usleep(20_000)
    }
    #expect(read < 40 << 20)
    #expect(running.becomesIdle())
    try #require(eventually { running.log.contains(where: { $0.contains("timed-out") }) })
  }

  @Test func anIdleConnectionIsClosed() throws {
    let running = try RunningService { $0.http.idleTimeout = .milliseconds(200) }
    let client = running.connect()
    #expect(client.request(head("GET", "/healthz")).status == 200)
    #expect(client.isEnded())
  }

  @Test func moreConnectionsThanTheLimitWait() throws {
    let running = try RunningService {
      $0.http.connectionLimit = 2
      $0.http.ioThreads = 1
    }
    let first = running.connect()
    let second = running.connect()
    for client in [first, second] { #expect(client.request(head("GET", "/healthz")).status == 200) }
    let third = running.connect()
    third.send(head("GET", "/healthz"))
    for _ in 0..<50 {
      #expect(running.server.openConnections == 2)
      usleep(2000)
    }
    first.hangUp()
    #expect(third.reply().status == 200)
  }

  @Test func moreConnectionsOfAnAddressThanTheLimitAreClosed() throws {
    let running = try RunningService {
      $0.http.perAddressLimit = 2
      $0.http.ioThreads = 1
    }
    let kept = [running.connect(), running.connect()]
    for client in kept { #expect(client.request(head("GET", "/healthz")).status == 200) }
    let third = running.connect()
    third.send(head("GET", "/healthz"))
    #expect(third.reply().status == 0)
    for client in kept { #expect(client.request(head("GET", "/healthz")).status == 200) }
  }
}
