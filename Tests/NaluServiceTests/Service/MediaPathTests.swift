import Testing
import TestSupport

@testable import NaluService

/// The way of a media job through the whole service.
@Suite struct MediaPathTests {
  @Test func encodesInspectsAndDecodesWhatItEncoded() throws {
    let running = try RunningService()
    let frames = movingFrames(width: 64, height: 48, count: 7)
    let encoded = running.post("/encode?width=64&height=48&fps=15&gop=4", frames)
    #expect(encoded.status == 200)
    #expect(encoded.header("Content-Type") == "video/h264")
    #expect(encoded.header("Nalu-Frames-In") == "7")
    #expect(encoded.header("Nalu-Frames-Out") == "7")
    #expect(encoded.header("Nalu-Job-Id") != nil)
    #expect(encoded.header("Server-Timing")?.hasPrefix("queue;dur=") == true)

    let report = running.post("/inspect", encoded.body)
    #expect(report.status == 200)
    #expect(report.header("Content-Type") == "application/json")
    #expect(report.integer("frame_count") == 7)
    #expect(report.integer("idr_count") == 2)
    #expect(report.string("frame_rate") == "15/1")

    let yuv = running.post("/decode?format=yuv", encoded.body)
    #expect(yuv.status == 200)
    #expect(yuv.body.count == frames.count)
    #expect(yuv.header("Nalu-Width") == "64")
    #expect(yuv.header("Nalu-Pix-Fmt") == "yuv420p")

    let png = running.post("/decode?frames=6", encoded.body)
    #expect(png.header("Content-Type") == "image/png")
    #expect(png.body.prefix(8) == [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
  }

  @Test func takesTheMediaInEveryFormOfBody() throws {
    let running = try RunningService()
    let frames = movingFrames(width: 32, height: 32, count: 3)
    let target = "/encode?width=32&height=32"
    let plain = running.post(target, frames)
    #expect(plain.integer("status") == nil)

    let form =
      Array("--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n".utf8)
      + frames + Array("\r\n--x--\r\n".utf8)
    let multipart = running.post(
      target, form, headers: ["Content-Type: multipart/form-data; boundary=x"])
    #expect(multipart.body == plain.body)

    let client = running.connect()
    client.send(head("POST", target, headers: ["Transfer-Encoding: chunked"]))
    for start in stride(from: 0, to: frames.count, by: 1000) {
      let piece = frames[start..<min(start + 1000, frames.count)]
      client.send("\(String(piece.count, radix: 16))\r\n")
      client.send(Array(piece))
      client.send("\r\n")
    }
    client.send("0\r\n\r\n")
    #expect(client.reply().body == plain.body)

    let polite = running.connect()
    polite.send(
      head("POST", target, headers: ["Expect: 100-continue"], length: frames.count))
    #expect(polite.reply().status == 100)
    polite.send(frames)
    #expect(polite.reply().body == plain.body)
  }

  /// An answer can begin only after the upload has ended, so a result that is larger than every
  /// buffer must not stop the upload.
  @Test func readsALongUploadWhoseResultIsLargerThanEveryBuffer() throws {
    let running = try RunningService()
    let stream = running.post(
      "/encode?width=16&height=16&preset=ultrafast", movingFrames(width: 16, height: 16, count: 1))
    // Access unit delimiters: six bytes each, and a far longer line of report.
    let delimiters = 120_000
    let upload = stream.body + (0..<delimiters).flatMap { _ in [0, 0, 0, 1, 9, 0xF0] as [UInt8] }
    let reply = running.post("/inspect?format=ndjson&include=nal_units,summary", upload)
    #expect(reply.status == 200)
    #expect(reply.isComplete)
    #expect(reply.body.count > 3 * Limits.outputMark)
    #expect(reply.body.count { $0 == UInt8(ascii: "\n") } >= delimiters)
    #expect(running.becomesIdle())
    #expect(running.service.spoolDirectory.usedBytes == 0)
  }

  @Test func shortJobsDoNotWaitForALongOne() throws {
    let running = try RunningService { $0.limits.workers = 2 }
    let small = running.post(
      "/encode?width=16&height=16&preset=ultrafast", movingFrames(width: 16, height: 16, count: 1))
    // Noise, and one thread that takes its time over it.
    let frames = noise(bytes: 640 * 360 * 3 / 2 * 64)
    let long = running.connect(timeout: 300)
    long.send(
      head("POST", "/encode?width=640&height=360&preset=slow&threads=1", length: frames.count))
    // It cannot be done before the last byte is there.
    long.send(Array(frames.dropLast()))
    for _ in 0..<50 {
      #expect(running.post("/inspect", small.body).integer("frame_count") == 1)
    }
    #expect(running.service.admission.figures == (1, 0), "the encode is still under way")
    long.send(Array(frames.suffix(1)))
    #expect(long.reply().header("Nalu-Frames-Out") == "64")
    #expect(running.service.workQueue.figures.peak <= 3)
  }

  @Test func idleUploadsHoldNeitherAWorkerNorACodec() throws {
    let running = try RunningService {
      $0.limits.workers = 2
      $0.limits.jobs = 1
      $0.limits.queue = 1
    }
    let idle = (0..<50).map { _ in running.connect() }
    for client in idle {
      client.send(head("POST", "/encode?width=64&height=64", length: 6144 * 10))
      client.send([UInt8](repeating: 16, count: 3000))
    }
    let frames = movingFrames(width: 32, height: 32, count: 2)
    let encoded = running.post("/encode?width=32&height=32", frames)
    #expect(encoded.header("Nalu-Frames-Out") == "2")
    #expect(running.post("/inspect", encoded.body).integer("frame_count") == 2)
    #expect(running.service.admission.figures == (0, 0))
    for client in idle { client.hangUp() }
    #expect(running.becomesIdle())
  }

  @Test(arguments: [0.1, 0.5, 0.9])
  func aClientThatVanishesInItsUploadLeavesNothingBehind(share: Double) throws {
    let running = try RunningService()
    let frames = movingFrames(width: 64, height: 64, count: 20)
    for _ in 0..<10 {
      let client = running.connect()
      client.send(head("POST", "/encode?width=64&height=64", length: frames.count))
      client.send(Array(frames.prefix(Int(Double(frames.count) * share))))
      client.hangUp()
    }
    #expect(running.becomesIdle())
    #expect(running.service.admission.figures == (0, 0))
    #expect(running.service.spoolDirectory.usedBytes == 0)
  }
}
