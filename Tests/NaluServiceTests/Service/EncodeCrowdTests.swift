import TestSupport
import Testing

@testable import NaluService

/// Eight encodes at once, of which some clients do not see the end.
@Suite struct EncodeCrowdTests {
  private static let frames = movingFrames(width: 96, height: 96, count: 24)

  private static let queries = [
    "preset=ultrafast", "preset=medium&threads=2", "realtime=1&threads=2",
    "preset=fast&format=fmp4", "preset=ultrafast&format=mp4&bframes=2",
  ]

  /// What a client does when it has sent some frames.
  private enum Ending: CaseIterable {
    case staysToTheEnd, leavesInUpload, resetsInUpload, resetsBeforeTheAnswer, leavesInAnswer
  }

  @Test(arguments: 0..<6)
  func leavesNothingBehindAndHarmsNobody(round: Int) throws {
    let running = try RunningService {
      $0.limits.workers = 4
      $0.limits.jobs = 8
      $0.limits.maxThreads = 4
    }
    let size = Self.frames.count / 24
    let clients = (0..<8).map { number in
      let client = running.connect(timeout: 100)
      let query = Self.queries[(number + round) % Self.queries.count]
      client.send(
        head("POST", "/encode?width=96&height=96&\(query)", length: Self.frames.count))
      client.send(Array(Self.frames[..<(size * (2 + number * 2 + round) + 7)]))
      return client
    }
    try #require(eventually { running.service.admission.figures.admitted >= 8 })

    for (number, client) in clients.enumerated() {
      let ending = Ending.allCases[number % Ending.allCases.count]
      let rest = Array(Self.frames[(size * (2 + number * 2 + round) + 7)...])
      switch ending {
      case .leavesInUpload: client.hangUp()
      case .resetsInUpload: client.reset()
      case .staysToTheEnd, .resetsBeforeTheAnswer, .leavesInAnswer: client.send(rest)
      }
      if ending == .resetsBeforeTheAnswer { client.reset() }
    }
    for (number, client) in clients.enumerated() {
      switch Ending.allCases[number % Ending.allCases.count] {
      case .staysToTheEnd:
        let reply = client.reply()
        #expect(reply.status == 200 && reply.isComplete)
        #expect(reply.header("Nalu-Frames-Out") == "24")
      case .leavesInAnswer:
        #expect(client.canRead(500))
        client.reset()
      case .leavesInUpload, .resetsInUpload, .resetsBeforeTheAnswer: break
      }
    }
    #expect(running.becomesIdle())
    #expect(running.service.spoolDirectory.usedBytes == 0)
    #expect(running.service.spoolDirectory.memory.usedBytes == 0)
  }
}
