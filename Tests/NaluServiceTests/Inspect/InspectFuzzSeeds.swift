import Glibc
import Testing

/// Where `Fuzz/run` wants streams as files.
private let seedFolder = getenv("NALU_FUZZ_SEEDS").map { String(cString: $0) }

@Suite struct InspectFuzzSeeds {
  /// The streams of the case tables that are short enough to be mutated quickly.
  private var streams: [[UInt8]] {
    let streams =
      InspectFindingTests.damages.map(\.stream) + InspectRecognitionTests.otherData
      + [InspectFormTests.rich(sliceSize: 60), InspectReportTests.small]
      + InspectCutTests.cases.map { [0, 0, 0, 1] + $0.unit }
    return streams.filter { $0.count < 2000 }
  }

  @Test(.enabled(if: seedFolder != nil, "Fuzz/run asks for it"))
  func writesFuzzSeedsOfReports() throws {
    let folder = try #require(seedFolder) + "/ReportFuzz"
    mkdir(folder, 0o755)
    for (index, stream) in streams.enumerated() {
      for form in 0..<9 as Range<UInt8> {
        let choices = [form, 0xFF, 0, 0, 0, 0, form % 8, UInt8(index)]
        let seed = choices + stream
        let file = try #require(fopen("\(folder)/stream-\(index)-\(form)", "wb"))
        #expect(fwrite(seed, 1, seed.count, file) == seed.count)
        fclose(file)
      }
    }
  }
}
