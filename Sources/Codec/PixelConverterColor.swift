internal import CFFmpeg

/// How sample values stand for colours.
struct ColorCoding: Equatable {
  /// matrix_coefficients (H.264 table E-5), as libswscale numbers them.
  var matrix: Int32
  /// Luma runs from 0 to the largest value, not from 16 to 235 (of 8 bits).
  var isFullRange: Bool

  static let bt601: Int32 = 5
  private static let bt709: Int32 = 1

  init(matrix: Int32, isFullRange: Bool) {
    self.matrix = matrix
    self.isFullRange = isFullRange
  }

  /// As the tags of `frame` say; untagged means limited range, BT.709 from 720 lines up, else BT.601.
  init(of frame: borrowing Frame) {
    let picture = frame.av.pointer.pointee
    let format = AVPixelFormat(picture.format)
    let isFull = picture.color_range == AVCOL_RANGE_JPEG || format != format.withoutRange
    isFullRange = isFull || format.isRGB
    matrix =
      switch picture.colorspace {
      case AVCOL_SPC_BT709, AVCOL_SPC_FCC, AVCOL_SPC_BT470BG, AVCOL_SPC_SMPTE170M,
        AVCOL_SPC_SMPTE240M, AVCOL_SPC_BT2020_NCL, AVCOL_SPC_BT2020_CL:
        Int32(picture.colorspace.rawValue)
      default:
        picture.height >= 720 ? ColorCoding.bt709 : ColorCoding.bt601
      }
  }
}

extension AVPixelFormat {
  /// The format without what libav's old full-range names say of the range.
  var withoutRange: AVPixelFormat {
    switch self {
    case AV_PIX_FMT_YUVJ420P: AV_PIX_FMT_YUV420P
    case AV_PIX_FMT_YUVJ422P: AV_PIX_FMT_YUV422P
    case AV_PIX_FMT_YUVJ444P: AV_PIX_FMT_YUV444P
    default: self
    }
  }

  var halvesChromaHeight: Bool {
    av_pix_fmt_desc_get(self)?.pointee.log2_chroma_h == 1
  }

  /// Luma and both chroma components, not interleaved with the luma.
  var isPlanarYCbCr: Bool {
    guard let description = av_pix_fmt_desc_get(self)?.pointee else { return false }
    let isPlanar = description.flags & UInt64(AV_PIX_FMT_FLAG_PLANAR) != 0
    return isPlanar && !isRGB && description.nb_components == 3
  }

  var isRGB: Bool {
    guard let description = av_pix_fmt_desc_get(self) else { return false }
    return description.pointee.flags & UInt64(AV_PIX_FMT_FLAG_RGB) != 0
  }
}
