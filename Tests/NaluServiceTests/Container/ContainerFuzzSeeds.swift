import Glibc
import Testing

/// Where `Fuzz/run` wants files.
private let seedFolder = getenv("NALU_FUZZ_SEEDS").map { String(cString: $0) }

@Suite struct ContainerFuzzSeeds {
  @Test(.enabled(if: seedFolder != nil, "Fuzz/run asks for it"))
  func writesFuzzSeedsOfContainers() throws {
    let folder = try #require(seedFolder) + "/ContainerFuzz"
    mkdir(folder, 0o755)
    let files =
      InspectContainerTests.cases.map(\.file) + ContainerFindingTests.damages.map(\.file)
      + HostileNumberTests.files.map(\.file).filter { $0.count < 4096 }
    for (index, content) in files.enumerated() {
      for choice in [3, 31, 251] as [UInt8] {
        let seed = [choice] + content
        let file = try #require(fopen("\(folder)/\(index)-\(choice)", "wb"))
        #expect(fwrite(seed, 1, seed.count, file) == seed.count)
        fclose(file)
      }
    }
  }
}
