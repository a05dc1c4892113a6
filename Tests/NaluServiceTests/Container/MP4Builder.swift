/// Writes MP4 files of one video track, part by part as a test wants them.
struct MP4Builder {
  var film = ContainerFilm.small
  var lengthSize = 4
  var isMovieFirst = true
  var hasLargeOffsets = false
  /// Samples of each chunk.
  var chunkSize = 2
  var width: Int?
  var syncSamples: [Int]?
  /// media_time of an edit list of one edit.
  var mediaTime: Int?
  var matrix = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x4000_0000]
  /// What is put behind the track.
  var otherTracks: [UInt8] = []
  var sampleSizes: [Int]?
  var recordSPS: [[UInt8]]?

  static let ticks = 512
  static let timeScale = 12800

  static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
    bigEndian(8 + content.count, 4) + Array(type.utf8) + content
  }

  static func full(_ type: String, version: Int = 0, flags: Int = 0, _ content: [UInt8])
    -> [UInt8]
  {
    box(type, [UInt8(version)] + bigEndian(flags, 3) + content)
  }

  var samples: [[UInt8]] {
    film.pictures.map { ContainerFilm.sample($0.units, lengthSize: lengthSize) }
  }

  /// The whole file.
  var file: [UInt8] {
    let type = Self.box("ftyp", Array("isom".utf8) + bigEndian(512, 4) + Array("isomavc1".utf8))
    let media = Self.box("mdat", samples.flatMap { $0 })
    let size = movie(mediaStart: 0).count
    return isMovieFirst
      ? type + movie(mediaStart: type.count + size + 8) + media
      : type + media + movie(mediaStart: type.count + 8)
  }

  func movie(mediaStart: Int, isFragmented: Bool = false) -> [UInt8] {
    let duration = film.pictures.count * Self.ticks
    let header = Self.full(
      "mvhd",
      bigEndian(0, 8) + bigEndian(1000, 4) + bigEndian(duration * 1000 / Self.timeScale, 4)
        + [UInt8](repeating: 0, count: 80))
    let extends = Self.box(
      "mvex", Self.full("trex", [1, 1, Self.ticks, 0, 0x10000].flatMap { bigEndian($0, 4) }))
    return Self.box(
      "moov",
      header + track(mediaStart, isFragmented: isFragmented) + otherTracks
        + (isFragmented ? extends : []))
  }

  private func track(_ mediaStart: Int, isFragmented: Bool) -> [UInt8] {
    let duration = isFragmented ? 0 : film.pictures.count * Self.ticks
    let header = Self.full(
      "tkhd", flags: 3,
      bigEndian(0, 8) + bigEndian(1, 4) + bigEndian(0, 4) + bigEndian(0, 4)
        + [UInt8](repeating: 0, count: 16) + matrix.flatMap { bigEndian($0, 4) }
        + bigEndian((width ?? film.width) << 16, 4) + bigEndian(film.height << 16, 4))
    let edit = mediaTime.map {
      Self.box(
        "edts",
        Self.full("elst", [1, 200, $0, 0x10000].flatMap { bigEndian($0, 4) }))
    }
    let mediaHeader = Self.full(
      "mdhd",
      bigEndian(0, 8) + bigEndian(Self.timeScale, 4) + bigEndian(duration, 4)
        + bigEndian(0x15C7, 2) + [0, 0])
    let handler = Self.full(
      "hdlr", bigEndian(0, 4) + Array("vide".utf8) + bigEndian(0, 12) + Array("Film\0".utf8))
    let table =
      description
      + (isFragmented ? emptyTables : tables(mediaStart))
    return Self.box(
      "trak",
      header + (edit ?? [])
        + Self.box(
          "mdia", mediaHeader + handler + Self.box("minf", Self.box("stbl", table))))
  }

  private var description: [UInt8] {
    let entry =
      bigEndian(0, 6) + bigEndian(1, 2) + bigEndian(0, 16) + bigEndian(width ?? film.width, 2)
      + bigEndian(film.height, 2) + [UInt8](repeating: 0, count: 50)
      + Self.box("avcC", film.record(lengthSize: lengthSize, sps: recordSPS))
    return Self.full("stsd", bigEndian(1, 4) + Self.box("avc1", entry))
  }

  private var emptyTables: [UInt8] {
    ["stts", "stsc", "stco"].flatMap { Self.full($0, bigEndian(0, 4)) }
      + Self.full("stsz", bigEndian(0, 8))
  }

  private func tables(_ mediaStart: Int) -> [UInt8] {
    let sizes = sampleSizes ?? samples.map(\.count)
    var offsets: [Int] = []
    var offset = mediaStart
    for (index, sample) in samples.enumerated() {
      if index % chunkSize == 0 { offsets.append(offset) }
      offset += sample.count
    }
    let sync =
      syncSamples ?? film.pictures.indices.filter { film.pictures[$0].isKeyframe }.map { $0 + 1 }
    func table(_ type: String, _ entries: [[Int]]) -> [UInt8] {
      Self.full(
        type, bigEndian(entries.count, 4) + entries.flatMap { $0.flatMap { bigEndian($0, 4) } })
    }
    return table("stts", [[film.pictures.count, Self.ticks]])
      + table("ctts", film.pictures.map { [1, $0.delay * Self.ticks] })
      + table("stss", sync.map { [$0] })
      + table("stsc", [[1, chunkSize, 1]])
      + Self.full(
        "stsz", bigEndian(0, 4) + bigEndian(sizes.count, 4) + sizes.flatMap { bigEndian($0, 4) })
      + Self.full(
        hasLargeOffsets ? "co64" : "stco",
        bigEndian(offsets.count, 4)
          + offsets.flatMap { bigEndian($0, hasLargeOffsets ? 8 : 4) })
  }

  /// The same film in fragments of two samples.
  var fragmented: [UInt8] {
    var file = Self.box("ftyp", Array("iso5".utf8) + bigEndian(0, 4))
    file += movie(mediaStart: 0, isFragmented: true)
    for first in stride(from: 0, to: film.pictures.count, by: 2) {
      let range = first..<min(first + 2, film.pictures.count)
      let size = fragment(range, dataOffset: 0).count
      file += fragment(range, dataOffset: size + 8)
      file += Self.box("mdat", range.flatMap { samples[$0] })
    }
    return file
  }

  func fragment(_ range: Range<Int>, dataOffset: Int) -> [UInt8] {
    let entries = range.flatMap { index in
      [
        samples[index].count, film.pictures[index].isKeyframe ? 0x200_0000 : 0x101_0000,
        film.pictures[index].delay * Self.ticks,
      ].flatMap { bigEndian($0, 4) }
    }
    let run = Self.full(
      "trun", flags: 0xE01, bigEndian(range.count, 4) + bigEndian(dataOffset, 4) + entries)
    let time = Self.full(
      "tfdt", version: 1, bigEndian(range.lowerBound * Self.ticks, 8))
    let header = Self.full("tfhd", flags: 0x20000, bigEndian(1, 4))
    return Self.box(
      "moof", Self.full("mfhd", bigEndian(1, 4)) + Self.box("traf", header + time + run))
  }
}
