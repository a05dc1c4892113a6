internal import Codec

/// The first line of a Y4M stream: `YUV4MPEG2 W176 H144 F25:1 Ip A1:1 C420jpeg`.
struct Y4MHeader: Equatable, Sendable {
  static let magic = [UInt8]("YUV4MPEG2 ".utf8)
  static let frameMagic = [UInt8]("FRAME".utf8)

  let video: RawVideo

  /// Reads the line, its newline removed.
  init(_ line: [UInt8]) throws(Problem) {
    var tags = Tags()
    for tag in line.dropFirst(Self.magic.count).split(separator: UInt8(ascii: " ")) {
      try tags.read(String(decoding: tag, as: UTF8.self))
    }
    guard let width = tags.width, let height = tags.height else {
      throw Problem(.unrecognisedInput, "The Y4M header has no W and H tags with the size.")
    }
    let layout = tags.layout ?? Layout(.yuv420p, .center)
    var video = RawVideo(width: width, height: height, pixelFormat: layout.format)
    video.frameRate = tags.frameRate
    video.interlacing = tags.interlacing
    video.sampleAspectRatio = tags.sampleAspectRatio
    video.colorRange = tags.colorRange
    video.chromaLocation = layout.location
    self.video = video
  }

  /// What a `C` tag says.
  private struct Layout {
    var format: PixelFormat
    var location: ChromaLocation?

    init(_ format: PixelFormat, _ location: ChromaLocation? = nil) {
      self.format = format
      self.location = location
    }

    init?(_ name: String) {
      switch name {
      case "420", "420jpeg": self.init(.yuv420p, .center)
      case "420mpeg2": self.init(.yuv420p, .left)
      case "420paldv": self.init(.yuv420p, .topLeft)
      case "422": self.init(.yuv422p)
      case "444": self.init(.yuv444p)
      case "mono": self.init(.gray)
      case "mono10": self.init(.gray10le)
      default:
        // `420p10` and the like: a bit depth after the letter.
        let parts = name.split(separator: "p", maxSplits: 1)
        guard parts.count == 2, let depth = decimalInteger(parts[1]), depth > 8 else { return nil }
        let chroma: ChromaFormat
        switch parts[0] {
        case "420": chroma = .yuv420
        case "422": chroma = .yuv422
        case "444": chroma = .yuv444
        default: return nil
        }
        guard let format = PixelFormat(planar: chroma, bitDepth: depth) else { return nil }
        self.init(format)
      }
    }
  }

  private struct Tags {
    var width: Int?
    var height: Int?
    var frameRate: Rational?
    var interlacing: EncodeSettings.Interlacing?
    var sampleAspectRatio: Rational?
    var layout: Layout?
    var colorRange: ColourDescription.Range?

    mutating func read(_ tag: String) throws(Problem) {
      let value = String(tag.dropFirst())
      switch tag.first {
      case "W": width = try size(tag)
      case "H": height = try size(tag)
      case "F": frameRate = try ratio(tag, limit: 1_000_000_000)
      case "A": sampleAspectRatio = try ratio(tag, limit: 65535)
      case "I": interlacing = try interlacing(tag)
      case "C":
        guard let known = Layout(value) else {
          throw Problem(
            .unsupportedFeature,
            "The Y4M header says C\(excerpt(value)); taken are C420jpeg, C420mpeg2, C420paldv, "
              + "C422, C444, Cmono, Cmono10, and C420p, C422p, C444p with 9, 10, 12 or 14.")
        }
        layout = known
      case "X":
        if value == "COLORRANGE=FULL" { colorRange = .pc }
        if value == "COLORRANGE=LIMITED" { colorRange = .tv }
      // Other tags are to be ignored.
      default: break
      }
    }

    private func size(_ tag: String) throws(Problem) -> Int {
      guard let size = decimalInteger(tag.dropFirst()), (1...1_000_000).contains(size) else {
        throw Problem(.unrecognisedInput, "The Y4M header has a bad size, \(excerpt(tag)).")
      }
      return size
    }

    /// `0:0` means unknown.
    private func ratio(_ tag: String, limit: Int) throws(Problem) -> Rational? {
      let terms = tag.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
        .compactMap { decimalInteger($0) }
      guard terms.count == 2, terms.allSatisfy({ (0...limit).contains($0) }),
        (terms[0] == 0) == (terms[1] == 0)
      else {
        throw Problem(
          .unrecognisedInput, "The Y4M header has a bad ratio, \(excerpt(tag)).")
      }
      return terms[0] == 0 ? nil : Rational(terms[0], terms[1]).reduced
    }

    private func interlacing(_ tag: String) throws(Problem) -> EncodeSettings.Interlacing? {
      switch tag.dropFirst() {
      case "?": return nil
      case "p": return .no
      case "t": return .tff
      case "b": return .bff
      case "m":
        throw Problem(
          .unsupportedFeature,
          "The Y4M header says Im: interlaced and progressive frames mixed cannot be encoded.")
      default:
        throw Problem(
          .unrecognisedInput,
          "The Y4M header has \(excerpt(tag)); interlacing is Ip, It, Ib or I?.")
      }
    }

    private func excerpt(_ text: String) -> String { String(text.prefix(40)) }
  }
}
