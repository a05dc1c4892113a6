import Testing

@testable import NaluService

/// Which frames come out, and in which order.
@Suite struct DecodeOrderTests {
  private let stream = PCMStream(widthInMbs: 2, heightInMbs: 1)

  /// IDR at `start`, then groups of one picture shown third, and two shown before it. The luma of a
  /// frame is its number.
  private func reordered(_ groups: Int, start: Int = 0, idr: Int = 0) -> [UInt8] {
    var bytes = stream.parameterSets
    bytes += stream.flat(.idr(id: idr), value: start)
    var frameNum = 1
    for group in 0..<groups {
      let first = 3 * group + 1
      bytes += stream.flat(
        .intra, frameNum: frameNum, order: 2 * (first + 2), value: start + first + 2)
      frameNum += 1
      for number in first..<first + 2 {
        bytes += stream.flat(
          .intra, frameNum: frameNum, order: 2 * number, isReference: false,
          value: start + number)
      }
    }
    return bytes
  }

  /// The luma of each frame of a `yuv` answer.
  private func lumas(_ decoded: Decoded) -> [Int] {
    let size = stream.width * stream.height * 3 / 2
    return stride(from: 0, to: decoded.bytes.count, by: size).map { Int(decoded.bytes[$0]) }
  }

  private func yuv(
    _ bytes: [UInt8], _ frames: String = "all", piece: Int? = nil
  ) throws -> Decoded {
    try decode(bytes, decodeSettings(["format": "yuv", "frames": frames]), piece: piece)
  }

  @Test(arguments: [1, 2, 7, 1000, 262_144])
  func everyFrameComesOutInOutputOrderHoweverTheUploadIsCut(piece: Int) throws {
    let decoded = try yuv(reordered(4), piece: piece)
    #expect(lumas(decoded) == Array(0...12))
    #expect(decoded.trailer("Nalu-Frames-Out") == "13")
    #expect(decoded.trailer("Nalu-Frames-Skipped") == "0")
    #expect(decoded.trailer("Nalu-Decode-Errors") == "0")
  }

  @Test(arguments: [
    ("0", [0]), ("5", [5]), ("last", [25]), ("0,3-4,24", [0, 3, 4, 24]),
    ("7-9,8-10", [7, 8, 9, 10]), ("every:10", [0, 10, 20]), ("keyframes", [0, 13]),
    ("13", [13]), ("12-13", [12, 13]), ("25", [25]), ("every:30", [0]),
  ])
  func framesAreNumberedInOutputOrder(selection: String, expected: [Int]) throws {
    let bytes = reordered(4) + reordered(4, start: 13, idr: 1)
    #expect(try lumas(yuv(bytes, selection)) == expected)
  }

  /// Without an IDR picture at the start, nothing is known before decoding.
  @Test(arguments: [
    ("0", [20]), ("last", [24]), ("1,3", [21, 23]), ("every:2", [20, 22, 24]), ("keyframes", [20]),
  ])
  func picturesBeforeTheFirstIDRAreNotNumbered(selection: String, expected: [Int]) throws {
    var bytes = stream.parameterSets
    for number in 0..<3 {
      bytes += stream.flat(.predicted, frameNum: number, order: 2 * number, value: number)
    }
    bytes += stream.flat(.idr(id: 0), value: 20)
    for number in 1..<5 {
      bytes += stream.flat(.intra, frameNum: number, order: 2 * number, value: 20 + number)
    }
    let decoded = try yuv(bytes, selection)
    #expect(lumas(decoded) == expected)
    #expect(decoded.trailer("Nalu-Frames-Skipped") == "3")
    let problem = #expect(throws: Problem.self) { try yuv(bytes, "5") }
    #expect(problem?.code == .frameNotFound)
    #expect(problem?.members.contains(.init("frame_count", 5)) == true)
  }

  @Test func aRecoveryPointIsAStartAndAKeyframe() throws {
    var bytes = stream.parameterSets
    for number in 0..<3 {
      bytes += stream.flat(.predicted, frameNum: number, order: 2 * number - 6, value: 1)
    }
    bytes += PCMStream.recoveryPoint(0)
    bytes += stream.flat(.intra, frameNum: 3, order: 2, value: 2)
    bytes += stream.flat(.intra, frameNum: 4, order: 4, value: 3)
    bytes += PCMStream.recoveryPoint(0)
    bytes += stream.flat(.intra, frameNum: 5, order: 6, value: 4)
    let decoded = try yuv(bytes)
    #expect(lumas(decoded) == [2, 3, 4])
    #expect(decoded.trailer("Nalu-Frames-Skipped") == "3")
    #expect(try lumas(yuv(bytes, "keyframes")) == [2, 4])
  }

  @Test(arguments: ["26", "20-26", "every:5,3", "0,99"])
  func askingPastTheEndNamesTheCount(selection: String) throws {
    guard let frames = FrameSelection(selection) else {
      #expect(selection == "every:5,3")
      return
    }
    var settings = DecodeSettings()
    settings.frames = frames
    let bytes = reordered(4) + reordered(4, start: 13, idr: 1)
    let problem = #expect(throws: Problem.self) { try decode(bytes, settings) }
    #expect(problem?.code == .frameNotFound)
    #expect(problem?.members.contains(.init("frame_count", 26)) == true)
  }

  @Test func aTimeIsTheFrameShownThen() throws {
    var timed = stream
    timed.timing = (1001, 60000)
    var bytes = timed.parameterSets + timed.flat(.idr(id: 0), value: 0)
    for number in 1..<40 {
      bytes += timed.flat(.intra, frameNum: number, order: 2 * number, value: number)
    }
    #expect(try lumas(yuv(bytes, "t:0")) == [0])
    #expect(try lumas(yuv(bytes, "t:0.9999")) == [29])
    #expect(try lumas(yuv(bytes, "t:1.001")) == [30])
    let problem = #expect(throws: Problem.self) { try yuv(bytes, "t:2") }
    #expect(problem?.code == .frameNotFound)
    #expect(
      problem?.detail
        == "No frame is shown at second 2; the stream has 40 frames and ends at second 1.335.")
    let untimed = #expect(throws: Problem.self) { try yuv(reordered(1), "t:0") }
    #expect(untimed?.code == .frameNotFound)
  }

  /// The parameter sets of a size come back when decoding jumps to where they were in force long ago.
  @Test func aLateFrameIsDecodedWithTheParameterSetsInForceThere() throws {
    var bytes = stream.parameterSets
    for number in 0..<6 { bytes += stream.flat(.idr(id: number & 1), value: 10 + number) }
    #expect(try lumas(yuv(bytes, "4-5")) == [14, 15])
    #expect(try lumas(yuv(bytes, "last")) == [15])
  }
}

@Suite struct FrameSelectionTests {
  @Test(arguments: [
    ("0", FrameSelection.numbers([0...0])), ("all", .all), ("last", .last),
    ("keyframes", .keyframes), ("every:25", .every(25)), ("t:1.5", .time(1.5)), ("t:2", .time(2)),
    ("20-29,0,10", .numbers([0...0, 10...10, 20...29])), ("3,2,1", .numbers([1...3])),
    ("1-5,3-9,4", .numbers([1...9])),
  ])
  func readsWhatTheAPISays(text: String, selection: FrameSelection) {
    #expect(FrameSelection(text) == selection)
  }

  @Test(arguments: [
    "", ",", "1,", "-1", "1-", "5-3", "a", "1 ", "every:", "every:0", "every:-1", "t:", "t:-1",
    "t:1.", "t:.5", "t:1.2.3", "t:nan", "t:1e3", "0x1", "1-2-3", "All", "9999999999",
  ])
  func refusesEverythingElse(text: String) {
    #expect(FrameSelection(text) == nil)
  }

  @Test func listsAreBounded() {
    let items = (0...FrameSelection.itemLimit).map { "\(2 * $0)" }
    #expect(FrameSelection(items.dropLast().joined(separator: ",")) != nil)
    #expect(FrameSelection(items.joined(separator: ",")) == nil)
  }

  @Test(arguments: [
    ("5", true), ("last", true), ("t:1", true), ("5-6", false), ("1,2", false), ("all", false),
    ("every:9", false), ("keyframes", false), ("4-4", true),
  ])
  func oneImageOrMany(text: String, isSingle: Bool) {
    #expect(FrameSelection(text)?.isSingle == isSingle)
  }
}
