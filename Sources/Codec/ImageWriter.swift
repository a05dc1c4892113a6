internal import CFFmpeg
internal import Dispatch

/// Writes pictures as PNG or JPEG files in memory.
///
/// Send pictures and receive images, in the same order; with several threads, as many pictures are
/// gathered as there are threads. After `finish`, receive until there is none.
package struct ImageWriter: ~Copyable {
  package enum FileFormat: Sendable {
    /// Full-range RGB, gray for monochrome video, 16 bits a sample for video of more than 8.
    case png
    /// Full-range BT.601 YCbCr as JFIF says, at high quality.
    case jpeg
  }

  package struct Settings: Equatable, Sendable {
    package var fileFormat = FileFormat.png
    /// Images made at once.
    package var threads = 1

    package init() {}
  }

  /// How a picture becomes an image.
  package struct Presentation: Equatable, Sendable {
    /// Columns of the image before it is turned.
    package var width: Int
    /// Rows of the image before it is turned.
    package var height: Int
    /// The video has no chroma.
    package var isMonochrome = false
    /// How the image is turned.
    package var orientation = Orientation.upright
    /// Width of a sample relative to its height, before it is turned; `nil` when unknown.
    package var sampleAspectRatio: Rational?

    package init(width: Int, height: Int) {
      self.width = width
      self.height = height
    }
  }

  /// A finished file.
  package struct Image: Sendable {
    /// What it was sent with.
    package var number: Int
    package var bytes: [UInt8]
  }

  private let lanes: [ImageLane]
  /// Lanes that have a picture.
  private var filled = 0
  private var finished: [Image] = []

  package init(_ settings: Settings) {
    lanes = (0..<max(1, settings.threads)).map { _ in ImageLane(settings.fileFormat) }
  }

  /// Hands over a picture.
  ///
  /// - Parameters:
  ///   - frame: The picture; it is kept until its image is out.
  ///   - number: Comes back with the image.
  ///   - presentation: Size and orientation of the image.
  /// - Throws: `CodecError` when libav cannot do it or there is no memory.
  package mutating func send(
    _ frame: consuming Frame, number: Int, as presentation: Presentation
  ) throws(CodecError) {
    lanes[filled].take(frame, number: number, as: presentation)
    filled += 1
    if filled == lanes.count { try makeImages() }
  }

  /// The next image, if one is ready.
  package mutating func receive() -> Image? {
    finished.isEmpty ? nil : finished.removeFirst()
  }

  /// No picture follows: the images that are still held back come out.
  package mutating func finish() throws(CodecError) {
    if filled > 0 { try makeImages() }
  }

  private mutating func makeImages() throws(CodecError) {
    let working = Array(lanes[..<filled])
    filled = 0
    let interruption = Interruption.current
    if working.count == 1 {
      working[0].work(until: interruption)
    } else {
      DispatchQueue.concurrentPerform(iterations: working.count) {
        working[$0].work(until: interruption)
      }
    }
    for lane in working { finished.append(try lane.takeImage()) }
  }
}

/// Makes one image at a time, with converters and buffers of its own.
private final class ImageLane {
  private let fileFormat: ImageWriter.FileFormat
  private var toRGB = PixelConverter()
  private var toYCbCr = PixelConverter()
  private var png: PNGWriter?
  private var jpeg: JPEGEncoder?

  private var frame: Frame?
  private var number = 0
  private var presentation = ImageWriter.Presentation(width: 1, height: 1)
  private var result: Result<[UInt8], CodecError>?

  init(_ fileFormat: ImageWriter.FileFormat) {
    self.fileFormat = fileFormat
  }

  func take(_ frame: consuming Frame, number: Int, as presentation: ImageWriter.Presentation) {
    self.frame = consume frame
    self.number = number
    self.presentation = presentation
  }

  /// Makes the image; called on any thread.
  func work(until interruption: Interruption?) {
    guard let frame = frame.take() else { return }
    do throws(CodecError) {
      result = .success(try image(of: frame, until: interruption))
    } catch {
      result = .failure(error)
    }
  }

  func takeImage() throws(CodecError) -> ImageWriter.Image {
    guard let result else { throw CodecError(function: "takeImage", code: -EINVAL) }
    self.result = nil
    return ImageWriter.Image(number: number, bytes: try result.get())
  }

  private func image(
    of frame: borrowing Frame, until interruption: Interruption?
  ) throws(CodecError) -> [UInt8] {
    let source = ColorCoding(of: frame)
    let full = ColorCoding(matrix: source.matrix, isFullRange: true)
    let (width, height) = (presentation.width, presentation.height)
    var picture = try toRGB.convert(
      frame, to: format(of: frame), coding: full, width: width, height: height)
    picture = try picture.turned(presentation.orientation)
    if fileFormat == .jpeg {
      let jfif = ColorCoding(matrix: ColorCoding.bt601, isFullRange: true)
      picture = try toYCbCr.convert(
        picture, to: frame.chromaIsFull ? AV_PIX_FMT_YUVJ444P : AV_PIX_FMT_YUVJ420P,
        coding: jfif, width: picture.width, height: picture.height)
    }
    picture.setSampleAspectRatio(presentation)
    return try fileFormat == .png
      ? encodePNG(picture, until: interruption) : encodeJPEG(picture)
  }

  /// What the picture becomes before it is turned.
  private func format(of frame: borrowing Frame) -> AVPixelFormat {
    if fileFormat == .jpeg { return AV_PIX_FMT_RGB24 }
    return switch (presentation.isMonochrome, frame.bitDepth > 8) {
    case (true, false): AV_PIX_FMT_GRAY8
    case (true, true): AV_PIX_FMT_GRAY16BE
    case (false, false): presentation.orientation == .upright ? AV_PIX_FMT_GBRP : AV_PIX_FMT_RGB24
    case (false, true): AV_PIX_FMT_RGB48BE
    }
  }

  private func encodePNG(
    _ picture: borrowing Frame, until interruption: Interruption?
  ) throws(CodecError) -> [UInt8] {
    if png == nil { png = try PNGWriter() }
    return try png?.write(picture, until: interruption) ?? []
  }

  private func encodeJPEG(_ picture: borrowing Frame) throws(CodecError) -> [UInt8] {
    let shape = JPEGEncoder.Shape(picture)
    if jpeg?.shape != shape {
      jpeg = nil
      jpeg = try JPEGEncoder(shape)
    }
    return try jpeg?.encode(picture) ?? []
  }
}

// SAFETY: between `take` and `takeImage` only one thread works on a lane.
extension ImageLane: @unchecked Sendable {}

extension Frame {
  fileprivate func setSampleAspectRatio(_ presentation: ImageWriter.Presentation) {
    av.pointer.pointee.sample_aspect_ratio = AVRational(num: 0, den: 1)
    guard let ratio = presentation.sampleAspectRatio else { return }
    let turned = Rational(ratio.denominator, ratio.numerator)
    av.pointer.pointee.sample_aspect_ratio =
      (presentation.orientation.swapsAxes ? turned : ratio).libav
  }
}
