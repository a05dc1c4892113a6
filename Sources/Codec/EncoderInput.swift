internal import CFFmpeg

/// Brings frames into a layout that libx264 takes: nothing to do for most, one conversion for the
/// rest.
struct EncoderInput: ~Copyable {
  /// What libx264 gets.
  let codedFormat: PixelFormat

  init(_ settings: VideoEncoder.Settings) throws(CodecError) {
    codedFormat = settings.pixelFormat
  }

  mutating func convert(_ frame: consuming Frame) throws(CodecError) -> Frame {
    frame
  }
}
