import Testing

@testable import NaluService

/// Which track is taken, and that it is taken whole.
@Suite struct TrackChoiceTests {
  private func lines(_ file: [UInt8]) throws -> [Substring] {
    String(decoding: try decode(file, decodeSettings(["format": "framemd5"])).bytes, as: UTF8.self)
      .split(separator: "\n").filter { !$0.hasPrefix("#") }
  }

  /// A track of sound whose samples lie behind the end of the file.
  private func sound(_ samples: Int, at offset: Int, every ticks: Int, scale: Int) -> [UInt8] {
    func numbers(_ values: Int...) -> [UInt8] { values.flatMap { bigEndian($0, 4) } }
    let entry =
      bigEndian(0, 6) + bigEndian(1, 2) + bigEndian(0, 8) + bigEndian(1, 2) + bigEndian(16, 2)
      + numbers(0, 48000 << 16)
    let tables =
      MP4Builder.full("stsd", numbers(1) + MP4Builder.box("sowt", entry))
      + MP4Builder.full("stts", numbers(1, samples, ticks))
      + MP4Builder.full("stsc", numbers(1, 1, 1, 1))
      + MP4Builder.full("stsz", numbers(0, samples) + (0..<samples).flatMap { _ in numbers(100) })
      + MP4Builder.full(
        "stco", numbers(samples) + (0..<samples).flatMap { numbers(offset + 100 * $0) })
    let header = MP4Builder.full(
      "mdhd", bigEndian(0, 8) + numbers(scale, samples * ticks) + [0x55, 0xC4, 0, 0])
    let handler = MP4Builder.full(
      "hdlr", bigEndian(0, 4) + Array("soun".utf8) + bigEndian(0, 12) + [0])
    let trackHeader = MP4Builder.full(
      "tkhd", flags: 3,
      numbers(0, 0, 2, 0, 0) + [UInt8](repeating: 0, count: 16)
        + [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x4000_0000].flatMap { bigEndian($0, 4) }
        + numbers(0, 0))
    return MP4Builder.box(
      "trak",
      trackHeader
        + MP4Builder.box(
          "mdia", header + handler + MP4Builder.box("minf", MP4Builder.box("stbl", tables))))
  }

  /// The movie with another track, behind the media; what it was before is padding.
  private func adding(_ track: [UInt8], to file: [UInt8]) throws -> [UInt8] {
    let movie = try #require(BoxTree(file)["moov"])
    let name = movie.content.lowerBound - 4
    var both = file
    both.replaceSubrange(name..<name + 4, with: Array("free".utf8))
    return both + MP4Builder.box("moov", Array(file[movie.content]) + track)
  }

  @Test func videoIsReadWholeThoughTheSoundIsCutOff() throws {
    let file = try ContainerFile.make(.mp4)
    let whole = try lines(file)
    #expect(whole.count == 45)
    #expect(try lines(adding(sound(1000, at: 1 << 30, every: 1, scale: 500), to: file)) == whole)
  }

  // MARK: Two tracks of H.264

  private func units(width: Int) throws -> (record: [UInt8], samples: [[UInt8]]) {
    var settings = ContainerFile.settings(.h264)
    settings.width = width
    settings.gop = 1
    settings.bframes = 0
    let units = ContainerFilm.units(of: try encoded(frames: 6, settings))
    var film = ContainerFilm.small
    film.sps = try #require(units.first { $0[0] & 31 == 7 })
    film.pps = try #require(units.first { $0[0] & 31 == 8 })
    let pictures = units.filter { $0[0] & 31 == 5 }
    return (film.record(), pictures.map { ContainerFilm.sample([$0]) })
  }

  /// The blocks of the second track come first.
  private func matroska(isFirstEmpty: Bool = false) throws -> [UInt8] {
    let first = try units(width: 64)
    let second = try units(width: 96)
    func entry(_ number: Int, _ width: Int, _ record: [UInt8]) -> [UInt8] {
      MatroskaBuilder.element(
        0xAE,
        MatroskaBuilder.number(0xD7, number) + MatroskaBuilder.number(0x83, 1)
          + MatroskaBuilder.text(0x86, "V_MPEG4/ISO/AVC") + MatroskaBuilder.element(0x63A2, record)
          + MatroskaBuilder.element(
            0xE0, MatroskaBuilder.number(0xB0, width) + MatroskaBuilder.number(0xBA, 48)))
    }
    func blocks(_ number: UInt8, _ samples: [[UInt8]], from time: Int) -> [UInt8] {
      samples.enumerated().flatMap { index, sample in
        MatroskaBuilder.element(
          0xA3, [0x80 | number] + bigEndian(time + 40 * index, 2) + [0x80] + sample)
      }
    }
    let late = isFirstEmpty ? [] : blocks(1, first.samples, from: 500)
    let cluster = MatroskaBuilder.element(
      0x1F43_B675, MatroskaBuilder.number(0xE7, 0) + blocks(2, second.samples, from: 0) + late)
    let info = MatroskaBuilder.element(0x1549_A966, MatroskaBuilder.number(0x2AD7B1, 1_000_000))
    let tracks = MatroskaBuilder.element(
      0x1654_AE6B, entry(1, 64, first.record) + entry(2, 96, second.record))
    return MatroskaBuilder.element(0x1A45_DFA3, MatroskaBuilder.text(0x4282, "matroska"))
      + MatroskaBuilder.element(0x1853_8067, info + tracks + cluster)
  }

  @Test func theFirstTrackIsTakenThoughAnotherBeginsBefore() throws {
    let file = try matroska()
    let image = try decode(file, decodeSettings(["format": "png"]))
    #expect(image.number(16, 4) == 64)
    let tracks = try report(file)["source"]?["tracks"]?.items ?? []
    #expect(tracks.map { $0["reported"]?.bool } == [true, false])
    #expect(try lines(file).count == 6)
  }

  @Test func aTrackWithoutPicturesGivesWayToTheNext() throws {
    let image = try decode(matroska(isFirstEmpty: true), decodeSettings(["format": "png"]))
    #expect(image.number(16, 4) == 96)
  }

  // MARK: Places

  @Test func aProblemCountsTheUnitsOfTheContainer() throws {
    var builder = MP4Builder()
    // Extended profile.
    builder.film.sps[1] = 88
    let problem = try #require(throws: Problem.self) { try decode(builder.file) }
    let unit = try #require(try report(builder.file)["nal_units"]?.items.first)
    #expect(problem.members.contains(.init("nal_unit", unit["index"]?.int ?? -1)), "\(problem)")
    #expect(problem.members.contains(.init("offset", unit["offset"]?.int ?? -1)))
  }

  @Test func aReportAndADecodeRecogniseTheSameUploads() throws {
    let units = ContainerFilm.units(of: try ContainerFile.make(.h264, frames: 3))
    // A message larger than what files begin with.
    let message: [UInt8] =
      [6, 5] + [UInt8](repeating: 255, count: 19) + [155]
      + [UInt8](repeating: 0x11, count: 5000) + [0x80]
    let file = ContainerFilm.sample([message] + units)
    #expect(try lines(file).count == 3)
    #expect(try report(file)["source"]?["format"]?.text == "avcc")
  }

  @Test(arguments: ["decode", "remux", "inspect"])
  func aMovieWithoutItsHeaderIsCalledThat(endpoint: String) throws {
    var builder = MP4Builder()
    builder.isMovieFirst = false
    let movie = try #require(BoxTree(builder.file)["moov"])
    let cut = Array(builder.file[..<(movie.content.lowerBound - 8)])
    let problem = try #require(throws: Problem.self) {
      switch endpoint {
      case "decode": _ = try decode(cut)
      case "remux": _ = try remux("format=h264", cut)
      default: _ = try report(cut)
      }
    }
    #expect(problem.code == .unrecognisedInput)
    #expect(problem.detail.contains("without its moov box"))
  }
}
