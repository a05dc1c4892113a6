import Codec
import H264
import Testing

@testable import NaluService

/// What the parameters do to the stream, read back with the parser.
@Suite struct EncodeStructureTests {
  private func stream(
    _ query: String, frames: Int = 4, width: Int = 64, height: Int = 48
  ) throws -> EncodedStream {
    let settings = try EncodeSettings.query(query)
    let format = settings.pixelFormat ?? .yuv420p
    let size = format.bytesPerFrame(width: width, height: height) * frames
    var pictures = Array(movingPictures(width, height, count: frames * 4).prefix(size))
    // Samples of two bytes have few high bits.
    if format.bytesPerSample == 2 { pictures = pictures.map { $0 & 3 } }
    return try EncodedStream(encode("width=\(width)&height=\(height)&\(query)", pictures).bytes)
  }

  private func sps(_ query: String, width: Int = 64, height: Int = 48) throws
    -> SequenceParameterSet
  {
    try #require(stream(query, width: width, height: height).sequenceParameterSets.first)
  }

  @Test(
    arguments: [
      ("25", 25, 1), ("30000/1001", 30000, 1001), ("23.976", 24000, 1001), ("12.5", 25, 2),
      ("29.97", 30000, 1001), ("119.88", 120_000, 1001), ("1/3", 1, 3), ("14.985", 2997, 200),
    ])
  func writesExactlyTheFrameRate(fps: String, numerator: Int, denominator: Int) throws {
    let timing = try #require(sps("fps=\(fps)&preset=ultrafast").vui?.timing)
    #expect(timing.timeScale == 2 * numerator)
    #expect(timing.numUnitsInTick == denominator)
    #expect(timing.fixedFrameRate)
  }

  @Test(
    arguments: [
      ("profile=baseline", "Constrained Baseline"), ("profile=main", "Main"), ("", "High"),
      ("pix_fmt=yuv420p10le", "High 10"), ("pix_fmt=nv16", "High 4:2:2"),
      ("pix_fmt=yuv422p10le", "High 4:2:2"), ("pix_fmt=yuv444p", "High 4:4:4 Predictive"),
      ("qp=0", "High 4:4:4 Predictive"), ("crf=0.5", "High 4:4:4 Predictive"),
      ("pix_fmt=gray", "High"),
    ])
  func reachesTheProfile(query: String, profile: String) throws {
    #expect(try sps(query).profileName == profile)
  }

  @Test(arguments: [("level=3.1", "3.1"), ("level=4", "4.0"), ("level=6.2", "6.2"), ("", "1.0")])
  func writesTheLevel(query: String, level: String) throws {
    #expect(try sps(query).levelName == level)
  }

  @Test(arguments: ["profile=baseline", "profile=main", "profile=high"])
  func writesLevel1bAsEachProfileDoes(query: String) throws {
    let set = try sps("level=1b&fps=15&\(query)")
    #expect(set.isLevel1b)
    #expect(set.levelName == "1b")
  }

  @Test(
    arguments: [
      (2, 2, ""), (66, 50, ""), (176, 144, ""), (66, 51, "pix_fmt=yuv422p"),
      (67, 51, "pix_fmt=yuv444p"), (67, 51, "pix_fmt=gray"), (1, 1, "pix_fmt=gray"),
      (66, 52, "interlaced=tff"), (1920, 1080, "preset=ultrafast"),
    ])
  func cropsToTheSize(width: Int, height: Int, query: String) throws {
    let size = try sps(query.isEmpty ? "crf=30" : query, width: width, height: height).displaySize
    #expect(size?.width == width)
    #expect(size?.height == height)
  }

  @Test func writesColourTags() throws {
    let vui = try #require(
      sps("color_range=pc&colorspace=bt2020nc&color_primaries=bt2020&color_trc=smpte2084").vui)
    #expect(vui.videoFullRange == true)
    #expect(vui.colour?.primaries == 9)
    #expect(vui.colour?.transferCharacteristics == 16)
    #expect(vui.colour?.matrixCoefficients == 9)
  }

  @Test(
    arguments: ColourDescription.Primaries.allCases, ["", "&color_range=pc", "&color_trc=bt709"])
  func writesAllPrimaries(primaries: ColourDescription.Primaries, query: String) throws {
    let codes = [
      "bt709": 1, "bt470m": 4, "bt470bg": 5, "smpte170m": 6, "smpte240m": 7, "film": 8, "bt2020": 9,
      "smpte428": 10, "smpte431": 11, "smpte432": 12, "ebu3213": 22,
    ]
    let vui = try #require(
      sps("preset=ultrafast&color_primaries=\(primaries.rawValue)\(query)").vui)
    #expect(vui.colour?.primaries == codes[primaries.rawValue])
    #expect(vui.colour?.transferCharacteristics == (query.contains("trc") ? 1 : 2))
    #expect(vui.colour?.matrixCoefficients == 2)
    #expect(vui.videoFullRange == query.contains("pc"))
  }

  @Test(arguments: ColourDescription.Transfer.allCases)
  func writesAllTransferCharacteristics(transfer: ColourDescription.Transfer) throws {
    let codes = [
      "bt709": 1, "gamma22": 4, "gamma28": 5, "smpte170m": 6, "smpte240m": 7, "linear": 8,
      "log100": 9, "log316": 10, "iec61966-2-4": 11, "bt1361e": 12, "iec61966-2-1": 13,
      "bt2020-10": 14, "bt2020-12": 15, "smpte2084": 16, "smpte428": 17, "arib-std-b67": 18,
    ]
    let vui = try #require(sps("preset=ultrafast&color_trc=\(transfer.rawValue)").vui)
    #expect(vui.colour?.transferCharacteristics == codes[transfer.rawValue])
  }

  @Test(arguments: ColourDescription.Matrix.allCases)
  func writesAllMatrices(matrix: ColourDescription.Matrix) throws {
    let codes = [
      "gbr": 0, "bt709": 1, "fcc": 4, "bt470bg": 5, "smpte170m": 6, "smpte240m": 7, "ycgco": 8,
      "bt2020nc": 9, "bt2020c": 10, "smpte2085": 11, "chroma-derived-nc": 12,
      "chroma-derived-c": 13, "ictcp": 14,
    ]
    let vui = try #require(
      sps("preset=ultrafast&pix_fmt=yuv444p&colorspace=\(matrix.rawValue)").vui)
    #expect(vui.colour?.matrixCoefficients == codes[matrix.rawValue])
  }

  @Test(arguments: ["", "&format=h264&aud=1", "&preset=ultrafast&gop=1"])
  func writesLimitedRangeAlone(query: String) throws {
    let stream = try stream("color_range=tv\(query)")
    for set in stream.sequenceParameterSets {
      #expect(set.vui?.videoFullRange == false)
      #expect(set.vui?.colour == nil)
      #expect(set.vui?.videoFormat == 5)
    }
    let plain = try self.stream("fps=25\(query)")
    #expect(plain.sequenceParameterSets.first?.vui?.videoFullRange == nil)
    #expect(plain.pattern == stream.pattern)
  }

  /// The last line has 720 rows.
  @Test(arguments: [(64, 48, "", 6), (64, 48, "&colorspace=bt470bg", 5), (16, 720, "", 1)])
  func saysHowRGBWasConverted(width: Int, height: Int, query: String, matrix: Int) throws {
    let vui = try #require(sps("pix_fmt=rgb24\(query)", width: width, height: height).vui)
    #expect(vui.colour?.matrixCoefficients == matrix)
    #expect(vui.videoFullRange == false)
    #expect(vui.chromaSampleLocTypeTopField == 1)
  }

  @Test(arguments: [
    ("1:1", 1, 1), ("16:11", 16, 11), ("40/33", 40, 33), ("65535:65534", 65535, 65534),
  ])
  func writesTheSampleAspectRatio(sar: String, width: Int, height: Int) throws {
    #expect(try sps("sar=\(sar)").sampleAspectRatio == Ratio(width, height))
  }

  /// libavcodec forgets ratios that leave nothing of a dimension.
  @Test func keepsOneSPSWithAnExtremeAspectRatio() throws {
    let stream = try stream("sar=65535:1&gop=2", frames: 4)
    #expect(stream.sequenceParameterSets.count == 2)
    #expect(stream.sequenceParameterSets.allSatisfy { $0 == stream.sequenceParameterSets[0] })
    #expect(stream.sequenceParameterSets[0].sampleAspectRatio == Ratio(65535, 1))
  }

  @Test func codesEntropyAsAsked() throws {
    func isCABAC(_ query: String) throws -> Bool? {
      try stream(query).pictureParameterSets.first?.entropyCodingMode
    }
    #expect(try isCABAC("entropy=cabac&preset=ultrafast") == true)
    #expect(try isCABAC("entropy=cavlc") == false)
    #expect(try isCABAC("profile=baseline") == false)
    #expect(try isCABAC("preset=medium") == true)
  }

  @Test func writesNoHypotheticalReferenceDecoder() throws {
    let vui = try #require(sps("maxrate=1M&bitrate=1M").vui)
    #expect(vui.nalHRD == nil)
    #expect(vui.vclHRD == nil)
  }

  @Test(arguments: [1, 2, 5, 16])
  func keepsAsManyReferenceFrames(refs: Int) throws {
    #expect(try sps("refs=\(refs)&bframes=0").maxNumRefFrames == refs)
  }

  @Test func fitsReferenceFramesToTheLevel() throws {
    // 352x288 in level 1.1: room for two frames, though medium wants three and a B-pyramid.
    let set = try sps("level=1.1&fps=5", width: 352, height: 288)
    #expect(set.levelName == "1.1")
    #expect(set.maxNumRefFrames <= 2)
    #expect(set.maxDpbFrames == 2)
  }

  @Test(arguments: ["realtime=1", "profile=baseline", "bframes=0", "preset=ultrafast"])
  func codesNoBFramesHere(query: String) throws {
    #expect(try !stream(query, frames: 12).pattern.contains("B"))
  }

  @Test func codesRunsOfBFramesUpToTheLimit() throws {
    let pattern = try stream("bframes=2&gop=30", frames: 24).pattern
    #expect(pattern.contains("BB"))
    #expect(!pattern.contains("BBB"))
  }

  @Test(arguments: [1, 3])
  func cutsPicturesIntoSlices(slices: Int) throws {
    for query in ["", "&realtime=1", "&realtime=1&threads=2"] {
      let stream = try stream("slices=\(slices)\(query)", height: 96)
      #expect(stream.accessUnits.allSatisfy { $0.slices.count == slices })
    }
  }

  @Test func beginsEveryAccessUnitWithADelimiterWhenAsked() throws {
    let stream = try stream("aud=1&slices=2", frames: 6)
    #expect(stream.accessUnits.allSatisfy { $0.units.first?.type == .accessUnitDelimiter })
    #expect(try self.stream("slices=2").units(.accessUnitDelimiter) == 0)
  }

  @Test(arguments: ["tff", "bff"])
  func codesInterlacedFrames(order: String) throws {
    let stream = try stream("interlaced=\(order)&preset=ultrafast")
    let set = try #require(stream.sequenceParameterSets.first)
    #expect(!set.frameMbsOnly)
    #expect(set.vui?.picStructPresent == true)
    // The second field in time has the larger picture order count.
    let delta = try #require(stream.accessUnits.first?.slices.first?.deltaPicOrderCntBottom)
    #expect(order == "tff" ? delta > 0 : delta < 0)
  }
}
