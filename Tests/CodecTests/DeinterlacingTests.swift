import CFFmpeg
import Platform
import Testing

@testable import Codec

@Suite struct DeinterlacingTests {
  /// A gray picture whose samples `sample` gives: column, row.
  private func picture(
    _ format: PixelFormat, _ width: Int, _ height: Int, isTopFieldFirst: Bool = true,
    _ sample: (Int, Int) -> Int
  ) throws -> Frame {
    let block = Block(capacity: format.bytesPerFrame(width: width, height: height))
    for y in 0..<height {
      for x in 0..<width {
        let value = sample(x, y)
        block.append(
          [UInt8(value & 255), UInt8(value >> 8)].span.extracting(0..<format.bytesPerSample))
      }
    }
    let frame = try Frame(over: block, format: format, width: width, height: height)
    frame.av.pointer.pointee.interlaced_frame = 1
    frame.av.pointer.pointee.top_field_first = isTopFieldFirst ? 1 : 0
    return frame
  }

  private func samples(_ frame: borrowing Frame) -> [UInt8] {
    var bytes: [UInt8] = []
    frame.appendSamples(to: &bytes)
    return bytes
  }

  /// A bar that has moved between the fields.
  private func moved(_ x: Int, _ y: Int) -> Int {
    let start = y & 1 == 0 ? 8 : 16
    return x >= start && x < start + 8 ? 200 : 40
  }

  @Test(arguments: [true, false])
  func aMovingBarIsWhereTheFirstFieldHasIt(isTopFieldFirst: Bool) throws {
    let frame = try picture(.gray, 32, 16, isTopFieldFirst: isTopFieldFirst, moved)
    let result = samples(try frame.deinterlaced())
    let start = isTopFieldFirst ? 8 : 16
    for y in 0..<16 {
      for x in 0..<32 {
        #expect(result[32 * y + x] == (x >= start && x < start + 8 ? 200 : 40), "\(x),\(y)")
      }
    }
  }

  @Test func deepSamplesAreTreatedAlike() throws {
    let frame = try picture(.gray10le, 32, 16) { 4 * moved($0, $1) }
    let result = samples(try frame.deinterlaced())
    #expect((0..<32).allSatisfy { result[64 + 2 * $0] == result[2 * $0] })
  }

  /// What does not move keeps every line, horizontal edges included.
  @Test func aStillPictureStaysAsItIs() throws {
    let still: (Int, Int) -> Int = { x, y in y < 7 ? 30 + x : 180 - x }
    let frame = try picture(.gray, 32, 16, still)
    let before = samples(frame)
    #expect(samples(try frame.deinterlaced()) == before)
  }

  @Test func aProgressivePictureStaysAsItIs() throws {
    let frame = try picture(.gray, 32, 16, moved)
    frame.av.pointer.pointee.interlaced_frame = 0
    let before = samples(frame)
    #expect(samples(try frame.deinterlaced()) == before)
  }

  @Test(arguments: [(1, 1), (1, 2), (2, 1), (3, 3)])
  func theSmallestPicturesAreNoProblem(size: (Int, Int)) throws {
    let frame = try picture(.gray, size.0, size.1, moved)
    #expect(samples(try frame.deinterlaced()).count == size.0 * size.1)
  }
}
