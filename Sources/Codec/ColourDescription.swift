/// What the numbers of a picture mean: the colour elements of the VUI (H.264 §E.2.1).
///
/// `nil` leaves the element out, or codes it as unspecified.
package struct ColourDescription: Equatable, Sendable {
  package var range: Range?
  package var primaries: Primaries?
  package var transfer: Transfer?
  package var matrix: Matrix?

  package init() {}

  /// There is nothing to write but that the range is limited.
  var isLimitedRangeOnly: Bool {
    range == .tv && primaries == nil && transfer == nil && matrix == nil
  }

  /// `video_full_range_flag`, by ffmpeg's names.
  package enum Range: String, CaseIterable, Sendable {
    /// Limited: 16 is black.
    case tv
    /// Full: 0 is black.
    case pc
  }

  /// `colour_primaries` (table E-3), by ffmpeg's names.
  package enum Primaries: String, CaseIterable, Sendable {
    case bt709, bt470m, bt470bg, smpte170m, smpte240m, film, bt2020
    case smpte428, smpte431, smpte432
    case ebu3213

    var code: Int32 {
      switch self {
      case .bt709: 1
      case .bt470m: 4
      case .bt470bg: 5
      case .smpte170m: 6
      case .smpte240m: 7
      case .film: 8
      case .bt2020: 9
      case .smpte428: 10
      case .smpte431: 11
      case .smpte432: 12
      case .ebu3213: 22
      }
    }
  }

  /// `transfer_characteristics` (table E-4), by ffmpeg's names.
  package enum Transfer: String, CaseIterable, Sendable {
    case bt709
    case gamma22, gamma28
    case smpte170m, smpte240m, linear, log100, log316
    case iec61966_2_4 = "iec61966-2-4"
    case bt1361e
    case iec61966_2_1 = "iec61966-2-1"
    case bt2020_10 = "bt2020-10"
    case bt2020_12 = "bt2020-12"
    case smpte2084, smpte428
    case arib_std_b67 = "arib-std-b67"

    var code: Int32 {
      switch self {
      case .bt709: 1
      case .gamma22: 4
      case .gamma28: 5
      case .smpte170m: 6
      case .smpte240m: 7
      case .linear: 8
      case .log100: 9
      case .log316: 10
      case .iec61966_2_4: 11
      case .bt1361e: 12
      case .iec61966_2_1: 13
      case .bt2020_10: 14
      case .bt2020_12: 15
      case .smpte2084: 16
      case .smpte428: 17
      case .arib_std_b67: 18
      }
    }
  }

  /// `matrix_coefficients` (table E-5), by ffmpeg's names.
  package enum Matrix: String, CaseIterable, Sendable {
    case gbr, bt709, fcc, bt470bg, smpte170m, smpte240m, ycgco, bt2020nc, bt2020c, smpte2085
    case chromaDerivedNC = "chroma-derived-nc"
    case chromaDerivedC = "chroma-derived-c"
    case ictcp

    var code: Int32 {
      switch self {
      case .gbr: 0
      case .bt709: 1
      case .fcc: 4
      case .bt470bg: 5
      case .smpte170m: 6
      case .smpte240m: 7
      case .ycgco: 8
      case .bt2020nc: 9
      case .bt2020c: 10
      case .smpte2085: 11
      case .chromaDerivedNC: 12
      case .chromaDerivedC: 13
      case .ictcp: 14
      }
    }

    /// RGB can be converted with this matrix.
    package var convertsRGB: Bool {
      switch self {
      case .bt709, .fcc, .bt470bg, .smpte170m, .smpte240m, .bt2020nc: true
      default: false
      }
    }
  }
}

/// Where 4:2:0 chroma samples lie: `chroma_sample_loc_type` (H.264 figure E-1).
package enum ChromaLocation: Int, Sendable {
  /// Between lines, under every second luma column: what a stream without the element means.
  case left = 0
  /// In the middle of four luma samples, as in JPEG.
  case center = 1
  /// On every second luma sample of every second line, as in DV.
  case topLeft = 2
}
