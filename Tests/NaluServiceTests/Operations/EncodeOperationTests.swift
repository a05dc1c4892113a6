import H264
import Platform
import Testing

@testable import NaluService

@Suite struct EncodeOperationTests {
  @Test(
    arguments: [1, 2, 3, 7, 60],
    ["preset=medium", "realtime=1", "bframes=16&preset=ultrafast&threads=2", "gop=1"])
  func givesOnePictureForEveryFrame(count: Int, query: String) throws {
    let media = movingPictures(32, 16, count: count)
    let result = try encode("width=32&height=16&\(query)", media)
    #expect(try EncodedStream(result.bytes).accessUnits.count == count)
    #expect(result.counters.framesIn == count)
    #expect(result.counters.framesOut == count)
    #expect(result.header("Nalu-Frames-In") == "\(count)")
    #expect(result.header("Nalu-Frames-Out") == "\(count)")
  }

  @Test(arguments: [[1], [7], [100, 3], [768], [65536]])
  func givesTheSameForBlocksOfAnySize(blockSizes: [Int]) throws {
    let media = movingPictures(32, 16, count: 5)
    let query = "width=32&height=16&preset=ultrafast"
    let expected = try encode(query, media).bytes
    #expect(try encode(query, media, blockSizes: blockSizes).bytes == expected)
  }

  @Test func asksForOneFrameABlock() throws {
    let settings = try EncodeSettings.query("width=66&height=50&pix_fmt=yuv422p10le")
    let operation = try EncodeOperation(settings, limits: .init(), spoolDirectory: .test)
    #expect(operation.blockSize == 66 * 50 * 2 * 2)
    let isExpensive = operation.isExpensive
    #expect(isExpensive)
  }

  @Test func givesEachFrameAtOnceInRealTime() throws {
    for query in ["", "&slices=2", "&threads=1"] {
      let media = movingPictures(64, 128, count: 6)
      let result = try encode("width=64&height=128&realtime=1\(query)", media)
      // A step for each frame; those at the end find nothing left.
      #expect(result.steps.filter { $0 > 0 }.count == 6)
      #expect(result.steps.drop { $0 == 0 }.prefix(6).allSatisfy { $0 > 0 })
    }
  }

  @Test func flushesOneAccessUnitAStep() throws {
    let media = movingPictures(32, 16, count: 30)
    let result = try encode("width=32&height=16&threads=1", media)
    let sizes = try EncodedStream(result.bytes).accessUnits.map(\.size)
    #expect(result.steps.filter { $0 > 0 } == sizes)
  }

  @Test func says422WhenTheKnownLengthIsNoWholeNumberOfFrames() throws {
    let media = [UInt8](repeating: 0, count: 200_000)
    let problem = #expect(throws: Problem.self) {
      try encode("width=320&height=240", media, contentLength: 200_000)
    }
    #expect(problem?.code == .partialFrame)
    #expect(
      problem?.detail
        == "200000 bytes are 1 frame of 115200 bytes and a remainder of 84800 bytes")
    #expect(problem?.members == [.init("frame_size", 115_200), .init("remainder", 84_800)])
  }

  @Test(arguments: [(1, 1), (768, 0), (769, 1), (2303, 767)])
  func saysWhatIsLeftOverWhenTheLengthIsNotKnown(length: Int, remainder: Int) throws {
    let media = [UInt8](repeating: 0, count: length)
    guard remainder > 0 else {
      #expect(try encode("width=32&height=16", media).counters.framesOut == 1)
      return
    }
    let problem = #expect(throws: Problem.self) { try encode("width=32&height=16", media) }
    #expect(problem?.code == .partialFrame)
    #expect(problem?.members == [.init("frame_size", 768), .init("remainder", remainder)])
  }

  @Test func refusesAnEmptyBody() throws {
    for (query, length) in [("width=32&height=16", nil), ("", nil), ("width=32&height=16", 0)] {
      let problem = #expect(throws: Problem.self) {
        try encode(query, [], contentLength: length)
      }
      #expect(problem?.code == .emptyBody)
    }
  }

  @Test func refusesMoreFramesThanTheLimit() throws {
    var limits = Limits()
    limits.maxFrames = 2
    let media = movingPictures(32, 16, count: 3)
    #expect(
      try encode("width=32&height=16", movingPictures(32, 16, count: 2), limits: limits).counters
        .framesOut == 2)
    for length in [nil, media.count] {
      let problem = #expect(throws: Problem.self) {
        try encode("width=32&height=16", media, limits: limits, contentLength: length)
      }
      #expect(problem?.code == .tooManyFrames)
      #expect(problem?.members == [.init("limit", 2)])
    }
  }

  @Test(
    arguments: [
      ("width=1000&height=10", "width"), ("width=10&height=1000", "height"),
      ("width=100&height=90", "width"), ("width=90&height=100", "height"),
    ])
  func refusesPicturesBeyondTheLimits(query: String, parameter: String) throws {
    var limits = Limits()
    limits.maxDimension = 500
    limits.maxFramePixels = 8000
    let problem = #expect(throws: Problem.self) {
      try EncodeOperation(.query(query), limits: limits, spoolDirectory: .test).blockSize
    }
    #expect(problem?.code == .dimensionsTooLarge)
    #expect(problem?.parameter == parameter)
  }

  /// A live source that is stopped ends in the middle of a frame, which then does not count.
  @Test(arguments: [true, false])
  func aStoppedInputHasNoIncompleteFrame(isY4M: Bool) throws {
    let query = isY4M ? "preset=ultrafast" : "preset=ultrafast&width=16&height=16"
    let frame = [UInt8](repeating: 90, count: 384)
    let header = [UInt8]((isY4M ? "YUV4MPEG2 W16 H16 F25:1\n" : "").utf8)
    let mark = [UInt8]((isY4M ? "FRAME\n" : "").utf8)
    func stopped(_ media: [UInt8]) throws -> Counters {
      var operation = try EncodeOperation(
        .query(query), limits: .init(), spoolDirectory: .test)
      var output = Output()
      try operation.push(Block(media))
      while try operation.step(into: &output) == .again {}
      try operation.endOfStoppedInput()
      while try operation.step(into: &output) != .finished {}
      return output.counters
    }
    let two = header + mark + frame + mark + frame
    #expect(try stopped(two + mark + frame.prefix(100)).framesOut == 2)
    #expect(try stopped(two).framesOut == 2)
    if isY4M { #expect(try stopped(two + [0x46]).framesOut == 2) }
    #expect(throws: Problem.self) { try stopped(header + mark + frame.prefix(100)) }
  }

  @Test func refusesAHugeY4MFrameBeforeItMakesRoomForIt() throws {
    let problem = #expect(throws: Problem.self) {
      try encode("", [UInt8]("YUV4MPEG2 W999999 H999999\nFRAME\nabc".utf8))
    }
    #expect(problem?.code == .dimensionsTooLarge)
    #expect(problem?.parameter == nil)
  }

  /// libx264 would end the process.
  @Test(arguments: ["yuv420p10le", "yuv422p10le", "yuv444p10le"])
  func refusesSamplesBeyondTheBitDepth(format: String) throws {
    let query = "width=2&height=2&preset=ultrafast&pix_fmt=\(format)"
    let size = try EncodeOperation(.query(query), limits: .init(), spoolDirectory: .test).blockSize
    var media = [UInt8](repeating: 0, count: 2 * size)
    for place in stride(from: 1, to: size, by: 2) { media[place] = 3 }
    #expect(try encode(query, media).counters.framesOut == 2)
    for place in [1, size - 1] {
      media[size + place] = 4
      let problem = #expect(throws: Problem.self) { try encode(query, media) }
      #expect(problem?.code == .unrecognisedInput)
      #expect(problem?.parameter == "pix_fmt")
      #expect(problem?.members == [.init("frame", 1)])
      media[size + place] = 0
    }
  }

  @Test func ignoresTheLowBitsOfP010() throws {
    let noise = (0..<96).map { UInt8(truncatingIfNeeded: 37 * $0 ^ 91) }
    #expect(try encode("width=8&height=4&pix_fmt=p010le", noise).counters.framesOut == 1)
  }

  @Test func framesNALUnitsWithLengthsForAVCC() throws {
    let media = movingPictures(64, 48, count: 12)
    let query = "width=64&height=48&gop=5&slices=2&threads=1"
    let annexB = try encode(query, media)
    let avcc = try encode("\(query)&format=avcc", media)
    #expect(annexB.answer.contentType == "video/h264")
    #expect(avcc.answer.contentType == "application/octet-stream")
    let expected = try EncodedStream(annexB.bytes).accessUnits.flatMap(\.units).map(\.bytes)
    #expect(try lengthPrefixedUnits(avcc.bytes) == expected)
  }

  @Test(arguments: ["", "&format=avcc", "&aud=1", "&color_range=tv", "&color_range=tv&format=avcc"])
  func sendsParameterSetsOnceWhenTheyAreNotRepeated(query: String) throws {
    let media = movingPictures(64, 48, count: 11)
    let full = "width=64&height=48&gop=4&threads=1\(query)"
    let repeated = try units(of: encode(full, media).bytes, full)
    let once = try units(of: encode("\(full)&repeat_headers=0", media).bytes, full)
    func isSet(_ unit: [UInt8]) -> Bool { [7, 8].contains(unit[0] & 31) }
    #expect(repeated.count(where: isSet) == 6)
    #expect(once.count(where: isSet) == 2)
    #expect(once.filter { !isSet($0) } == repeated.filter { !isSet($0) })
  }

  @Test func beginsEveryAccessUnitWithAZeroByteWhereSetsWereDropped() throws {
    let media = movingPictures(64, 48, count: 11)
    let result = try encode("width=64&height=48&gop=4&repeat_headers=0", media)
    for unit in try EncodedStream(result.bytes).accessUnits {
      #expect(unit.units[0].startCodeSize == 4)
    }
  }

  private func units(of bytes: [UInt8], _ query: String) throws -> [[UInt8]] {
    if query.contains("avcc") { return try lengthPrefixedUnits(bytes) }
    return try EncodedStream(bytes).accessUnits.flatMap(\.units).map(\.bytes)
  }

  private func lengthPrefixedUnits(_ bytes: [UInt8]) throws -> [[UInt8]] {
    var units: [[UInt8]] = []
    var position = 0
    while position < bytes.count {
      try #require(position + 4 <= bytes.count)
      let length = bytes[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
      try #require(length > 0 && position + 4 + length <= bytes.count)
      units.append(Array(bytes[position + 4..<position + 4 + length]))
      position += 4 + length
    }
    return units
  }
}
