import Testing

@testable import NaluService

/// Numbers of a file that no sum of them fits into 64 bits.
@Suite struct HostileNumberTests {
  private static let film = ContainerFilm.small
  private static let live: [UInt8] = [0x01] + [UInt8](repeating: 0xFF, count: 7)

  /// A Matroska file of blocks at times in ticks of `scale` nanoseconds; `nil`: none of its own.
  private static func matroska(_ times: [Int?], scale: Int = 1_000_000) -> [UInt8] {
    let video =
      MatroskaBuilder.number(0xD7, 1) + MatroskaBuilder.number(0x83, 1)
      + MatroskaBuilder.text(0x86, "V_MPEG4/ISO/AVC")
      + MatroskaBuilder.element(0x63A2, film.record())
      + MatroskaBuilder.element(
        0xE0, MatroskaBuilder.number(0xB0, 64) + MatroskaBuilder.number(0xBA, 48))
    let clusters = times.enumerated().flatMap { index, time in
      // A time below 0 counts as none.
      let block =
        [0x81] + bigEndian(time == nil ? 0xFFFF : 0, 2) + [index == 0 ? 0x80 : 0]
        + ContainerFilm.sample(film.pictures[index == 0 ? 0 : 1].units)
      return MatroskaBuilder.element(
        0x1F43_B675,
        MatroskaBuilder.element(0xE7, bigEndian(time ?? 0, 8))
          + MatroskaBuilder.element(0xA3, block))
    }
    let info = MatroskaBuilder.element(0x1549_A966, MatroskaBuilder.number(0x2AD7B1, scale))
    return MatroskaBuilder.element(0x1A45_DFA3, MatroskaBuilder.text(0x4282, "matroska"))
      + MatroskaBuilder.element(
        0x1853_8067,
        info + MatroskaBuilder.element(0x1654_AE6B, MatroskaBuilder.element(0xAE, video))
          + clusters)
  }

  /// An EBML-laced block whose 255 frames are nearly as large as a number can say.
  private static var lacing: [UInt8] {
    let block: [UInt8] = [0xA3, 0x01] + [UInt8](repeating: 0xFF, count: 6) + [0xFE]
    let laces: [UInt8] =
      [0x81, 0, 0, 0x06, 0xFF, 0x01] + [UInt8](repeating: 0xFF, count: 6) + [0xF0]
      + [UInt8](repeating: 0xBF, count: 254)
    let cluster: [UInt8] = [0x1F, 0x43, 0xB6, 0x75] + live
    return MatroskaBuilder.element(0x1A45_DFA3, MatroskaBuilder.text(0x4282, "matroska"))
      + [0x18, 0x53, 0x80, 0x67] + live + cluster + block + laces
      + [UInt8](repeating: 0, count: 100)
  }

  /// A rate that libav's fractions cannot hold.
  private static func stream(unitsInTick: Int, timeScale: Int) -> [UInt8] {
    var sequence = StreamBuilder.Sequence()
    sequence.timing = (unitsInTick, timeScale)
    return StreamBuilder.stream(sequence) { stream in
      for number in 0..<3 { stream.add(2, frameNum: 0, lsb: 0, idr: true) { $0.idrPicID = number } }
    }
  }

  static let files: [(name: String, file: [UInt8])] = [
    (
      "a jump of 2^52 and frames without times",
      matroska([0, 1 << 52] + [Int?](repeating: nil, count: 2500))
    ),
    ("a first time of 2^52", matroska([1 << 52, 1 << 52 + 40], scale: 4_200_000_000)),
    ("times from 0 to 2^62", matroska([0, 1 << 62, 1 << 62 + 1])),
    ("laces of 2^56 bytes", lacing),
    ("num_units_in_tick 2^32 - 3", stream(unitsInTick: 0xFFFF_FFFD, timeScale: 0xFFFF_FFFB)),
    ("time_scale 2^32 - 1", stream(unitsInTick: 1, timeScale: 0xFFFF_FFFF)),
  ]

  /// Done, or refused with words that a person understands.
  private func expectAnAnswer(_ work: () throws -> Void) {
    do {
      try work()
    } catch {
      let problem = error as? Problem
      #expect(problem.map { $0.code != .internal && !$0.detail.isEmpty } == true, "\(error)")
    }
  }

  @Test(arguments: files.map(\.name))
  func areRefusedOrPassed(name: String) throws {
    let file = try #require(Self.files.first { $0.name == name }?.file)
    var limits = Limits()
    limits.maxFrames = 5000
    expectAnAnswer { _ = try inspect(file) }
    expectAnAnswer { _ = try decode(file, decodeSettings(["format": "framemd5"])) }
    for format in ["mp4", "fmp4", "flv", "mpegts", "mkv"] {
      expectAnAnswer { _ = try remux("format=\(format)", file) }
    }
    for query in ["", "&fps=1000", "&start=1", "&duration=1", "&fps=1000&duration=1"] {
      expectAnAnswer {
        _ = try transcode("format=mp4&preset=ultrafast\(query)", file, limits: limits)
      }
    }
  }
}
