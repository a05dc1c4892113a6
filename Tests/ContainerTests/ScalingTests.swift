import Testing

@testable import Container

@Suite struct ScalingTests {
  @Test(
    arguments: [
      (2, 1000, 1, 2000), (7, 3, 2, 10), (-7, 3, 2, -11), (1 << 62, 4, 8, 1 << 61),
      (1, Int.max, 1, Int.max),
    ])
  func roundsDown(number: Int, factor: Int, divisor: Int, expected: Int) {
    #expect(number.scaled(factor, by: divisor) == expected)
  }

  @Test func hasNoValueThatDoesNotFit() {
    #expect(Int.max.scaled(2, by: 1) == nil)
    #expect(1.scaled(1, by: 0) == nil)
  }
}
