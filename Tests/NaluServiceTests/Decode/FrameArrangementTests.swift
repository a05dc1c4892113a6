import Testing

@testable import NaluService

@Suite struct FrameArrangementTests {
  private func arranged(_ orders: [Int]) -> DecodeIndex {
    var index = DecodeIndex()
    index.entries = orders.enumerated().map { place, order in
      .init(offset: 10 * place, order: order, size: 10, flags: place == 0 ? .idr : [])
    }
    index.arrange()
    return index
  }

  /// For each frame, those that precede it in decoding order and follow it in output order.
  private func depth(_ orders: [Int]) -> Int {
    orders.indices.map { place in orders[..<place].count { $0 > orders[place] } }.max() ?? 0
  }

  @Test func theDepthIsTheMostFramesThatAreHeldBack() {
    var state: UInt64 = 1
    for length in [1, 2, 5, 20, 60] {
      for _ in 0..<40 {
        var orders = Array(0..<length)
        // Mostly near their places.
        for _ in 0..<length {
          state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
          let place = Int(state >> 33) % length
          orders.swapAt(place, min(length - 1, place + Int(state >> 30 & 3)))
        }
        let expected = depth(orders)
        let index = arranged(orders)
        #expect(index.reorderDepth == (expected <= 16 ? expected : nil), "\(orders)")
        #expect(index.entries.map(\.order) == orders)
      }
    }
  }

  /// All are decoded before the one that is shown first.
  @Test func manyFramesMayWaitForOne() {
    let index = arranged(Array(1..<300_000) + [0])
    #expect(index.reorderDepth == nil)
    #expect(!index.isReliable)
  }
}
