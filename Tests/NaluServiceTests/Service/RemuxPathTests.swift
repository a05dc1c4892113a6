import TestSupport
import Testing

@testable import NaluService

/// The way of a remux, and of a container that an encode makes, through the whole service.
@Suite struct RemuxPathTests {
  private func part(_ name: String, _ content: [UInt8]) -> [UInt8] {
    Array(
      "--x\r\nContent-Disposition: form-data; name=\"\(name)\"; filename=\"a\"\r\n\r\n".utf8)
      + content + Array("\r\n".utf8)
  }

  private func form(_ parts: [[UInt8]]) -> [UInt8] {
    parts.flatMap { $0 } + Array("--x--\r\n".utf8)
  }

  @Test func aFileThatIsCompleteHasALength() throws {
    let running = try RunningService()
    let frames = noise(bytes: 64 * 48 * 3 / 2 * 30)
    let reply = running.post("/encode?width=64&height=48&qp=5&format=mp4", frames)
    #expect(reply.status == 200)
    #expect(reply.header("Content-Type") == "video/mp4")
    // Larger than what is handed over in one piece.
    #expect(reply.body.count > 1 << 17)
    #expect(reply.header("Content-Length") == "\(reply.body.count)")
    #expect(reply.header("Nalu-Frames-Out") == "30")
    #expect(BoxTree(reply.body)["moov/trak"].map { SampleTable($0).sizes.count } == 30)

    let back = running.post("/remux?format=h264", reply.body)
    #expect(back.status == 200)
    #expect(back.header("Nalu-Frames-Out") == "30")
    #expect(running.becomesIdle())
    #expect(running.service.spoolDirectory.usedBytes == 0)
  }

  @Test func theSecondPartIsTheSound() throws {
    let running = try RunningService()
    let stream = running.post(
      "/encode?width=64&height=48", movingFrames(width: 64, height: 48, count: 10)
    ).body
    let sound = adts(Array(repeating: [0x21, 0x10, 0x04, 0x60, 0x8C, 0x1C], count: 20))
    let media = part("file", stream)
    for parts in [[media, part("audio", sound)], [part("audio", sound), media]] {
      let reply = running.post(
        "/remux?format=mp4", form(parts), headers: ["Content-Type: multipart/form-data; boundary=x"]
      )
      #expect(reply.status == 200)
      let tracks = BoxTree(reply.body)["moov"]?.children.filter { $0.type == "trak" } ?? []
      #expect(tracks.map { SampleTable($0).sizes.count } == [10, 20])
    }
    let broken = running.post(
      "/remux?format=mp4", form([media, part("audio", [1, 2, 3])]),
      headers: ["Content-Type: multipart/form-data; boundary=x"])
    #expect(broken.status == 422)
    #expect(broken.string("code") == "unrecognised-input")
    // Only where an endpoint has a second part.
    let refused = running.post(
      "/inspect", form([media, part("audio", sound)]),
      headers: ["Content-Type: multipart/form-data; boundary=x"])
    #expect(refused.string("code") == "malformed-multipart")
  }
}
