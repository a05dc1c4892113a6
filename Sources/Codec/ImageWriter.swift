internal import CFFmpeg

/// Writes pictures as PNG or JPEG files in memory.
///
/// Send pictures and receive images, in the same order; with several threads an image comes out
/// some pictures later. After `finish`, receive until there is none.
package struct ImageWriter: ~Copyable {
  package enum FileFormat: Sendable {
    /// Full-range RGB, gray for monochrome video, 16 bits a sample for video of more than 8.
    case png
    /// Full-range BT.601 YCbCr as JFIF says, at high quality.
    case jpeg
  }

  package struct Settings: Equatable, Sendable {
    package var fileFormat = FileFormat.png
    /// Images compressed at once.
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

  private let settings: Settings
  private var toRGB = PixelConverter()
  private var toYCbCr = PixelConverter()
  private var encoder: ImageEncoder?
  /// Images of an encoder that was replaced because the picture size changed.
  private var finished: [Image] = []

  package init(_ settings: Settings) {
    self.settings = settings
  }

  /// Hands over a picture.
  ///
  /// - Parameters:
  ///   - frame: The picture; it is kept until its image is out.
  ///   - number: Comes back with the image.
  ///   - presentation: Size and orientation of the image.
  /// - Throws: `CodecError` when libav cannot do it or there is no memory.
  package mutating func send(
    _ frame: borrowing Frame, number: Int, as presentation: Presentation
  ) throws(CodecError) {
    let picture = try render(frame, presentation)
    picture.av.pointer.pointee.pts = Int64(number)
    let shape = ImageEncoder.Shape(picture)
    if encoder?.shape != shape {
      try drain()
      encoder = nil
      encoder = try ImageEncoder(shape, settings)
    }
    try encoder?.send(picture)
  }

  /// The next image, if one is ready.
  package mutating func receive() throws(CodecError) -> Image? {
    if !finished.isEmpty { return finished.removeFirst() }
    return try encoder?.receive()
  }

  /// No picture follows: the images that are still held back come out.
  package mutating func finish() throws(CodecError) {
    try drain()
    encoder = nil
  }

  private mutating func drain() throws(CodecError) {
    try encoder?.finish()
    while let image = try encoder?.receive() { finished.append(image) }
  }

  private mutating func render(
    _ frame: borrowing Frame, _ how: Presentation
  ) throws(CodecError) -> Frame {
    let source = ColorCoding(of: frame)
    let isDeep = frame.bitDepth > 8
    let full = ColorCoding(matrix: source.matrix, isFullRange: true)
    var picture: Frame
    switch settings.fileFormat {
    case .png:
      let format =
        switch (how.isMonochrome, isDeep) {
        case (true, false): AV_PIX_FMT_GRAY8
        case (true, true): AV_PIX_FMT_GRAY16BE
        case (false, false): AV_PIX_FMT_RGB24
        case (false, true): AV_PIX_FMT_RGB48BE
        }
      picture = try toRGB.convert(
        frame, to: format, coding: full, width: how.width, height: how.height)
      picture = try picture.turned(how.orientation)
    case .jpeg:
      let jfif = ColorCoding(matrix: ColorCoding.bt601, isFullRange: true)
      picture = try toRGB.convert(
        frame, to: AV_PIX_FMT_RGB24, coding: full, width: how.width, height: how.height)
      picture = try picture.turned(how.orientation)
      picture = try toYCbCr.convert(
        picture, to: frame.chromaIsFull ? AV_PIX_FMT_YUVJ444P : AV_PIX_FMT_YUVJ420P,
        coding: jfif, width: picture.width, height: picture.height)
    }
    picture.av.pointer.pointee.sample_aspect_ratio = AVRational(num: 0, den: 1)
    if let ratio = how.sampleAspectRatio {
      let turned = Rational(ratio.denominator, ratio.numerator)
      picture.av.pointer.pointee.sample_aspect_ratio =
        (how.orientation.swapsAxes ? turned : ratio).libav
    }
    return picture
  }
}
