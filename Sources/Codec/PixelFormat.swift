internal import CFFmpeg

/// How much chroma there is beside the luma (H.264 table 6-1).
package enum ChromaFormat: String, CaseIterable, Sendable {
  case monochrome = "4:0:0"
  case yuv420 = "4:2:0"
  case yuv422 = "4:2:2"
  case yuv444 = "4:4:4"

  /// Chroma is sampled at every second column.
  package var halvesWidth: Bool { self == .yuv420 || self == .yuv422 }
  /// Chroma is sampled at every second line.
  package var halvesHeight: Bool { self == .yuv420 }
}

/// A layout of raw samples in memory, without padding between rows or planes.
///
/// The raw value is the layout's name in the API. Samples of more than 8 bits take two bytes,
/// little-endian, value in the low bits (the high bits for `p010le`).
package enum PixelFormat: String, CaseIterable, Sendable {
  case yuv420p, yv12, nv12, nv21
  case yuv422p, yuyv422, uyvy422, nv16
  case yuv444p
  case gray
  case rgb24, bgr24, rgba, bgra
  case yuv420p10le, yuv422p10le, yuv444p10le, p010le, gray10le
  case yuv420p9le, yuv422p9le, yuv444p9le
  case yuv420p12le, yuv422p12le, yuv444p12le
  case yuv420p14le, yuv422p14le, yuv444p14le

  /// How the samples of a picture are arranged.
  package enum Layout: Sendable {
    /// Y, Cb, Cr each in a plane of its own; only Y for monochrome.
    case planar
    /// Y in one plane, Cb and Cr interleaved in another.
    case semiPlanar
    /// Y, Cb, Cr interleaved in one plane, chroma for every second column.
    case packed
    /// R, G, B, and perhaps A, one byte each, interleaved in one plane.
    case rgb
  }

  /// Finds a layout by its name in the API, aliases included.
  package init?(named name: String) {
    if name == "i420" {
      self = .yuv420p
    } else if let format = PixelFormat(rawValue: name) {
      self = format
    } else {
      return nil
    }
  }

  /// The planar layout of that chroma format and bit depth, if there is one.
  package init?(planar chroma: ChromaFormat, bitDepth: Int) {
    let stem =
      switch chroma {
      case .monochrome: "gray"
      case .yuv420: "yuv420p"
      case .yuv422: "yuv422p"
      case .yuv444: "yuv444p"
      }
    self.init(rawValue: bitDepth == 8 ? stem : "\(stem)\(bitDepth)le")
  }

  /// What `/encode` takes as `pix_fmt`.
  package static let encodable: [PixelFormat] = [
    .yuv420p, .yv12, .nv12, .nv21, .yuv422p, .yuyv422, .uyvy422, .nv16, .yuv444p, .gray,
    .yuv420p10le, .yuv422p10le, .yuv444p10le, .p010le, .rgb24, .bgr24, .rgba, .bgra,
  ]

  package var layout: Layout {
    switch self {
    case .nv12, .nv21, .nv16, .p010le: .semiPlanar
    case .yuyv422, .uyvy422: .packed
    case .rgb24, .bgr24, .rgba, .bgra: .rgb
    default: .planar
    }
  }

  package var isRGB: Bool { layout == .rgb }

  /// Chroma sampling; RGB counts as 4:4:4.
  package var chroma: ChromaFormat {
    switch self {
    case .gray, .gray10le: .monochrome
    case .yuv420p, .yv12, .nv12, .nv21, .yuv420p9le, .yuv420p10le, .p010le, .yuv420p12le,
      .yuv420p14le:
      .yuv420
    case .yuv422p, .yuyv422, .uyvy422, .nv16, .yuv422p9le, .yuv422p10le, .yuv422p12le,
      .yuv422p14le:
      .yuv422
    case .yuv444p, .rgb24, .bgr24, .rgba, .bgra, .yuv444p9le, .yuv444p10le, .yuv444p12le,
      .yuv444p14le:
      .yuv444
    }
  }

  /// Bits of a sample that mean something.
  package var bitDepth: Int {
    switch self {
    case .yuv420p9le, .yuv422p9le, .yuv444p9le: 9
    case .yuv420p10le, .yuv422p10le, .yuv444p10le, .p010le, .gray10le: 10
    case .yuv420p12le, .yuv422p12le, .yuv444p12le: 12
    case .yuv420p14le, .yuv422p14le, .yuv444p14le: 14
    default: 8
    }
  }

  package var bytesPerSample: Int { bitDepth > 8 ? 2 : 1 }

  /// The Cr plane comes before the Cb plane.
  package var crFirst: Bool { self == .yv12 }

  /// One plane of a picture in memory.
  package struct Plane: Equatable, Sendable {
    /// Bytes from the start of the picture.
    package var offset: Int
    package var bytesPerRow: Int
    package var rows: Int
  }

  /// The planes in the order in which they lie in memory.
  ///
  /// A chroma plane of an odd size covers the last luma column and line too: sizes are rounded up.
  ///
  /// - Parameters:
  ///   - width: Luma samples, 1 to 2^20.
  ///   - height: Luma samples, 1 to 2^20.
  /// - Returns: One to three planes, each beginning where the one before ends.
  package func planes(width: Int, height: Int) -> [Plane] {
    let chromaWidth = chroma.halvesWidth ? (width + 1) / 2 : width
    let chromaHeight = chroma.halvesHeight ? (height + 1) / 2 : height
    var planes: [Plane] = []
    func add(samplesPerRow: Int, rows: Int) {
      let end = planes.last.map { $0.offset + $0.bytesPerRow * $0.rows } ?? 0
      planes.append(Plane(offset: end, bytesPerRow: samplesPerRow * bytesPerSample, rows: rows))
    }
    switch layout {
    case .planar:
      add(samplesPerRow: width, rows: height)
      if chroma != .monochrome {
        add(samplesPerRow: chromaWidth, rows: chromaHeight)
        add(samplesPerRow: chromaWidth, rows: chromaHeight)
      }
    case .semiPlanar:
      add(samplesPerRow: width, rows: height)
      add(samplesPerRow: 2 * chromaWidth, rows: chromaHeight)
    case .packed:
      add(samplesPerRow: 4 * chromaWidth, rows: height)
    case .rgb:
      add(samplesPerRow: (self == .rgb24 || self == .bgr24 ? 3 : 4) * width, rows: height)
    }
    return planes
  }

  /// Bytes of one picture.
  ///
  /// - Parameters:
  ///   - width: Luma samples, 1 to 2^20.
  ///   - height: Luma samples, 1 to 2^20.
  /// - Returns: The size of all planes together.
  package func bytesPerFrame(width: Int, height: Int) -> Int {
    planes(width: width, height: height).reduce(0) { $0 + $1.bytesPerRow * $1.rows }
  }
}

extension PixelFormat {
  /// libav's name for the layout; `yv12` is `yuv420p` with two plane pointers exchanged.
  var libav: AVPixelFormat {
    switch self {
    case .yuv420p, .yv12: AV_PIX_FMT_YUV420P
    case .nv12: AV_PIX_FMT_NV12
    case .nv21: AV_PIX_FMT_NV21
    case .yuv422p: AV_PIX_FMT_YUV422P
    case .yuyv422: AV_PIX_FMT_YUYV422
    case .uyvy422: AV_PIX_FMT_UYVY422
    case .nv16: AV_PIX_FMT_NV16
    case .yuv444p: AV_PIX_FMT_YUV444P
    case .gray: AV_PIX_FMT_GRAY8
    case .rgb24: AV_PIX_FMT_RGB24
    case .bgr24: AV_PIX_FMT_BGR24
    case .rgba: AV_PIX_FMT_RGBA
    case .bgra: AV_PIX_FMT_BGRA
    case .yuv420p10le: AV_PIX_FMT_YUV420P10LE
    case .yuv422p10le: AV_PIX_FMT_YUV422P10LE
    case .yuv444p10le: AV_PIX_FMT_YUV444P10LE
    case .p010le: AV_PIX_FMT_P010LE
    case .gray10le: AV_PIX_FMT_GRAY10LE
    case .yuv420p9le: AV_PIX_FMT_YUV420P9LE
    case .yuv422p9le: AV_PIX_FMT_YUV422P9LE
    case .yuv444p9le: AV_PIX_FMT_YUV444P9LE
    case .yuv420p12le: AV_PIX_FMT_YUV420P12LE
    case .yuv422p12le: AV_PIX_FMT_YUV422P12LE
    case .yuv444p12le: AV_PIX_FMT_YUV444P12LE
    case .yuv420p14le: AV_PIX_FMT_YUV420P14LE
    case .yuv422p14le: AV_PIX_FMT_YUV422P14LE
    case .yuv444p14le: AV_PIX_FMT_YUV444P14LE
    }
  }

  /// The layout that libav calls so; libav's full-range names (`yuvj420p`) count as their twins.
  init?(libav: AVPixelFormat) {
    switch libav {
    case AV_PIX_FMT_YUVJ420P: self = .yuv420p
    case AV_PIX_FMT_YUVJ422P: self = .yuv422p
    case AV_PIX_FMT_YUVJ444P: self = .yuv444p
    default:
      // `yuv420p` comes before `yv12`, so it wins.
      guard let format = PixelFormat.allCases.first(where: { $0.libav == libav }) else {
        return nil
      }
      self = format
    }
  }

  /// libx264 reads the layout as it is, plane pointers aside.
  package var isTakenByX264: Bool {
    switch self {
    case .yuv420p, .yv12, .nv12, .nv21, .yuv422p, .nv16, .yuv444p, .gray, .yuv420p10le,
      .yuv422p10le, .yuv444p10le, .gray10le:
      true
    default: false
    }
  }
}
