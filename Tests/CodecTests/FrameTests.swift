import Platform
import Testing

@testable import Codec

@Suite struct FrameTests {
  @Test func keepsTheBlockAliveAsLongAsItLives() throws {
    var block: Block? = Block([UInt8](repeating: 7, count: 6))
    weak let watched = block
    do {
      let frame = try Frame(over: #require(block), format: .yuv420p, width: 2, height: 2)
      block = nil
      #expect(watched != nil)
      _ = consume frame
    }
    #expect(watched == nil)
  }

  @Test func pointsIntoTheBlockWithoutACopy() throws {
    let block = Block([UInt8](0..<12))
    let frame = try Frame(over: block, at: 6, format: .yuv420p, width: 2, height: 2)
    let base = block.baseAddress.assumingMemoryBound(to: UInt8.self)
    #expect(frame.av.pointer.plane(0) == base + 6)
    #expect(frame.av.pointer.plane(1) == base + 10)
    #expect(frame.av.pointer.plane(2) == base + 11)
    #expect((frame.width, frame.height) == (2, 2))
  }

  @Test func exchangesTheChromaPlanesOfYV12() throws {
    let block = Block([UInt8](0..<6))
    let frame = try Frame(over: block, format: .yv12, width: 2, height: 2)
    let base = block.baseAddress.assumingMemoryBound(to: UInt8.self)
    #expect(frame.av.pointer.plane(1) == base + 5)
    #expect(frame.av.pointer.plane(2) == base + 4)
  }
}
