import Testing

@testable import NaluService

/// What is not decoded, and what is said of damage.
@Suite struct DecodeRefusalTests {
  private let stream = PCMStream(widthInMbs: 2, heightInMbs: 2)

  private func problem(
    _ bytes: [UInt8], _ settings: DecodeSettings = DecodeSettings(), limits: Limits = Limits()
  ) -> Problem? {
    #expect(throws: Problem.self) { try decode(bytes, settings, limits: limits) }
  }

  @Test func anEmptyBodyIsRefused() {
    #expect(problem([])?.code == .emptyBody)
  }

  @Test(arguments: [
    [0xFF, 0xD8, 0xFF, 0xE0, 0, 0x10], Array("plain text".utf8), [UInt8](repeating: 0, count: 99),
    // The beginning of an HEVC stream: VPS, SPS, PPS, and an IDR slice.
    [
      0, 0, 0, 1, 0x40, 1, 0x0C, 1, 0, 0, 1, 0x42, 1, 1, 0, 0, 1, 0x44, 1, 0xC1, 0, 0, 1, 0x26, 1,
      0xAF,
    ],
  ])
  func otherInputIsNotRecognised(bytes: [UInt8]) {
    #expect(problem(bytes)?.code == .unrecognisedInput)
  }

  @Test func slicesWithoutParameterSetsAreRefused() {
    #expect(problem(stream.flat(.idr(id: 0), value: 1))?.code == .noParameterSets)
    #expect(problem(stream.pps + stream.flat(.idr(id: 0), value: 1))?.code == .noParameterSets)
  }

  @Test func parameterSetsAloneGiveNoPicture() {
    #expect(problem(stream.parameterSets)?.code == .undecodable)
  }

  @Test func aStreamWithoutAStartGivesNoPicture() {
    let problem = problem(stream.parameterSets + stream.flat(.predicted, value: 1))
    #expect(problem?.code == .undecodable)
    #expect(problem?.members.contains(.init("frames_skipped", 1)) == true)
  }

  /// Judged by the SPS alone, before anything of that size exists.
  @Test(arguments: [(1024, 1), (1, 1024), (1000, 1000)])
  func oversizedPicturesAreRefused(width: Int, height: Int) {
    let huge = PCMStream(widthInMbs: width + 1, heightInMbs: height + 1)
    let refusal = problem(stream.parameterSets + huge.sps)
    #expect(refusal?.code == .dimensionsTooLarge)
    #expect(refusal?.members.contains(.init("nal_unit", 2)) == true)
  }

  @Test func manyLargeReferencesAreRefused() {
    var large = PCMStream(widthInMbs: 256, heightInMbs: 256)
    #expect(problem(large.sps)?.code == .undecodable)
    large.chromaFormatIDC = 3
    large.profile = 244
    large.bitDepth = 14
    large.maxNumRefFrames = 16
    #expect(problem(large.sps)?.code == .dimensionsTooLarge)
  }

  @Test(arguments: ["88", "fmo", "planes", "sp", "aso", "partition"])
  func codingToolsThatWouldComeOutWrongAreRefused(tool: String) {
    var odd = stream
    var picture = odd.flat(.idr(id: 0), value: 1)
    let word: String
    switch tool {
    case "88":
      odd.profile = 88
      word = "profile_idc 88"
    case "fmo":
      odd.profile = 66
      odd.sliceGroups = 2
      word = "num_slice_groups_minus1"
    case "planes":
      odd.profile = 244
      odd.chromaFormatIDC = 3
      odd.separatePlanes = true
      word = "separate_colour_plane_flag"
    case "sp":
      picture += odd.picture(.intra, frameNum: 1, sliceType: 4) { _, _, _ in 1 }
      word = "SI slices"
    case "aso":
      odd.profile = 66
      picture = odd.picture(.idr(id: 0), firstMbs: [2, 0]) { _, _, _ in 1 }
      word = "arbitrary slice order"
    default:
      picture[4] = picture[4] & 0xE0 | 2
      word = "data partitioning"
    }
    let refusal = problem(odd.parameterSets + picture)
    #expect(refusal?.code == .unsupportedFeature)
    #expect(refusal?.detail.contains(word) == true, "\(refusal?.detail ?? "")")
  }

  /// Only Baseline may order slices freely; elsewhere it is damage, and no reason to refuse.
  @Test func slicesOutOfOrderAreDamageElsewhere() throws {
    let bytes =
      stream.parameterSets + stream.picture(.idr(id: 0), firstMbs: [2, 0]) { _, _, _ in 7 }
    #expect(try decode(bytes).header("Content-Type") == nil)
    #expect(try decode(bytes).answer.contentType == "image/png")
  }

  @Test func limitsHold() {
    var limits = Limits()
    limits.maxFrames = 2
    var bytes = stream.parameterSets
    for number in 0..<3 { bytes += stream.flat(.idr(id: number & 1), value: number) }
    #expect(problem(bytes, limits: limits)?.code == .tooManyFrames)
    limits = Limits()
    limits.maxNALUnits = 4
    #expect(problem(bytes, limits: limits)?.code == .tooManyNALUnits)
  }

  /// What fills an access unit up is not read into memory without limit.
  @Test func aPictureMuchLargerThanItsSamplesIsRefused() {
    let message = [UInt8](repeating: 0xFF, count: 3 << 20)
    let bytes =
      stream.parameterSets + PCMStream.unit(6, message) + stream.flat(.idr(id: 0), value: 1)
    #expect(problem(bytes)?.code == .undecodable)
  }

  @Test func damageIsConcealedAndCounted() throws {
    var bytes = stream.parameterSets
    bytes += stream.flat(.idr(id: 0), value: 50)
    let damaged = stream.picture(.idr(id: 1), firstMbs: [0, 2]) { _, _, _ in 60 }
    // The second slice is missing.
    let cut = damaged.count / 2
    let offset = bytes.count
    bytes += damaged[..<cut]
    bytes += stream.flat(.idr(id: 0), value: 70)
    let settings = try decodeSettings(["format": "yuv"])
    let decoded = try decode(bytes, settings)
    #expect(decoded.trailer("Nalu-Frames-Out") == "3")
    #expect(decoded.trailer("Nalu-Decode-Errors") == "1")
    #expect(decoded.bytes[decoded.bytes.count - 1] == 70)
    let failing = try decodeSettings(["format": "yuv", "on_error": "fail"])
    let refusal = problem(bytes, failing)
    #expect(refusal?.code == .undecodable)
    #expect(refusal?.members == [.init("offset", offset)])
    #expect(
      try decode(stream.parameterSets + stream.flat(.idr(id: 0), value: 5), failing).counters
        .framesOut == 1)
  }

  @Test func missingFramesAreCounted() throws {
    var bytes = stream.parameterSets + stream.flat(.idr(id: 0), value: 1)
    bytes += stream.flat(.intra, frameNum: 1, order: 2, value: 2)
    bytes += stream.flat(.intra, frameNum: 3, order: 6, value: 4)
    let decoded = try decode(bytes, decodeSettings(["format": "yuv"]))
    #expect(decoded.trailer("Nalu-Decode-Errors") == "1")
    var tolerant = stream
    tolerant.gapsAllowed = true
    bytes.replaceSubrange(0..<stream.parameterSets.count, with: tolerant.parameterSets)
    #expect(
      try decode(bytes, decodeSettings(["format": "yuv"])).trailer("Nalu-Decode-Errors") == "0")
  }

  /// A join in the middle of a stream: slices come before their parameter sets.
  @Test func picturesBeforeTheParameterSetsAreSkipped() throws {
    var bytes =
      stream.flat(.intra, frameNum: 1, value: 1) + stream.flat(.intra, frameNum: 2, value: 1)
    bytes += stream.parameterSets + stream.flat(.idr(id: 0), value: 9)
    let decoded = try decode(bytes, decodeSettings(["format": "yuv"]))
    #expect(decoded.bytes.first == 9)
    #expect(decoded.trailer("Nalu-Frames-Out") == "1")
    #expect(decoded.trailer("Nalu-Frames-Skipped") == "2")
  }

  @Test(arguments: [
    ["format": "png", "pix_fmt": "nv12"], ["format": "yuv", "archive": "zip"],
    ["format": "y4m", "pix_fmt": "rgb24"], ["format": "yuv", "deinterlace": "1"],
  ])
  func contradictionsAreRefused(query: [String: String]) throws {
    let values = try ParameterValues(
      query.map { ($0.key, $0.value) }, table: DecodeParameters.all)
    let refusal = #expect(throws: Problem.self) {
      _ = try DecodeOperation(
        DecodeSettings(values), limits: Limits(),
        spoolDirectory: SpoolDirectory(path: "/tmp", capacity: 0))
    }
    #expect(refusal?.code == .conflictingParameters)
  }
}
