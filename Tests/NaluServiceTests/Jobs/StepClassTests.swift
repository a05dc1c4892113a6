import Platform
import Testing

@testable import NaluService

@Suite struct StepClassTests {
  private static let slow = Limits.slowStep

  @Test(
    arguments: [
      ([], false), ([slow], false), ([slow + 1], true), ([4 * slow, 0], true),
      ([4 * slow, 0, 0], false), ([8 * slow, 0, 0, slow + 1], true),
    ] as [([UInt64], Bool)])
  func aJobIsSlowForAWhileAfterASlowStep(steps: [UInt64], isSlow: Bool) {
    var pace = StepPace()
    for step in steps { pace.took(step) }
    #expect(pace.isSlow == isSlow)
  }

  @Test(arguments: [(false, StepClass.quick), (true, .slow)])
  func aJobWithACodecIsSlowWhereItsPicturesAreLarge(isLarge: Bool, expected: StepClass) {
    let harness = JobHarness()
    let (job, _) = harness.start(RepeatingOperation(isExpensive: true, isLarge: isLarge))
    #expect(job.stepClass == .light)
    let isTaken = job.offer([UInt8](repeating: 0, count: 1024).span)
    #expect(isTaken)
    job.state.withLock { $0.pace = StepPace() }
    #expect(job.stepClass == expected)
    job.state.withLock { $0.pace.took(2 * Limits.slowStep) }
    #expect(job.stepClass == .slow)
    job.cancel()
  }

  @Test(
    arguments: [
      ("width=640&height=480", false), ("width=640&height=480&preset=placebo", false),
      ("width=1280&height=720&preset=placebo", true), ("width=1920&height=1080", false),
      ("width=1920&height=1080&preset=veryslow", true), ("width=8192&height=4352", true),
      ("width=8192&height=4352&preset=ultrafast", true),
    ])
  func anEncodeIsLargeBySizeAndPreset(query: String, isLarge: Bool) throws {
    let operation = try EncodeOperation(
      .query(query), limits: Limits(), spoolDirectory: .test)
    let found = operation.isLarge
    #expect(found == isLarge)
  }

  /// The header costs no codec; what is behind it waits for one.
  @Test func aY4MEncodeIsExpensiveOnceItsHeaderIsRead() throws {
    var operation = try EncodeOperation(
      .query("preset=placebo"), limits: Limits(), spoolDirectory: .test)
    var output = Output()
    let header = Array("YUV4MPEG2 W1280 H720 F25:1\nFRAME\n".utf8)
    let frame = [UInt8](repeating: 9, count: 1280 * 720 * 3 / 2)
    var isExpensive = operation.isExpensive
    #expect(!isExpensive)
    try operation.push(Block(header + frame))
    let first = try operation.step(into: &output)
    #expect(first == .again)
    isExpensive = operation.isExpensive
    let isLarge = operation.isLarge
    #expect(isExpensive && isLarge)
    let framesBefore = output.counters.framesIn
    #expect(framesBefore == 0)
    let second = try operation.step(into: &output)
    #expect(second == .needsInput)
    let frames = output.counters.framesIn
    #expect(frames == 1)
  }

  @Test(
    arguments: [
      ("", false), ("format=yuv&width=4096&height=2304", true), ("width=2560&height=1440", false),
      ("width=2560&height=1664", true), ("width=2560", false), ("height=4352", true),
      ("width=2048&height=1088&deinterlace=1", true),
    ])
  func aDecodeIsLargeByItsResult(query: String, isLarge: Bool) throws {
    let media = movingPictures(64, 32, count: 1)
    let stream = try encode("width=64&height=32&preset=ultrafast", media).bytes
    let pairs = query.split(separator: "&").map { pair in
      let parts = pair.split(separator: "=")
      return (name: String(parts[0]), value: String(parts[1]))
    }
    var operation = try DecodeOperation(
      DecodeSettings(ParameterValues(pairs, table: DecodeParameters.all)), limits: Limits(),
      spoolDirectory: .test)
    var output = Output()
    try operation.push(Block(stream))
    while try operation.step(into: &output) == .again {}
    try operation.endOfInput()
    var isExpensive = operation.isExpensive
    while !isExpensive {
      _ = try operation.step(into: &output)
      isExpensive = operation.isExpensive
    }
    let found = operation.isLarge
    #expect(found == isLarge)
  }
}
