import Testing

@testable import NaluService

/// Boxes of an MP4 file that mean nothing cost next to nothing, however many there are.
@Suite struct ManyBoxesTests {
  private static let film = Result { () throws -> [UInt8] in
    try ContainerFile.make(.mp4, frames: 12)
  }

  /// The film with `boxes` between its media and its index.
  private static func file(_ boxes: [UInt8]) throws -> [UInt8] {
    let film = try film.get()
    let movie = try #require(BoxTree(film)["moov"])
    let box = movie.content.lowerBound - 8..<movie.content.upperBound
    var result = film
    result.replaceSubrange(box.lowerBound + 4..<box.lowerBound + 8, with: Array("free".utf8))
    return result + boxes + film[box]
  }

  private static func digests(_ file: [UInt8]) throws -> [Substring] {
    let decoded = try decode(file, decodeSettings(["format": "framemd5", "on_error": "fail"]))
    return String(decoding: decoded.bytes, as: UTF8.self).split(separator: "\n")
      .filter { !$0.hasPrefix("#") }
  }

  private static func many(_ type: String, _ count: Int, _ content: [UInt8] = []) -> [UInt8] {
    Array(repeatElement(MP4Builder.box(type, content), count: count).joined())
  }

  @Test(arguments: [
    ("free", 10_000, 0), ("free", 100_000, 1), ("moof", 100_000, 0), ("skip", 70_000, 8),
    ("mdat", 70_000, 0), ("free", 3, 100),
  ])
  func emptyBoxesInFrontOfTheIndexDoNotHideIt(type: String, count: Int, size: Int) throws {
    let file = try Self.file(Self.many(type, count, [UInt8](repeating: 1, count: size)))
    let expected = try Self.digests(Self.film.get())
    #expect(try Self.digests(file) == expected)
    for format in ["mp4", "h264"] {
      #expect(try Self.digests(remux("format=\(format)", file).bytes).count == expected.count)
    }
    #expect(try !transcode("preset=ultrafast", file).bytes.isEmpty)
    #expect(try report(file)["access_units"]?.items.count == expected.count)
  }

  @Test func boxesInPlentyAreRefused() throws {
    let few = try Self.file(Self.many("abcd", 60_000, [1]))
    #expect(try Self.digests(few).count == 12)
    let many = try Self.file(Self.many("abcd", 70_000, [1]))
    for refused in [
      #expect(throws: Problem.self) { try decode(many) },
      #expect(throws: Problem.self) { try remux("format=mp4", many) },
      #expect(throws: Problem.self) { try transcode("preset=ultrafast", many) },
    ] {
      #expect(refused?.code == .unsupportedFeature)
      #expect(refused?.detail.contains("boxes") == true)
    }
  }

  /// Two boxes and more for each frame, and what others put beside them.
  @Test func manyFragmentsAreNoPlentyOfBoxes() throws {
    let film = MP4Builder()
    let whole = film.fragmented
    let first = try #require(BoxTree(whole)["moof"]).content.lowerBound - 8
    var boxes: [UInt8] = []
    for _ in 0..<20_000 {
      boxes += MP4Builder.box("styp", Array("iso5".utf8) + bigEndian(0, 4)) + whole[first...]
    }
    var guardian = MP4Guard(Limits())
    var spool = Spool(in: .test)
    try spool.append((Array(whole[..<first]) + boxes).span)
    let upload = SpooledUpload(spool)
    while try guardian.step(upload) {}
    #expect(guardian.movie == .fragmented)
    #expect(guardian.repaired(upload, hiding: nil).movie == .fragmented)
  }

  @Test func aRunOfEmptyBoxesIsReadAsOne() throws {
    let start = try Self.film.get().count
    let file = try Self.file(Self.many("free", 40) + Self.many("abcd", 1, [1]))
    var guardian = MP4Guard(Limits())
    var spool = Spool(in: .test)
    try spool.append(file.span)
    let upload = SpooledUpload(spool)
    while try guardian.step(upload) {}
    #expect(guardian.movie == .whole)
    var headers = BoxHeaders()
    let repaired = guardian.repaired(upload, hiding: nil)
    let box = headers.header(at: start, before: repaired.count, of: repaired)
    #expect(box == BoxHeaders.Header(type: 0x6672_6565, size: 320, headerSize: 8))
  }
}
