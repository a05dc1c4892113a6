package import Codec

/// What raw video is, known before its first sample: from parameters or a Y4M header.
package struct RawVideo: Equatable, Sendable {
  /// Luma samples.
  package var width: Int
  /// Luma samples.
  package var height: Int
  package var pixelFormat: PixelFormat
  /// The rest is `nil` where a Y4M header does not say it, and for headerless video.
  package var frameRate: Rational?
  package var interlacing: EncodeSettings.Interlacing?
  package var sampleAspectRatio: Rational?
  package var colorRange: ColourDescription.Range?
  /// Where the chroma of 4:2:0 video lies, if that is stated.
  package var chromaLocation: ChromaLocation?

  package init(width: Int, height: Int, pixelFormat: PixelFormat) {
    self.width = width
    self.height = height
    self.pixelFormat = pixelFormat
  }

  /// Bytes of one picture.
  package var frameSize: Int { pixelFormat.bytesPerFrame(width: width, height: height) }

  /// Refuses pictures beyond the limits; `isGiven` says that the size is that of the parameters
  /// `width` and `height`, and not a Y4M header's.
  package func check(_ limits: Limits, isGiven: Bool = false) throws(Problem) {
    let longest = max(width, height)
    let parameter = isGiven ? (longest == width ? "width" : "height") : nil
    guard longest <= limits.maxDimension else {
      throw Problem(
        .dimensionsTooLarge,
        "\(width)x\(height) has a side above \(limits.maxDimension) samples.",
        parameter: parameter, members: [.init("limit", limits.maxDimension)])
    }
    guard width * height <= limits.maxFramePixels else {
      throw Problem(
        .dimensionsTooLarge,
        "\(width)x\(height) is more than \(limits.maxFramePixels) samples.",
        parameter: parameter, members: [.init("limit", limits.maxFramePixels)])
    }
  }
}
