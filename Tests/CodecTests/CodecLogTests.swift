import Platform
import Testing

@testable import Codec

@Suite struct CodecLogTests {
  @Test func handsOnWhatLibx264Says() async {
    // In a process of its own: the log has one receiver for all.
    await #expect(processExitsWith: .success) {
      let lines = Lock<[String]>([])
      CodecLog.send(to: .init(level: .info) { _, line in lines.withLock { $0.append(line) } })
      try encodeOnePicture()
      let said = lines.withLock { $0 }
      #expect(said.contains { $0.contains("profile High") })
      #expect(!said.contains { $0.contains("\n") })
      lines.withLock { $0 = [] }
      CodecLog.send(to: .init(level: .error) { _, line in lines.withLock { $0.append(line) } })
      try encodeOnePicture()
      #expect(lines.withLock { $0 } == [])
    }
  }

  @Test func saysNothingOnStandardError() async throws {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      try encodeOnePicture()
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(!text.contains("264"))
  }
}

private func encodeOnePicture() throws {
  var samples = RawVideoSamples(.yuv420p, 16, 16)
  let settings = VideoEncoder.Settings(
    width: 16, height: 16, pixelFormat: .yuv420p, chroma: .yuv420)
  #expect(try VideoEncoder.encode([samples.next()], settings).count == 1)
}
