import Codec
import Testing

@testable import NaluService

@Suite struct SoundFrameHeaderTests {
  /// A size of 255 times as much as the header has bytes.
  @Test func anOpusPacketIsNoLargerThanOneCanBe() {
    func header(_ count: Int) -> [UInt8] {
      [0x7F, 0xE0] + [UInt8](repeating: 0xFF, count: count) + [0, 0xFC, 0, 0, 0, 0, 0, 0, 0]
    }
    #expect(SoundFrameHeader(.opusControl, header(4).span, at: 0)?.frameSize == 7 + 4 * 255)
    #expect(SoundFrameHeader(.opusControl, header(1000).span, at: 0) == nil)
  }

  private struct Facts: Equatable {
    var size: Int
    var rate: Int
    var channels: Int
    var samples: Int
    var isDependent = false
  }

  private func facts(_ form: SoundFrameHeader.Form, _ bytes: [UInt8]) -> Facts? {
    SoundFrameHeader(form, bytes.span, at: 0).map {
      Facts(
        size: $0.frameSize, rate: $0.sampleRate, channels: $0.channels, samples: $0.samples,
        isDependent: $0.isDependent)
    }
  }

  @Test(
    arguments: [
      // MPEG-1 layer III, 128 kbit/s, 44100 Hz; with padding; mono.
      ([0xFF, 0xFB, 0x90, 0x00], 417, 44_100, 2, 1152),
      ([0xFF, 0xFB, 0x92, 0x00], 418, 44_100, 2, 1152),
      ([0xFF, 0xFB, 0x90, 0xC0], 417, 44_100, 1, 1152),
      // MPEG-1 layer II, 192 kbit/s, 48000 Hz; layer I, 384 kbit/s, 48000 Hz.
      ([0xFF, 0xFD, 0xA4, 0x00], 576, 48_000, 2, 1152),
      ([0xFF, 0xFF, 0xC4, 0x00], 384, 48_000, 2, 384),
      // MPEG-2 layer III, 64 kbit/s, 22050 Hz; MPEG-2.5 layer III, 16 kbit/s, 8000 Hz.
      ([0xFF, 0xF3, 0x80, 0x00], 208, 22_050, 2, 576),
      ([0xFF, 0xE3, 0x28, 0x00], 144, 8000, 2, 576),
    ] as [([UInt8], Int, Int, Int, Int)])
  func mpegAudio(bytes: [UInt8], size: Int, rate: Int, channels: Int, samples: Int) {
    #expect(
      facts(.mpegAudio, bytes + [0, 0, 0, 0])
        == Facts(size: size, rate: rate, channels: channels, samples: samples))
  }

  @Test(
    arguments: [
      // AC-3: 192 kbit/s in stereo at 48000 Hz; 448 in 3/2 with LFE; 44100 Hz, rounded both ways.
      ([0x0B, 0x77, 0, 0, 0x14, 0x40, 0x40, 0], 768, 48_000, 2, 1536, false),
      ([0x0B, 0x77, 0, 0, 0x1E, 0x40, 0xE1, 0], 1792, 48_000, 6, 1536, false),
      ([0x0B, 0x77, 0, 0, 0x54, 0x40, 0x40, 0], 834, 44_100, 2, 1536, false),
      ([0x0B, 0x77, 0, 0, 0x55, 0x40, 0x40, 0], 836, 44_100, 2, 1536, false),
      // E-AC-3: 768 bytes, six blocks, 3/2 with LFE; one block; a dependent substream; half the rate.
      ([0x0B, 0x77, 0x01, 0x7F, 0x3F, 0x80, 0, 0], 768, 48_000, 6, 1536, false),
      ([0x0B, 0x77, 0x01, 0x7F, 0x04, 0x80, 0, 0], 768, 48_000, 2, 256, false),
      ([0x0B, 0x77, 0x41, 0x7F, 0x34, 0x80, 0, 0], 768, 48_000, 2, 1536, true),
      ([0x0B, 0x77, 0x01, 0x7F, 0xC4, 0x80, 0, 0], 768, 24_000, 2, 1536, false),
    ] as [([UInt8], Int, Int, Int, Int, Bool)])
  func ac3(
    bytes: [UInt8], size: Int, rate: Int, channels: Int, samples: Int, isDependent: Bool
  ) {
    #expect(
      facts(.ac3, bytes)
        == Facts(
          size: size, rate: rate, channels: channels, samples: samples, isDependent: isDependent))
  }

  @Test(
    arguments: [
      (SoundFrameHeader.Form.mpegAudio, [0xFF, 0x1B, 0x90, 0]),
      (.mpegAudio, [0xFF, 0xFB, 0xF0, 0]),
      (.mpegAudio, [0xFF, 0xFB, 0x00, 0]), (.mpegAudio, [0xFF, 0xFB, 0x9C, 0]),
      (.mpegAudio, [0xFF, 0xEB, 0x90, 0]), (.mpegAudio, [0xFF, 0xF9, 0x90, 0]),
      (.ac3, [0x0B, 0x78, 0, 0, 0x14, 0x40]), (.ac3, [0x0B, 0x77, 0, 0, 0xD4, 0x40]),
      (.ac3, [0x0B, 0x77, 0, 0, 0x26, 0x40]), (.ac3, [0x0B, 0x77, 0, 0, 0x14, 0x88]),
      (.ac3, [0x0B, 0x77, 0xC0, 0, 0x14, 0x80]), (.ac3, [0x0B, 0x77, 0, 0, 0x14, 0x80]),
      (.opusControl, [0x7F, 0xC0, 1, 0]), (.opusControl, [0x7F, 0xE0, 0, 0]),
    ] as [(SoundFrameHeader.Form, [UInt8])])
  func whatIsReservedIsNoHeader(form: SoundFrameHeader.Form, bytes: [UInt8]) {
    #expect(facts(form, bytes + [UInt8](repeating: 0, count: 8 - bytes.count)) == nil)
    #expect(facts(form, Array(bytes.prefix(3))) == nil)
  }

  @Test func opusSaysHowLongItLasts() {
    // 20 ms of CELT; two frames of 60 ms of SILK; five of 2.5 ms; no length at all.
    #expect(SoundFrameHeader.opusSamples([0xF8].span, at: 0) == 960)
    #expect(SoundFrameHeader.opusSamples([0x19].span, at: 0) == 5760)
    #expect(SoundFrameHeader.opusSamples([0x83, 5].span, at: 0) == 600)
    #expect(SoundFrameHeader.opusSamples([0xFB].span, at: 0) == nil)
    // A control header with a size of two bytes, both trims and an extension of one byte.
    let bytes: [UInt8] = [0x7F, 0xFC, 255, 3, 0, 1, 0, 2, 1, 9, 0xF8]
    let header = SoundFrameHeader(.opusControl, bytes.span, at: 0)
    #expect(header?.headerSize == 10)
    #expect(header?.frameSize == 268)
    #expect(header?.samples == 960)
  }
}

/// Sound other than AAC goes where there is a place for it.
@Suite struct CarriedSoundTests {
  /// 45 frames at 25 a second, and sound of the given tag header.
  private func file(_ tag: UInt8, _ frame: [UInt8], count: Int, step: Double) throws -> [UInt8] {
    var tags = FLVTags(try ContainerFile.make(.flv))
    tags.addSound(count: count)
    tags.tags.removeAll { $0.type == 8 && $0.data[1] == 0 }
    var number = 0
    for index in tags.tags.indices where tags.tags[index].type == 8 {
      tags.tags[index].time = Int((Double(number) * step).rounded())
      var data = frame
      data[frame.count - 1] = UInt8(number & 255)
      tags.tags[index].data = [tag] + data
      number += 1
    }
    return tags.bytes
  }

  /// MP3 of 128 kbit/s and 44100 Hz.
  private func mp3(count: Int = 60) throws -> [UInt8] {
    let frame = [0xFF, 0xFB, 0x90, 0x00] + [UInt8](repeating: 0, count: 413)
    return try file(0x2F, frame, count: count, step: 1152_000 / 44_100)
  }

  private static let outputs: [(OutputFormat, Demuxer.Format)] = [
    (.mp4, .mov), (.fmp4, .mov), (.mkv, .matroska), (.flv, .flv), (.mpegts, .mpegts),
  ]

  @Test(arguments: outputs)
  func mp3GoesIntoEveryContainerAndBack(format: OutputFormat, demuxer: Demuxer.Format) throws {
    let file = try mp3()
    let once = try remux("format=\(format.rawValue)", file)
    #expect(once.header("Nalu-Note") == nil)
    // A transport stream has several frames in a packet; each is a sample again.
    let back = try remux("format=mp4", once.bytes).bytes
    let sound = try packets(of: back, .mov).filter { $0.track == 1 }
    #expect(sound.map(\.bytes.count) == Array(repeating: 417, count: 60))
    #expect(sound.map { Int($0.bytes[416]) } == Array(0..<60))
    let first = try #require(sound.first).time
    for (number, packet) in sound.enumerated() {
      let expected = Int((Double(number) * 1152_000 / 44_100).rounded())
      #expect(abs(packet.time - first - expected) <= 1)
    }
    let encoded = try transcode("preset=ultrafast&format=\(format.rawValue)", file)
    #expect(try packets(of: encoded.bytes, demuxer).contains { $0.track == 1 })
    #expect(encoded.header("Nalu-Note") == nil)
  }

  @Test(arguments: [OutputFormat.mp4, .fmp4, .mpegts])
  func soundWithoutAPlaceIsRefusedAndNamed(format: OutputFormat) throws {
    // 16-bit PCM.
    let file = try file(0x3F, [UInt8](repeating: 0, count: 400), count: 20, step: 2.3)
    for query in ["format=\(format.rawValue)", "format=\(format.rawValue)&audio=copy"] {
      let problem = #expect(throws: Problem.self) { try remux(query, file) }
      #expect(problem?.status == 422)
      #expect(problem?.detail.contains("pcm_s16le") == true)
      #expect(problem?.detail.contains("mkv") == true)
      #expect(problem?.detail.contains("audio=none") == true)
    }
    #expect(try remux("format=\(format.rawValue)&audio=none", file).header("Nalu-Note") == nil)
    #expect(try packets(of: remux("format=mkv", file).bytes, .matroska).contains { $0.track == 1 })
    let problem = #expect(throws: Problem.self) {
      try transcode("preset=ultrafast&format=\(format.rawValue)&audio=copy", file)
    }
    #expect(problem?.status == 422)
  }

  @Test func tracksThatAreLeftOutAreNamed() throws {
    let names = (1...12).map { "h264 (track \($0))" }
    #expect(LeftOut.note(names: Array(names[..<1]), kept: [], video: 0) == nil)
    #expect(LeftOut.note(names: Array(names[..<2]), kept: [1], video: 0) == nil)
    #expect(
      LeftOut.note(names: Array(names[..<2]), kept: [], video: 0) == "left out: h264 (track 2)")
    let note = try #require(LeftOut.note(names: names, kept: [], video: 0))
    #expect(note.hasSuffix(", 3 more"))
    #expect(note.count < 200)
  }

  /// FLV files have one track of video; two of them in an MP4 file are put together here.
  @Test func aSecondTrackOfVideoIsNamed() throws {
    var builder = MP4Builder()
    let plain = builder.movie(mediaStart: 0)
    let start = try #require(
      (0..<plain.count - 4).first { plain[$0..<$0 + 4].elementsEqual("trak".utf8) })
    let track = Array(plain[(start - 4)...])
    // The second track has the same samples, and another number.
    builder.otherTracks = []
    let file = builder.file
    let movie = try #require(BoxTree(file)["moov"])
    let own = Array(file[(movie.content.lowerBound)..<movie.content.upperBound])
    let place = try #require(
      (0..<own.count - 4).first { own[$0..<$0 + 4].elementsEqual("trak".utf8) })
    var second = Array(own[(place - 4)...])
    #expect(second.count == track.count)
    // track_ID, behind version, flags and two times.
    second[8 + 8 + 4 + 8 + 3] = 2
    let media = Array(file[movie.content.upperBound...])
    // What follows the index would move: it goes in front of it.
    let head = Array(file[..<(movie.content.lowerBound - 8)])
    var result = head
    var moved = own + second
    func move(_ from: Int) {
      for index in moved.indices.dropLast(12)
      where moved[index..<index + 4].elementsEqual("stco".utf8) {
        let count = moved[index + 11]
        for entry in 0..<Int(count) {
          let place = index + 12 + 4 * entry
          let value = moved[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } + from
          moved.replaceSubrange(place..<place + 4, with: bigEndian(value, 4))
        }
      }
    }
    move(second.count)
    result += MP4Builder.box("moov", moved) + media
    for query in ["format=mp4", "format=mkv", "format=h264"] {
      let remuxed = try remux(query, result)
      #expect(remuxed.header("Nalu-Note")?.hasSuffix("left out: h264 (track 2)") == true)
      #expect(remuxed.header("Nalu-Frames-Out") == "5")
    }
  }
}
