import Platform
import Testing

@Suite struct LineRateTests {
  @Test func letsSoManyPassASecondAndCountsTheRest() {
    var rate = LineRate(limit: 2)
    let second: UInt64 = 1_000_000_000
    // Times in tenths of a second, and what becomes of a line then.
    for (tenth, isPassed, omitted) in [
      (50, true, 0), (51, true, 0), (52, false, 0), (59, false, 0), (60, true, 2), (61, true, 0),
      (70, true, 0), (99, true, 0),
    ] as [(UInt64, Bool, Int)] {
      let taken = rate.take(at: tenth * second / 10)
      #expect(taken.isPassed == isPassed && taken.omitted == omitted, "at \(tenth)")
    }
  }
}
