import Codec
import Platform

@testable import NaluService

/// Runs the whole operation over `file`.
func transcode(
  _ query: String, _ file: [UInt8], limits: Limits = Limits()
) throws(Problem) -> Decoded {
  let pairs = query.split(separator: "&").map { pair in
    let parts = pair.split(separator: "=", maxSplits: 1)
    return (name: String(parts[0]), value: parts.count == 2 ? String(parts[1]) : "")
  }
  let values = try ParameterValues(pairs, table: TranscodeParameters.all)
  var operation = try TranscodeOperation(
    try TranscodeSettings(values), limits: limits, spoolDirectory: .test)
  var output = Output()
  var position = 0
  var step = Step.needsInput
  while step != .finished {
    if step == .needsInput {
      let end = min(position + operation.blockSize, file.count)
      if position < end {
        try operation.push(Block(Array(file[position..<end])))
        position = end
      } else {
        try operation.endOfInput()
      }
    }
    step = try operation.step(into: &output)
  }
  return Decoded(bytes: output.bytes, answer: output.answer, counters: output.counters)
}

/// The MD5 of each frame of a file.
func digests(_ file: [UInt8]) throws(Problem) -> [Substring] {
  let decoded = try decode(file, decodeSettings(["format": "framemd5"]))
  return String(decoding: decoded.bytes, as: UTF8.self).split(separator: "\n")
    .filter { !$0.hasPrefix("#") }.map { $0.suffix(32) }
}

/// A packet of a container, as a demuxer gives it.
struct PacketFacts: Equatable {
  var track: Int
  /// Milliseconds.
  var time: Int
  var bytes: [UInt8]
}

/// All packets of a container with their presentation times.
func packets(of file: [UInt8], _ format: Demuxer.Format) throws -> [PacketFacts] {
  var spool = Spool(in: .test)
  try spool.append(file.span)
  var demuxer = try Demuxer(SpooledUpload(spool), format: format)
  var packets: [PacketFacts] = []
  while let packet = try demuxer.next() {
    let base = demuxer.tracks[packet.track].timeBase
    let time = Double(packet.presentationTime ?? -1_000_000) * base.doubleValue * 1000
    var bytes: [UInt8] = []
    bytes.append(copying: packet.bytes)
    // A transport stream has several frames of sound in a packet, each with a header.
    var position = 0
    while position < bytes.count, demuxer.tracks[packet.track].kind == .aac,
      let header = try? ADTSHeader(bytes.span, at: position)
    {
      let passed = Double(position / header.frameSize) * 1_024_000 / Double(header.sampleRate)
      packets.append(
        PacketFacts(
          track: packet.track, time: Int((time + passed).rounded()),
          bytes: Array(bytes[position..<position + header.frameSize])))
      position += header.frameSize
    }
    if position > 0 { continue }
    packets.append(
      PacketFacts(track: packet.track, time: Int(time.rounded()), bytes: bytes))
  }
  return packets
}

/// An FLV file taken apart and put together again, with other times or with sound.
struct FLVTags {
  struct Tag {
    var type: UInt8
    var time: Int
    var data: [UInt8]

    /// A frame of video, not a header.
    var isFrame: Bool { type == 9 && data.count > 1 && data[1] == 1 }
  }

  var header: [UInt8]
  var tags: [Tag] = []

  init(_ file: [UInt8]) {
    header = Array(file[..<13])
    var position = 13
    while position + 15 <= file.count {
      func number(_ start: Int, _ count: Int) -> Int {
        file[position + start..<position + start + count].reduce(0) { $0 << 8 | Int($1) }
      }
      let size = number(1, 3)
      guard position + 15 + size <= file.count else { break }
      tags.append(
        Tag(
          type: file[position], time: number(4, 3) | number(7, 1) << 24,
          data: Array(file[position + 11..<position + 11 + size])))
      position += 15 + size
    }
  }

  var bytes: [UInt8] {
    var bytes = header
    func append(_ value: Int, _ count: Int) {
      for byte in (0..<count).reversed() {
        bytes.append(UInt8(truncatingIfNeeded: value >> (8 * byte)))
      }
    }
    for tag in tags {
      bytes.append(tag.type)
      append(tag.data.count, 3)
      append(tag.time & 0xFFFFFF, 3)
      append(tag.time >> 24, 1)
      append(0, 3)
      bytes += tag.data
      append(tag.data.count + 11, 4)
    }
    return bytes
  }

  /// Adds AAC of 44100 Hz, stereo, from 0 on: `count` frames, each with its number in it.
  mutating func addSound(count: Int) {
    header[4] = 5
    var sound = [Tag(type: 8, time: 0, data: [0xAF, 0, 0x12, 0x10])]
    for number in 0..<count {
      let time = Int((Double(number) * 1024_000 / 44_100).rounded())
      let content = [UInt8(0x21), UInt8(number & 255)] + [UInt8](repeating: 0x5A, count: 30)
      sound.append(Tag(type: 8, time: time, data: [0xAF, 1] + content))
    }
    let first = tags.firstIndex { $0.isFrame } ?? 0
    let rest = tags[first...] + sound.dropFirst()
    let ordered = rest.enumerated()
      .sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }.map(\.element)
    tags = Array(tags[..<first]) + [sound[0]] + ordered
  }
}
