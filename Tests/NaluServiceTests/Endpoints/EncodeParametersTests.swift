import Codec
import Testing

@testable import NaluService

@Suite struct EncodeParametersTests {
  @Test func readsEveryParameter() throws {
    var expected = EncodeSettings()
    expected.width = 320
    expected.height = 240
    expected.pixelFormat = .yuv420p
    expected.chromaFormat = .yuv422
    expected.frameRate = Rational(30000, 1001)
    expected.bitrate = 2_500_000
    expected.crf = 18.5
    expected.qp = 20
    expected.maxRate = 3_000_000
    expected.bufferSize = 1_500_000
    expected.gop = 50
    expected.sceneCut = false
    expected.forcedKeyframes = [0, 50, 100]
    expected.bitrateChanges = [
      .init(frame: 50, bitrate: 2_000_000), .init(frame: 200, bitrate: 800_000),
    ]
    expected.bframes = 2
    expected.references = 4
    expected.entropyCoding = .cavlc
    expected.openGOP = true
    expected.intraRefresh = true
    expected.profile = .high422
    expected.level = "4.0"
    expected.realtime = true
    expected.preset = .veryfast
    expected.tunes = [.film, .fastdecode]
    expected.slices = 4
    expected.threads = 2
    expected.accessUnitDelimiters = true
    expected.repeatsParameterSets = false
    expected.interlacing = .bff
    expected.colour.range = .pc
    expected.colour.matrix = .bt709
    expected.colour.primaries = .smpte170m
    expected.colour.transfer = .iec61966_2_1
    expected.sampleAspectRatio = Rational(16, 11)
    expected.format = .avcc
    let query =
      "width=320&height=240&pix_fmt=i420&chroma_format=4:2:2&fps=29.97&bitrate=2.5M&crf=18.5&qp=20"
      + "&maxrate=3M&bufsize=1500k&gop=50&scenecut=0&force_keyframes=0,50,100"
      + "&bitrate_changes=50:2M,200:800k&bframes=2&refs=4&entropy=cavlc&open_gop=1"
      + "&intra_refresh=true&profile=high422&level=4&realtime=1&preset=veryfast"
      + "&tune=film,fastdecode&slices=4&threads=2&aud=1&repeat_headers=0&interlaced=bff"
      + "&color_range=pc&colorspace=bt709&color_primaries=smpte170m&color_trc=iec61966-2-1"
      + "&sar=16:11&format=avcc"
    #expect(try EncodeSettings.query(query) == expected)
    // Nothing in the table is left out above.
    let given = Set(query.split(separator: "&").map { String($0.prefix { $0 != "=" }) })
    #expect(given == Set(EncodeParameters.all.map(\.name)))
  }

  /// libx264 counts in thousands of bits.
  @Test(arguments: [("1499", 1000), ("1500", 2000), ("640400", 640_000), ("2.5M", 2_500_000)])
  func roundsBitsToThousands(text: String, bits: Int) throws {
    let settings = try EncodeSettings.query(
      "bitrate=\(text)&maxrate=\(text)&bufsize=\(text)&bitrate_changes=1:\(text)")
    #expect(settings.bitrate == bits)
    #expect(settings.maxRate == bits)
    #expect(settings.bufferSize == bits)
    #expect(settings.bitrateChanges.map(\.bitrate) == [bits])
    for parameter in EncodeParameters.all where parameter.expectation.contains("bits from") {
      #expect(parameter.help.contains("rounded to thousands"), "\(parameter.name)")
    }
  }

  @Test func leavesOutWhatIsAuto() throws {
    #expect(try EncodeSettings.query("chroma_format=auto&profile=auto&level=auto") == .init())
  }

  @Test(
    arguments: [
      "width=0", "height=-2", "pix_fmt=yuv411p", "pix_fmt=gray10le", "chroma_format=4:0:0",
      "fps=0", "fps=25/0", "fps=1001", "bitrate=999", "bitrate=1G", "crf=52", "crf=-1", "qp=64",
      "maxrate=x", "bufsize=3000M", "gop=0", "scenecut=2", "force_keyframes=1,,2",
      "force_keyframes=-1", "bitrate_changes=0:1M", "bitrate_changes=5",
      "bitrate_changes=5:1M,5:2M",
      "bitrate_changes=5:10", "bframes=17", "refs=0", "entropy=vlc", "open_gop=yes",
      "profile=extended", "level=7", "level=1.4", "preset=slowest", "tune=film,film", "tune=",
      "slices=-1", "threads=129", "interlaced=1", "color_range=mpeg", "colorspace=bt601",
      "color_primaries=srgb", "color_trc=gamma24", "sar=0:1", "format=avi",
    ])
  func refusesValuesThatCannotBeUsed(query: String) {
    let problem = #expect(throws: Problem.self) { try EncodeSettings.query(query) }
    #expect(problem?.code == .invalidParameter)
    #expect(problem?.parameter == String(query.prefix { $0 != "=" }))
  }

  @Test(
    arguments: [
      ("framerate", "fps"), ("r", "fps"), ("keyint", "gop"), ("g", "gop"),
      ("pixel_format", "pix_fmt"), ("video_size", "width and height"), ("s", "width and height"),
      ("b", "bitrate"), ("b:v", "bitrate"), ("bf", "bframes"),
      ("force_key_frames", "force_keyframes"), ("profile:v", "profile"),
      ("vbv-maxrate", "maxrate"), ("widht", "width"), ("AverageBitRate", "bitrate"),
    ])
  func suggestsItsOwnNameForThoseOfOthers(name: String, known: String) {
    let problem = #expect(throws: Problem.self) { try EncodeSettings.query("\(name)=1") }
    #expect(problem?.code == .unknownParameter)
    #expect(problem?.detail.hasSuffix("Did you mean \(known)?") == true)
  }
}
