import Testing

@testable import NaluService

/// Broken files end in a problem or in fewer frames, and cost no more than whole ones.
@Suite struct HostileContainerTests {
  private static let refusals: Set<Problem.Code> = [
    .unrecognisedInput, .undecodable, .noParameterSets, .unsupportedFeature, .tooManyFrames,
    .tooManyNALUnits, .dimensionsTooLarge,
  ]

  /// True when it was decoded, false when it was refused.
  @discardableResult
  private func isDecoded(_ file: [UInt8]) throws -> Bool {
    var settings = DecodeSettings()
    settings.format = .framemd5
    do {
      _ = try decode(file, settings)
      return true
    } catch {
      #expect(Self.refusals.contains(error.code), "\(error)")
      #expect(!error.detail.isEmpty)
      return false
    }
  }

  @Test(arguments: ContainerFile.formats)
  func aCutFileIsDecodedAsFarAsItGoesOrRefused(format: OutputFormat) throws {
    let file = try ContainerFile.make(format, frames: 12)
    #expect(try isDecoded(file))
    var decoded = 0
    for cut in Set((0..<40).map { $0 * file.count / 40 } + Array(1..<40)).sorted() where cut > 0 {
      if try isDecoded(Array(file[..<cut])) { decoded += 1 }
    }
    // The index is in front, or not needed.
    #expect(decoded > 0)
  }

  /// 40 MB of samples in a file of 200 KB: what lies over each other is no media.
  @Test(arguments: [OutputFormat.h264, .mp4, .fmp4, .mkv])
  func samplesThatLieOverEachOtherDoNotMultiplyTheUpload(format: OutputFormat) throws {
    let file = try MP4Builder.layered(count: 20_000)
    let result = try remux("format=\(format.rawValue)", file)
    #expect(result.bytes.count < 1 << 21)
    #expect(result.header("Nalu-Note")?.contains("damaged") == true)
  }

  /// Samples that the file announces and does not have are errors, though all pictures are right.
  @Test(arguments: [OutputFormat.mp4, .fmp4, .flv])
  func whatIsMissingIsAnError(format: OutputFormat) throws {
    let file = try ContainerFile.make(format, frames: 12)
    var settings = DecodeSettings()
    settings.format = .framemd5
    settings.onError = .fail
    _ = try decode(file, settings)
    let half = Array(file[..<(file.count * 3 / 4)])
    let problem = #expect(throws: Problem.self) { try decode(half, settings) }
    #expect(problem?.code == .undecodable)
  }

  @Test(arguments: ContainerFile.formats, 0..<6)
  func changedBytesDoNoHarm(format: OutputFormat, seed: Int) throws {
    let file = try ContainerFile.make(format, frames: 6)
    var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 &+ 1
    for _ in 0..<12 {
      var changed = file
      for _ in 0..<8 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let place = Int(state >> 33) % changed.count
        changed[place] = UInt8(truncatingIfNeeded: state >> 20)
      }
      try isDecoded(changed)
    }
  }

  @Test func aTableOfAThousandMillionSamplesIsRefused() throws {
    var file = try ContainerFile.make(.mp4, frames: 6)
    let table = try ContainerFile.content(of: "stsz", in: file)
    ContainerFile.put(1, at: table + 4, in: &file)
    ContainerFile.put(1_000_000_000, at: table + 8, in: &file)
    let problem = #expect(throws: Problem.self) { try decode(file) }
    #expect(problem?.code == .tooManyFrames)
  }

  @Test func aFragmentOfAThousandMillionSamplesIsRefused() throws {
    var file = try ContainerFile.make(.fmp4, frames: 6)
    let run = try ContainerFile.content(of: "trun", in: file)
    ContainerFile.put(1_000_000_000, at: run + 4, in: &file)
    let problem = #expect(throws: Problem.self) { try decode(file) }
    #expect(problem?.code == .tooManyFrames)
  }

  enum MissingID: CaseIterable { case number, header, size }

  /// libavformat would count through two thousand million fragments, for each run of samples.
  @Test(arguments: MissingID.allCases)
  func fragmentsOfATrackWithoutAnIDAreRefused(missing: MissingID) throws {
    var file = try ContainerFile.make(.fmp4, frames: 6)
    let header = try ContainerFile.content(of: "tkhd", in: file)
    switch missing {
    case .number:
      ContainerFile.put(0xFFFF_FFFF, at: header + (file[header] == 1 ? 20 : 12), in: &file)
    case .header: file[header - 4] = UInt8(ascii: "T")
    // Less than a header.
    case .size: ContainerFile.put(2, at: header - 8, in: &file)
    }
    let problem = #expect(throws: Problem.self) { try decode(file) }
    #expect(problem?.code == .undecodable)
    #expect(problem?.detail.contains("track_ID") == true)
  }

  /// libavformat would end the process.
  @Test(arguments: ["mp4", "fmp4"])
  func aPauseOfYearsIsNotWritten(format: String) throws {
    var file = try ContainerFile.make(.fmp4, frames: 45)
    let name = Array("tfdt".utf8)
    let places = file.indices.dropLast(16).filter { file[$0..<$0 + 4].elementsEqual(name) }
    // The time of the last fragment, of 64 bits.
    let last = try #require(places.last)
    file[last + 10] = 0x15
    let problem = #expect(throws: Problem.self) { try remux("format=\(format)", file) }
    #expect(problem?.code == .unsupportedFeature)
    #expect(problem?.parameter == "format")
    _ = try remux("format=h264", file)
  }

  @Test func thousandsOfTracksAreRefused() throws {
    let file = try ContainerFile.make(.mp4, frames: 2)
    let movie = try #require(BoxTree(file)["moov"])
    let track = try #require(movie["trak"])
    let box = Array(file[track.content.lowerBound - 8..<track.content.upperBound])
    let tracks = Array(repeatElement(box, count: 10_000).joined())
    var many = Array(file[..<movie.content.upperBound]) + tracks
    many += file[movie.content.upperBound...]
    ContainerFile.put(
      movie.content.count + 8 + tracks.count, at: movie.content.lowerBound - 8, in: &many)
    let problem = #expect(throws: Problem.self) { try decode(many) }
    #expect(problem?.code == .unsupportedFeature)
  }

  @Test(arguments: [1025, 100_000_000])
  func longEditListsAreRefused(count: Int) throws {
    var file = try ContainerFile.make(.mp4, frames: 6)
    _ = try decode(file)
    ContainerFile.put(count, at: try ContainerFile.content(of: "elst", in: file) + 4, in: &file)
    let problem = #expect(throws: Problem.self) { try decode(file) }
    #expect(problem?.code == .unsupportedFeature)
    #expect(problem?.detail.contains("1024 entries") == true)
  }

  @Test func editListsOfManyEntriesForManySamplesAreRefused() throws {
    var file = try ContainerFile.make(.mp4, frames: 12)
    var limits = Limits()
    limits.maxFrames = 100
    ContainerFile.put(1000, at: try ContainerFile.content(of: "elst", in: file) + 4, in: &file)
    let problem = #expect(throws: Problem.self) { try decode(file, limits: limits) }
    #expect(problem?.code == .unsupportedFeature)
    #expect(problem?.detail.contains("edit lists") == true)
  }

  /// Each sample is one of sound: no table of them is kept.
  @Test func longUncompressedSoundIsNoTableOfSamples() throws {
    let file = try ContainerFile.make(.mp4, frames: 2)
    let movie = try #require(BoxTree(file)["moov"])
    func box(_ type: String, _ content: [[UInt8]]) -> [UInt8] {
      let bytes = Array(content.joined())
      var head = [UInt8](repeating: 0, count: 4) + Array(type.utf8)
      ContainerFile.put(bytes.count + 8, at: 0, in: &head)
      return head + bytes
    }
    func numbers(_ values: Int...) -> [UInt8] {
      values.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
    }
    let handler = box("hdlr", [numbers(0, 0), Array("soun".utf8), numbers(0, 0, 0), [0]])
    let times = box("stts", [numbers(0, 1, 900_000_000, 1)])
    let sizes = box("stsz", [numbers(0, 4, 900_000_000)])
    let sound = box("trak", [box("mdia", [handler, box("minf", [box("stbl", [times, sizes])])])])
    var both = Array(file[..<movie.content.upperBound]) + sound
    both += file[movie.content.upperBound...]
    ContainerFile.put(
      movie.content.count + 8 + sound.count, at: movie.content.lowerBound - 8, in: &both)
    var guardian = MP4Guard(Limits())
    var spool = Spool(in: .test)
    try spool.append(both.span)
    let upload = SpooledUpload(spool)
    while try guardian.step(upload) {}
  }
}
