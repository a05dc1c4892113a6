import Glibc
import Platform
import Testing
import TestSupport

@testable import NaluService

/// Results whose temporary file loses what was written.
@Suite struct LostResultTests {
  @Test(arguments: [1000, 1 << 20])
  func isNeverTakenForAWholeOne(size: Int) throws {
    let path = "/tmp/nalu-test-lost-\(UInt64.random(in: .min ... .max))"
    mkdir(path, 0o700)
    defer { rmdir(path) }
    let endpoint = MediaEndpoint(
      name: "lose", summary: "", input: "", outputTypes: ["text/plain"], parameters: [],
      usesCodec: false, problems: []
    ) { (_, context) throws(Problem) in
      Losing(size: size, directory: context.spoolDirectory.path)
    }
    let running = try RunningService(endpoints: [endpoint]) {
      $0.spoolDirectory = path
      // What has no place in memory goes to files.
      $0.limits.maxMemory = 1000
    }
    let reply = running.post("/lose", [1])
    if size < 1 << 16 {
      #expect(reply.status == 500)
      #expect(reply.string("code") == "internal")
    } else {
      #expect(reply.status == 200 && !reply.isComplete)
    }
    #expect(running.becomesIdle())
    try #require(eventually { !running.log.isEmpty })
    #expect(running.log.last?.contains("\"code\":\"internal\"") == true)
  }
}

/// Makes a result, and takes it away from its file when it is over.
private struct Losing: ~Copyable, Operation {
  let blockSize = 16
  let isExpensive = false
  let size: Int
  let directory: String
  private var isEnded = false

  init(size: Int, directory: String) {
    self.size = size
    self.directory = directory
  }

  deinit {
    for descriptor in Int32(3)..<1024 {
      var target = [CChar](repeating: 0, count: 4096)
      let count = readlink("/proc/self/fd/\(descriptor)", &target, 4095)
      guard count > 0 else { continue }
      let name = String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
      guard name.hasPrefix(directory) else { continue }
      ftruncate(descriptor, off_t(size / 2))
    }
  }

  mutating func push(_ block: Block) {}
  mutating func endOfInput() { isEnded = true }

  mutating func step(into output: inout Output) -> Step {
    guard isEnded else { return .needsInput }
    output.answer.start = .whenComplete
    output.bytes = [UInt8](repeating: 7, count: size)
    return .finished
  }
}
