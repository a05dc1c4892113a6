internal import CFFmpeg

/// The libav libraries that are loaded, and their versions.
package enum LibraryVersions {
  package static var all: [(name: String, version: String)] {
    [
      ("libavcodec", text(avcodec_version())), ("libavformat", text(avformat_version())),
      ("libavutil", text(avutil_version())), ("libswscale", text(swscale_version())),
    ]
  }

  /// libav packs major, minor and micro into one integer.
  private static func text(_ packed: UInt32) -> String {
    "\(packed >> 16).\(packed >> 8 & 0xFF).\(packed & 0xFF)"
  }
}
