import CFFmpeg
import Testing

@testable import Codec

@Suite struct PixelFormatTests {
  private static let sizes = [(1, 1), (2, 2), (3, 5), (66, 50), (177, 145), (1920, 1080)]

  @Test(arguments: PixelFormat.allCases, sizes)
  func takesAsManyBytesAsLibavSays(format: PixelFormat, size: (width: Int, height: Int)) {
    let expected = av_image_get_buffer_size(
      format.libav, Int32(size.width), Int32(size.height), 1)
    #expect(format.bytesPerFrame(width: size.width, height: size.height) == Int(expected))
  }

  @Test(arguments: PixelFormat.allCases)
  func agreesWithLibavOnDepthAndSampling(format: PixelFormat) throws {
    let description = try #require(av_pix_fmt_desc_get(format.libav)).pointee
    #expect(format.bitDepth == Int(description.comp.0.depth))
    #expect(format.chroma.halvesWidth == (description.log2_chroma_w == 1))
    #expect(format.chroma.halvesHeight == (description.log2_chroma_h == 1))
    #expect(format.isRGB == (description.flags & UInt64(AV_PIX_FMT_FLAG_RGB) != 0))
    #expect((format.chroma == .monochrome) == (description.nb_components == 1))
  }

  @Test func isTakenByX264WhereItsWrapperListsTheLayout() throws {
    let codec = try #require(avcodec_find_encoder_by_name("libx264"))
    var listed: [AVPixelFormat] = []
    var next = codec.pointee.pix_fmts
    while let format = next?.pointee, format != AV_PIX_FMT_NONE {
      listed.append(format)
      next = next?.successor()
    }
    for format in PixelFormat.allCases {
      #expect(format.isTakenByX264 == listed.contains(format.libav), "\(format)")
    }
  }

  @Test func knowsTheOtherNameOfPlanar420() {
    #expect(PixelFormat(named: "i420") == .yuv420p)
    #expect(PixelFormat(named: "nv12") == .nv12)
    #expect(PixelFormat(named: "yuv411p") == nil)
  }

  @Test func namesPlanarLayoutsByChromaAndDepth() {
    #expect(PixelFormat(planar: .yuv422, bitDepth: 10) == .yuv422p10le)
    #expect(PixelFormat(planar: .monochrome, bitDepth: 8) == .gray)
    #expect(PixelFormat(planar: .monochrome, bitDepth: 12) == nil)
  }
}
