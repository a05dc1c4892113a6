import Codec
import Platform
import Testing

@testable import NaluService

@Suite struct SoundGapTests {
  private static let count = 100

  /// A picture every 100 ms for ten seconds, and 44100 Hz AAC that pauses for five seconds in its
  /// middle. With `isShifted`, each packet of sound begins in the middle of a frame.
  private func transport(isShifted: Bool) throws -> [UInt8] {
    let stream = try encode(
      "width=64&height=48&fps=10&preset=ultrafast&bframes=0&gop=10",
      movingPictures(64, 48, count: Self.count))
    let builder = TransportBuilder()
    let sound = (0..<Self.count).map {
      adts([[0x21, UInt8($0)] + Array(repeating: 0x5A, count: 60)], rateIndex: 4)
    }
    var pieces: [(time: Int, pid: Int, bytes: [UInt8])] = []
    for (number, unit) in try EncodedStream(stream.bytes).accessUnits.enumerated() {
      let content = unit.units.flatMap { [UInt8]([0, 0, 0, 1]) + $0.bytes }
      pieces.append((90_000 + 9000 * number, 0x100, [0, 0, 0, 1, 9, 0xF0] + content))
    }
    var rest: [UInt8] = []
    for (number, frame) in sound.enumerated() {
      let middle = isShifted ? frame.count / 2 : frame.count
      pieces.append((90_000 + time(number) * 90, 0x101, rest + frame[..<middle]))
      rest = Array(frame[middle...])
    }
    // Without a time: no frame begins in it.
    if isShifted { pieces.append((.max, 0x101, rest)) }
    var file = builder.packet(
      0, 0, filled(TransportBuilder.section(0, 1, bigEndian(1, 2) + bigEndian(0xE020, 2))),
      startsUnit: true)
    let streams =
      [0x1B] + bigEndian(0xE100, 2) + bigEndian(0xF000, 2) + [0x0F] + bigEndian(0xE101, 2)
      + bigEndian(0xF000, 2)
    file += builder.packet(
      0x20, 0,
      filled(
        TransportBuilder.section(2, 1, bigEndian(0xE100, 2) + bigEndian(0xF000, 2) + streams)),
      startsUnit: true)
    var counters = [0x100: 0, 0x101: 0]
    for piece in pieces.enumerated().sorted(by: {
      ($0.element.time, $0.offset) < ($1.element.time, $1.offset)
    }).map(\.element) {
      let hasTime = piece.time < .max
      let id: UInt8 = piece.pid == 0x100 ? 0xE0 : 0xC0
      let length = piece.pid == 0x100 ? 0 : 3 + (hasTime ? 5 : 0) + piece.bytes.count
      let header =
        [0, 0, 1, id] + bigEndian(length, 2) + [0x80, hasTime ? 0x80 : 0, hasTime ? 5 : 0]
        + (hasTime ? TransportBuilder.time(2, piece.time) : [])
      var content = (header + piece.bytes)[...]
      var isFirst = true
      while !content.isEmpty {
        file += builder.packet(
          piece.pid, counters[piece.pid, default: 0], Array(content.prefix(184)),
          startsUnit: isFirst)
        counters[piece.pid, default: 0] += 1
        content = content.dropFirst(184)
        isFirst = false
      }
    }
    return file
  }

  private func filled(_ section: [UInt8]) -> [UInt8] {
    [0] + section + [UInt8](repeating: 0xFF, count: 183 - section.count)
  }

  /// Milliseconds.
  private func time(_ frame: Int) -> Int {
    Int((Double(frame) * 1024_000 / 44_100).rounded()) + (frame < Self.count / 2 ? 0 : 5000)
  }

  @Test(arguments: [false, true], ["remux", "transcode"])
  func soundThatPausesGoesOnInTime(isShifted: Bool, operation: String) throws {
    let file = try transport(isShifted: isShifted)
    let result =
      try operation == "remux"
      ? remux("format=mp4", file).bytes : transcode("preset=ultrafast&format=mp4", file).bytes
    let sound = try packets(of: result, .mov).filter { $0.track == 1 }
    #expect(sound.map { Int($0.bytes[1]) } == Array(0..<Self.count))
    for (number, packet) in sound.enumerated() { #expect(abs(packet.time - time(number)) <= 2) }
  }
}

@Suite struct PacketTimesTests {
  @Test func aPacketsTimeIsThatOfTheFirstFrameThatBeginsInIt() {
    var times = PacketTimes()
    times.add(100, at: 0)
    #expect(times.take(at: 0) == 100)
    #expect(times.take(at: 30) == nil)
    // A frame of 40 bytes began at 60.
    times.remove(60)
    times.add(200, at: 20)
    #expect(times.take(at: 0) == nil)
    #expect(times.take(at: 40) == 200)
    #expect(times.take(at: 50) == nil)
  }

  @Test func aFrameWhoseHeaderIsCutKeepsItsTime() {
    var times = PacketTimes()
    times.add(100, at: 0)
    times.add(200, at: 3)
    #expect(times.take(at: 0) == 100)
    #expect(times.take(at: 40) == 200)
  }

  @Test func packetsWithoutAFrameDoNotPileUp() {
    var times = PacketTimes()
    for number in 0..<10 {
      times.add(number, at: 5)
      times.remove(5)
    }
    times.add(nil, at: 0)
    #expect(times.take(at: 0) == 9)
    #expect(times.take(at: 0) == nil)
  }
}
