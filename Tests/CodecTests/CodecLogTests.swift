import Dispatch
import Platform
import Testing

@testable import Codec

@Suite struct CodecLogTests {
  @Test func keepsWhatLibx264SaysForTheThreadThatOpenedIt() throws {
    let messages = CodecMessages(level: .info)
    messages.attach()
    defer { messages.detach() }
    try encodeOnePicture()
    let said = messages.take()
    #expect(said.messages.contains { $0.module == "libx264" && $0.text.contains("profile High") })
    #expect(!said.messages.contains { $0.text.contains("\n") })
    #expect(said.omitted == 0)
    #expect(messages.take().messages.isEmpty)
  }

  @Test(arguments: [CodecMessages.Level.error, nil])
  func keepsOnlyWhatIsImportantEnough(level: CodecMessages.Level?) throws {
    let messages = CodecMessages(level: level)
    messages.attach()
    defer { messages.detach() }
    try encodeOnePicture()
    #expect(messages.take().messages.isEmpty)
  }

  @Test func keepsTheMessagesOfJobsApart() throws {
    let jobs = (0..<4).map { _ in CodecMessages(level: .info) }
    DispatchQueue.concurrentPerform(iterations: jobs.count) { index in
      jobs[index].attach()
      defer { jobs[index].detach() }
      try? encodeOnePicture(width: 16 * (index + 1), threads: 2)
    }
    for (index, job) in jobs.enumerated() {
      let said = job.take().messages.map(\.text)
      #expect(said.count { $0.contains("profile High") } == 1, "job \(index)")
    }
  }

  @Test func keepsAFewMessagesAndCountsTheRest() throws {
    let messages = CodecMessages(level: .debug)
    messages.attach()
    defer { messages.detach() }
    for _ in 0..<CodecMessages.limit { try encodeOnePicture() }
    let said = messages.take()
    #expect(said.messages.count == CodecMessages.limit)
    #expect(said.omitted > 0)
  }

  @Test func saysNothingOnStandardError() async throws {
    let result = await #expect(
      processExitsWith: .success, observing: [\.standardErrorContent]
    ) {
      try encodeOnePicture()
      let messages = CodecMessages(level: .info)
      messages.attach()
      try encodeOnePicture()
    }
    let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(!text.contains("264"))
  }
}

private func encodeOnePicture(width: Int = 16, threads: Int = 1) throws {
  var samples = RawVideoSamples(.yuv420p, width, 16)
  var settings = VideoEncoder.Settings(
    width: width, height: 16, pixelFormat: .yuv420p, chroma: .yuv420)
  settings.threads = threads
  #expect(try VideoEncoder.encode([samples.next()], settings).count == 1)
}
