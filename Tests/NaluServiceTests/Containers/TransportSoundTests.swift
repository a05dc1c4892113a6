import Codec
import Testing

@testable import NaluService

/// Sound in transport streams whose map says little of it, or another PID later on.
@Suite struct TransportSoundTests {
  /// A transport stream of our own, to be changed packet by packet.
  private struct Stream {
    var packets: [[UInt8]]

    init(_ file: [UInt8]) {
      packets = stride(from: 0, to: file.count, by: 188).map { Array(file[$0..<$0 + 188]) }
    }

    static func pid(_ packet: [UInt8]) -> Int { Int(packet[1] & 0x1F) << 8 | Int(packet[2]) }

    /// Where the section of a table begins.
    private static func section(_ packet: [UInt8]) -> Int {
      5 + (packet[3] & 0x20 == 0 ? 0 : 1 + Int(packet[4]))
    }

    /// That of the map, as the association says.
    var mapPID: Int? {
      packets.first { Self.pid($0) == 0 }.map { packet in
        let place = Self.section(packet) + 10
        return Int(packet[place] & 0x1F) << 8 | Int(packet[place + 1])
      }
    }

    /// Each map with a change of its section, which begins with its table_id.
    mutating func changeMaps(_ change: (inout [UInt8]) -> Void) {
      for index in packets.indices where Self.pid(packets[index]) == mapPID {
        let start = Self.section(packets[index])
        let size =
          3 + (Int(packets[index][start + 1] & 15) << 8 | Int(packets[index][start + 2]))
        var section = Array(packets[index][start..<start + size - 4])
        change(&section)
        section += bigEndian(Int(TransportBuilder.crc(section)), 4)
        packets[index].replaceSubrange(start..<start + size, with: section)
      }
    }

    /// What the map calls the stream of that PID.
    mutating func setType(_ type: UInt8, of pid: Int) {
      changeMaps { section in
        let low = UInt8(truncatingIfNeeded: pid)
        for index in 12..<section.count - 2
        where section[index + 1] == 0xE0 | UInt8(pid >> 8) && section[index + 2] == low {
          section[index] = type
        }
      }
    }

    /// Every stream but the tables in a PID that much higher, and maps of the next version.
    mutating func move(by distance: Int) {
      changeMaps { section in
        section[5] += 2
        // PCR_PID, then five bytes for each stream.
        for index in [8] + stride(from: 13, to: section.count, by: 5) {
          section[index + 1] += UInt8(distance)
        }
      }
      for index in packets.indices where Self.pid(packets[index]) & 0xF00 == 0x100 {
        packets[index][2] += UInt8(distance)
      }
    }

    mutating func countMaps(from first: Int) {
      var counter = first
      for index in packets.indices where Self.pid(packets[index]) == mapPID {
        packets[index][3] = packets[index][3] & 0xF0 | UInt8(counter & 15)
        counter += 1
      }
    }

    /// With a time in front of each packet, as on Blu-ray discs.
    var withTimes: [UInt8] { packets.flatMap { [0, 0, 0, 0] + $0 } }
    var file: [UInt8] { packets.flatMap { $0 } }
  }

  private static let soundPID = 0x101

  /// 24 frames and a second of numbered sound.
  private static func film(_ first: Int = 0) throws -> Stream {
    let stream = try ContainerFile.make(.h264, frames: 24)
    let sound = adts((0..<45).map { [0x21, 0x10, 0x04, 0x60, 0x8C, UInt8(first + $0)] })
    return Stream(try remux("format=mpegts", stream, sound: sound).bytes)
  }

  private func sound(_ file: [UInt8], _ format: String = "mp4") throws -> [(Int, UInt8)] {
    let result = try remux("format=\(format)", file)
    #expect(result.header("Nalu-Note") == nil)
    return try packets(of: result.bytes, .mov).filter { $0.track == 1 }
      .map { ($0.time, $0.bytes[5]) }
  }

  @Test(arguments: [false, true])
  func soundOfAPrivateStreamIsRecognised(hasTimes: Bool) throws {
    var film = try Self.film()
    let expected = try sound(film.file)
    #expect(expected.count == 45)
    film.setType(6, of: Self.soundPID)
    #expect(try report(film.file)["source"]?["tracks"]?.items.last?["codec"]?.text == nil)
    let found = try sound(hasTimes ? film.withTimes : film.file)
    #expect(found.map(\.0) == expected.map(\.0))
    #expect(found.map(\.1) == expected.map(\.1))
    let transcoded = try transcode("preset=ultrafast&format=mp4", film.file)
    #expect(try packets(of: transcoded.bytes, .mov).contains { $0.track == 1 })
  }

  @Test func soundMovesWithTheVideo() throws {
    let first = try Self.film()
    var second = try Self.film(100)
    second.move(by: 0x10)
    // One after the other, as one program.
    second.countMaps(from: first.packets.count { Stream.pid($0) == first.mapPID })
    second.packets.removeAll { Stream.pid($0) == 0 || Stream.pid($0) == 0x11 }
    let file = first.file + second.file
    let found = try sound(file)
    #expect(found.map(\.1) == (0..<45).map { UInt8($0) } + (100..<145).map { UInt8($0) })
    #expect(zip(found, found.dropFirst()).allSatisfy { $0.0 < $1.0 })
    let result = try remux("format=mp4", file)
    #expect(BoxTree(result.bytes)["moov"]?.children.count { $0.type == "trak" } == 2)
  }
}
