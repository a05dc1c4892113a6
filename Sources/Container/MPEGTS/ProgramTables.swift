/// An elementary stream of a program.
package struct ProgramStream: Equatable, Sendable {
  package let pid: Int
  package let type: Int
  package var language: String?

  /// A short name for `stream_type` (ISO/IEC 13818-1 table 2-34); nil when it is not known, or when
  /// only descriptors tell.
  package var codec: String? { Self.names[type]?.0 }

  package var kind: ContainerTrack.Kind { Self.names[type]?.1 ?? .data }

  private static let names: [Int: (String, ContainerTrack.Kind)] = [
    0x01: ("mpeg1video", .video), 0x02: ("mpeg2video", .video), 0x03: ("mp2", .audio),
    0x04: ("mp2", .audio), 0x0F: ("aac", .audio), 0x10: ("mpeg4", .video),
    0x11: ("aac_latm", .audio), 0x1B: ("h264", .video), 0x1F: ("h264_svc", .video),
    0x20: ("h264_mvc", .video), 0x21: ("jpeg2000", .video), 0x24: ("hevc", .video),
    0x33: ("vvc", .video), 0x81: ("ac3", .audio), 0x82: ("dts", .audio), 0x87: ("eac3", .audio),
    0x15: ("timed_id3", .data), 0x86: ("scte_35", .data),
  ]
}

/// A program as its map says (ISO/IEC 13818-1 §2.4.4.8).
package struct Program: Equatable, Sendable {
  package let number: Int
  package fileprivate(set) var mapPID: Int
  package var version: Int?
  package var clockPID: Int?
  package var streams: [ProgramStream] = []
}

/// Collects sections of tables out of the payloads of one PID.
struct SectionCollector: Sendable {
  private static let maxBytes = 4096
  private var bytes: [UInt8] = []
  private var isOpen = false

  /// The sections that end in the payload.
  mutating func add(_ payload: Span<UInt8>, startsUnit: Bool) -> [[UInt8]] {
    var sections: [[UInt8]] = []
    var index = 0
    if startsUnit {
      guard payload.count > 0 else { return [] }
      let pointer = Int(payload[0])
      guard 1 + pointer <= payload.count else {
        isOpen = false
        return []
      }
      if isOpen {
        append(payload.extracting(1..<1 + pointer))
        takeComplete(&sections)
      }
      bytes.removeAll(keepingCapacity: true)
      isOpen = true
      index = 1 + pointer
    }
    guard isOpen else { return sections }
    append(payload.extracting(index..<payload.count))
    takeComplete(&sections)
    return sections
  }

  private mutating func append(_ piece: Span<UInt8>) {
    let count = min(piece.count, Self.maxBytes - bytes.count)
    guard count > 0 else { return }
    bytes.append(copying: piece.extracting(0..<count))
  }

  private mutating func takeComplete(_ sections: inout [[UInt8]]) {
    while bytes.count >= 3, bytes[0] != 0xFF {
      let size = 3 + (Int(bytes[1] & 15) << 8 | Int(bytes[2]))
      guard size <= Self.maxBytes else {
        bytes.removeAll()
        isOpen = false
        return
      }
      guard bytes.count >= size else { return }
      sections.append(Array(bytes[..<size]))
      bytes.removeFirst(size)
    }
    // Stuffing until the next unit starts.
    if bytes.first == 0xFF {
      bytes.removeAll(keepingCapacity: true)
      isOpen = false
    }
  }

  /// CRC_32 of a whole section is 0 (ISO/IEC 13818-1 annex A).
  static func isIntact(_ section: [UInt8]) -> Bool {
    var remainder: UInt32 = 0xFFFF_FFFF
    for byte in section {
      remainder ^= UInt32(byte) << 24
      for _ in 0..<8 {
        remainder = remainder & 0x8000_0000 != 0 ? remainder << 1 ^ 0x04C1_1DB7 : remainder << 1
      }
    }
    return remainder == 0
  }
}

/// The programs of a transport stream.
struct ProgramTables: Sendable {
  /// Of all programs together.
  private let maxStreams: Int
  private(set) var programs: [Program] = []
  private(set) var hasAssociation = false
  private var collectors: [Int: SectionCollector] = [:]

  init(maxStreams: Int) {
    self.maxStreams = maxStreams
  }

  /// The PID has the association table, or a map.
  func isTable(_ pid: Int) -> Bool {
    pid == 0 || programs.contains { $0.mapPID == pid }
  }

  /// Takes the payload of a packet of such a PID; what is wrong in it.
  mutating func add(_ payload: Span<UInt8>, pid: Int, startsUnit: Bool) -> [String] {
    var defects: [String] = []
    let sections = collectors[pid, default: SectionCollector()].add(
      payload, startsUnit: startsUnit)
    for section in sections {
      guard section[0] == (pid == 0 ? 0 : 2) else { continue }
      guard section.count >= 12, SectionCollector.isIntact(section) else {
        defects.append("A section of PID \(pid) does not match its CRC_32.")
        continue
      }
      // current_next_indicator
      guard section[5] & 1 == 1 else { continue }
      if pid == 0 { readAssociation(section) } else { readMap(section, pid: pid) }
    }
    return defects
  }

  private mutating func readAssociation(_ section: [UInt8]) {
    hasAssociation = true
    var fields = ByteFields(section, in: 8..<section.count - 4)
    while fields.left >= 4 {
      let number = fields.number(2)
      let pid = fields.number(2) & 0x1FFF
      // Program 0 is the network information.
      guard number != 0 else { continue }
      if let known = programs.firstIndex(where: { $0.number == number }) {
        // What the map said holds until the new one comes.
        guard programs[known].mapPID != pid else { continue }
        programs[known].mapPID = pid
        programs[known].version = nil
      } else if programs.count < maxStreams {
        programs.append(Program(number: number, mapPID: pid))
      }
    }
  }

  private mutating func readMap(_ section: [UInt8], pid: Int) {
    let number = Int(section[3]) << 8 | Int(section[4])
    guard let index = programs.firstIndex(where: { $0.number == number && $0.mapPID == pid })
    else { return }
    let version = Int(section[5] >> 1 & 31)
    guard programs[index].version != version else { return }
    var fields = ByteFields(section, in: 8..<section.count - 4)
    programs[index].version = version
    let clock = fields.number(2) & 0x1FFF
    programs[index].clockPID = clock == 0x1FFF ? nil : clock
    fields.skip(fields.number(2) & 0xFFF)
    var streams: [ProgramStream] = []
    let others = programs.reduce(0) { $0 + $1.streams.count } - programs[index].streams.count
    while fields.left >= 5, others + streams.count < maxStreams {
      let type = fields.number(1)
      let streamPID = fields.number(2) & 0x1FFF
      var stream = ProgramStream(pid: streamPID, type: type)
      let descriptors = fields.range(fields.number(2) & 0xFFF)
      stream.language = Self.language(section, descriptors)
      streams.append(stream)
    }
    programs[index].streams = streams
  }

  /// ISO_639_language_descriptor.
  private static func language(_ section: [UInt8], _ range: Range<Int>) -> String? {
    var fields = ByteFields(section, in: range)
    while fields.left >= 2 {
      let tag = fields.number(1)
      let content = fields.range(fields.number(1))
      if tag == 10, content.count >= 3 { return containerText(section[content].prefix(3)) }
    }
    return nil
  }
}
