import Testing

@testable import NaluService

/// A transport stream whose program map moves its video to another PID.
@Suite struct MovedVideoTests {
  private static let mapPID = 0x1000
  private static let videoPID = 0x100

  private static func pid(_ packet: ArraySlice<UInt8>) -> Int {
    Int(packet[packet.startIndex + 1] & 0x1F) << 8 | Int(packet[packet.startIndex + 2])
  }

  private static func packets(_ file: [UInt8]) -> [ArraySlice<UInt8>] {
    stride(from: 0, to: file.count, by: 188).map { file[$0..<$0 + 188] }
  }

  /// A map with one stream.
  private static func map(version: Int, pid: Int, counter: Int) -> [UInt8] {
    let content =
      bigEndian(1, 2) + [UInt8(0xC1 | version << 1), 0, 0] + bigEndian(0xE000 | pid, 2)
      + bigEndian(0xF000, 2) + [0x1B] + bigEndian(0xE000 | pid, 2) + bigEndian(0xF000, 2)
    var section = [2] + bigEndian(0xB000 | content.count + 4, 2) + content
    section += bigEndian(Int(TransportBuilder.crc(section)), 4)
    let payload = [0] + section
    return TransportBuilder().packet(
      mapPID, counter, payload + [UInt8](repeating: 0xFF, count: 184 - payload.count),
      startsUnit: true)
  }

  /// One stream after the other, each in a PID of its own.
  private static func joined(_ files: [[UInt8]]) -> [UInt8] {
    var result: [UInt8] = []
    for (number, file) in files.enumerated() {
      if number > 0 {
        let maps = packets(result).count { pid($0) == mapPID }
        result += map(version: number, pid: videoPID + number, counter: maps)
      }
      for packet in packets(file) {
        var packet = Array(packet)
        let pid = pid(packet[...])
        // The tables are those of the first.
        if number > 0, pid != videoPID { continue }
        if pid == videoPID { packet[2] += UInt8(number) }
        result += packet
      }
    }
    return result
  }

  private func settings(_ format: OutputFormat, width: Int) -> EncodeSettings {
    var settings = ContainerFile.settings(format)
    settings.width = width
    return settings
  }

  @Test(arguments: [2, 3])
  func framesOfAllPIDsAreDecoded(count: Int) throws {
    let files = try (0..<count).map { number in
      try encoded(frames: 12 + number, settings(.mpegts, width: 64 + 16 * number))
    }
    let expected = try files.flatMap { try digests($0) }
    let moved = Self.joined(files)
    #expect(try digests(moved) == expected)
    let json = try report(moved)
    #expect(json["summary"]?["frame_count"]?.int == expected.count)
    var strict = DecodeSettings()
    strict.format = .framemd5
    strict.onError = .fail
    #expect(try decode(moved, strict).trailer("Nalu-Decode-Errors") == "0")
  }

  @Test func aRemuxHasAllFramesInOrder() throws {
    let files = try (0..<2).map { number in
      try encoded(frames: 12, settings(.mpegts, width: 64))
    }
    let moved = Self.joined(files)
    let result = try remux("format=mp4", moved)
    #expect(result.header("Nalu-Frames-Out") == "24")
    #expect(result.header("Nalu-Note") == nil)
    #expect(try digests(result.bytes) == digests(moved))
  }

  @Test func aProblemHasItsPlaceInTheUpload() throws {
    let files = try (0..<2).map { number in
      try encoded(frames: 12, settings(.mpegts, width: 64 + 64 * number))
    }
    var limits = Limits()
    limits.maxDimension = 100
    let moved = Self.joined(files)
    let problem = #expect(throws: Problem.self) { try decode(moved, limits: limits) }
    #expect(problem?.code == .dimensionsTooLarge)
    let place = problem?.members.first { $0.name == "offset" }
    guard case .integer(let offset)? = place?.value else {
      Issue.record("no offset")
      return
    }
    #expect(offset >= files[0].count && offset < moved.count)
  }
}
