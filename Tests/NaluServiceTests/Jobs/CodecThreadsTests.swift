import Testing

@testable import NaluService

/// What a codec that is opened gets of the processors, as libx264 states it in its SEI message.
@Suite struct CodecThreadsTests {
  private static let media = movingPictures(64, 256, count: 3)

  private static func harness() -> JobHarness {
    var limits = Limits()
    limits.maxThreads = 4
    return JobHarness(limits: limits)
  }

  private static func operation(_ query: String, _ limits: Limits) throws -> EncodeOperation {
    try EncodeOperation(
      .query("width=64&height=256&preset=ultrafast\(query)"), limits: limits,
      spoolDirectory: .test)
  }

  private static func threads(in stream: [UInt8]) -> Int? {
    let text = String(decoding: stream.prefix(1000), as: UTF8.self)
    return text.firstMatch(of: #/ threads=(\d+)/#).flatMap { Int($0.1) }
  }

  @Test(arguments: [("", 4), ("&threads=3", 3), ("&threads=64", 4)])
  func areAllForAJobThatIsAlone(query: String, expected: Int) throws {
    let harness = Self.harness()
    let (job, client) = harness.start(try Self.operation(query, harness.limits))
    #expect(client.upload(Self.media, to: job))
    _ = client.waitForAnswer()
    #expect(Self.threads(in: client.download(from: job) ?? []) == expected)
  }

  @Test(arguments: [("", 2), ("&threads=3", 3)])
  func areSharedWithAJobThatHoldsACodec(query: String, expected: Int) throws {
    let harness = Self.harness()
    let (first, _) = harness.start(try Self.operation("", harness.limits))
    let isTaken = first.offer(Self.media.span.extracting(0..<64 * 256 * 3 / 2))
    #expect(isTaken)
    #expect(harness.admission.figures.admitted == 1)
    let (job, client) = harness.start(try Self.operation(query, harness.limits))
    #expect(client.upload(Self.media, to: job))
    _ = client.waitForAnswer()
    #expect(Self.threads(in: client.download(from: job) ?? []) == expected)
    first.cancel()
  }
}
