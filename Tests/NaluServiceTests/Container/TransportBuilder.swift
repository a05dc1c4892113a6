/// Writes MPEG transport streams of one program.
struct TransportBuilder {
  var film = ContainerFilm.small
  var hasTables = true
  /// 188, 192 or 204.
  var packetSize = 188
  /// Bytes of payload in a packet.
  var payloadSize = 184
  /// A packet of video that is left out.
  var lost: Int?
  private static let videoPID = 0x100
  private static let mapPID = 0x20

  static func section(_ table: Int, _ id: Int, _ content: [UInt8]) -> [UInt8] {
    let rest = bigEndian(id, 2) + [0xC1, 0, 0] + content
    let section = [UInt8(table)] + bigEndian(0xB000 | rest.count + 4, 2) + rest
    return section + bigEndian(Int(crc(section)), 4)
  }

  static func crc(_ bytes: [UInt8]) -> UInt32 {
    var crc: UInt32 = 0xFFFF_FFFF
    for byte in bytes {
      for bit in (0..<8).reversed() {
        let top = crc >> 31 ^ UInt32(byte >> UInt8(bit) & 1)
        crc = crc << 1 ^ (top == 1 ? 0x04C1_1DB7 : 0)
      }
    }
    return crc
  }

  /// A packet; what its payload lacks is filled with an adaptation field.
  func packet(
    _ pid: Int, _ counter: Int, _ payload: [UInt8], startsUnit: Bool, clock: Int? = nil
  ) -> [UInt8] {
    var head: [UInt8] = [0x47]
    head += bigEndian((startsUnit ? 0x4000 : 0) | pid, 2)
    let room = 184 - payload.count
    head.append(UInt8(counter & 15) | (room > 0 ? 0x30 : 0x10))
    if room > 0 {
      var field: [UInt8] = [UInt8(room - 1)]
      if room > 1 { field.append(clock == nil ? 0 : 0x10) }
      if let clock { field += bigEndian(clock << 15 | 0x7E00, 6) }
      head += field + [UInt8](repeating: 0xFF, count: room - field.count)
    }
    let stamp = packetSize == 192 ? bigEndian(0, 4) : []
    let check = packetSize == 204 ? [UInt8](repeating: 0, count: 16) : []
    return stamp + head + payload + check
  }

  private func table(_ pid: Int, _ section: [UInt8]) -> [UInt8] {
    let payload = [0] + section
    return packet(
      pid, 0, payload + [UInt8](repeating: 0xFF, count: 184 - payload.count), startsUnit: true)
  }

  static func time(_ mark: Int, _ time: Int) -> [UInt8] {
    [
      UInt8(mark << 4 | time >> 29 & 14 | 1), UInt8(time >> 22 & 255),
      UInt8(time >> 14 & 254 | 1), UInt8(time >> 7 & 255), UInt8(time << 1 & 254 | 1),
    ]
  }

  var file: [UInt8] {
    var file: [UInt8] = []
    if hasTables {
      file += table(0, Self.section(0, 1, bigEndian(1, 2) + bigEndian(0xE000 | Self.mapPID, 2)))
      let streams = [0x1B] + bigEndian(0xE000 | Self.videoPID, 2) + bigEndian(0xF000, 2)
      file += table(
        Self.mapPID,
        Self.section(
          2, 1, bigEndian(0xE000 | Self.videoPID, 2) + bigEndian(0xF000, 2) + streams))
    }
    var counter = 0
    var sent = 0
    for picture in film.pictures {
      let dts = 90_000 + picture.decoding * 3600
      let pts = dts + picture.delay * 3600
      let header =
        [0, 0, 1, 0xE0, 0, 0, 0x80, 0xC0, 10] + Self.time(3, pts) + Self.time(1, dts)
      var content = header + [0, 0, 0, 1, 9, 0xF0]
      if picture.isKeyframe { content += [0, 0, 0, 1] + film.sps + [0, 0, 0, 1] + film.pps }
      for unit in picture.units { content += [0, 0, 1] + unit }
      var first = 0
      while first < content.count {
        let isFirst = first == 0
        let size = min(isFirst ? min(176, payloadSize) : payloadSize, content.count - first)
        let clock = isFirst ? dts - 9000 : nil
        if sent != lost {
          file += packet(
            Self.videoPID, counter, Array(content[first..<first + size]), startsUnit: isFirst,
            clock: clock)
        }
        counter += 1
        sent += 1
        first += size
      }
    }
    return file
  }

  /// Every NAL unit of the stream in order.
  var units: [[UInt8]] {
    film.pictures.flatMap { picture in
      [[9, 0xF0]] + (picture.isKeyframe ? [film.sps, film.pps] : []) + picture.units
    }
  }
}
