import Testing

@testable import NaluService

@Suite struct ProgressTextTests {
  @Test(
    arguments: [
      (48_000_000, 12_340_000, 310, 6.44, "12.3 MB of 48.0 MB (25 %), 310 frames, 48.1 fps, 0:06"),
      (nil, 12_340_000, 0, 61, "12.3 MB, 1:01"), (nil, 0, 1, 0, "0.0 MB, 1 frames, 0:00"),
      (1000, 2000, 0, 3600, "0.0 MB of 0.0 MB (100 %), 60:00"), (0, 0, 0, 1, "0.0 MB, 0:01"),
    ] as [(Int?, Int, Int, Double, String)])
  func saysWhatIsKnown(size: Int?, read: Int, frames: Int, seconds: Double, text: String) {
    let line = ProgressText(size: size).line(bytesRead: read, frames: frames, seconds: seconds)
    #expect(line == text)
  }
}
