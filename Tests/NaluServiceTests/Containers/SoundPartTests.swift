import Codec
import Platform
import Testing

@testable import NaluService

/// ADTS frames of 48 kHz stereo, AAC LC.
func adts(_ payloads: [[UInt8]], hasCheckSum: Bool = false, rateIndex: Int = 3) -> [UInt8] {
  payloads.flatMap { payload in
    let size = payload.count + (hasCheckSum ? 9 : 7)
    let header: [UInt8] = [
      0xFF, hasCheckSum ? 0xF0 : 0xF1, UInt8(1 << 6 | rateIndex << 2),
      UInt8(2 << 6 | size >> 11), UInt8(size >> 3 & 0xFF), UInt8((size & 7) << 5 | 0x1F), 0xFC,
    ]
    return header + (hasCheckSum ? [0, 0] : []) + payload
  }
}

@Suite struct SoundPartTests {
  private func part(_ bytes: [UInt8]) throws -> SoundPart {
    var spool = Spool(in: .test)
    try spool.append(bytes.span)
    return SoundPart(spool)
  }

  private func checked(_ bytes: [UInt8]) throws -> SoundPart {
    var part = try part(bytes)
    while try !part.check() {}
    return part
  }

  @Test(arguments: [false, true])
  func framesComeOutWithoutTheirHeaders(hasCheckSum: Bool) throws {
    let payloads: [[UInt8]] = [[0x21, 1, 2], [0x21], Array(repeating: 7, count: 5000)]
    var part = try checked(adts(payloads, hasCheckSum: hasCheckSum))
    var frames: [SoundFrame] = []
    while let frame = try part.next() { frames.append(frame) }
    #expect(frames.map(\.bytes) == payloads)
    #expect(frames.map(\.timing.presentation) == [0, 1024, 2048])
    #expect(frames[1].seconds == 1024.0 / 48000)
    guard case .aac(let track)? = part.track else {
      Issue.record("not AAC")
      return
    }
    // AAC LC, index 3, two channels.
    #expect(track.configuration == [0x11, 0x90])
    #expect(track.sampleRate == 48000)
    #expect(track.channels == 2)
  }

  @Test func aTagInFrontIsSkipped() throws {
    let tag: [UInt8] =
      Array("ID3".utf8) + [4, 0, 0, 0, 0, 1, 2] + Array(repeating: 0xFF, count: 130)
    var part = try checked(tag + adts([[9]]))
    let frame = try part.next()
    #expect(frame?.bytes == [9])
  }

  static let broken: [(String, [UInt8])] = [
    ("nothing", []), ("text", Array("not sound at all".utf8)),
    ("cut", adts([[1, 2, 3]]).dropLast()),
    ("junk behind", adts([[1]]) + [1, 2, 3]), ("header cut", adts([[1]]) + [0xFF, 0xF1]),
    ("another rate", adts([[1]]) + adts([[1]], rateIndex: 4)), ("no data", adts([[]])),
    ("reserved rate", adts([[1]], rateIndex: 14)),
  ]

  @Test(arguments: broken)
  func anythingElseIsRefused(name: String, bytes: [UInt8]) throws {
    let problem = #expect(throws: Problem.self) { _ = try checked(bytes) }
    #expect(problem?.status == 422, "\(name)")
  }
}
