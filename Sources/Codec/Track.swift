internal import CFFmpeg

/// What a container says of one of its tracks. It does not change.
package final class Track: Sendable {
  package enum Kind: Equatable, Sendable {
    case h264
    case aac
    /// Other video, audio, subtitles or data, by libav's name of the codec.
    case other(String)
  }

  package let kind: Kind
  /// Seconds per unit of its times.
  package let timeBase: Rational
  /// An AVCDecoderConfigurationRecord, an AudioSpecificConfig, or parameter sets in Annex B form;
  /// may be empty.
  package let extradata: [UInt8]
  /// Luma samples as the container has them; 0 where it does not say.
  package let width: Int
  package let height: Int
  /// Of the container; `nil` where it does not say.
  package let sampleAspectRatio: Rational?
  /// The nine numbers of a display matrix, in libav's order and scale (16.16, the last column
  /// 2.30); `nil` when pictures are shown as they are coded.
  package let displayMatrix: [Int32]?
  /// Frames per second on average, as the container has it; `nil` where it does not say.
  package let frameRate: Rational?
  /// Audio: samples per second; 0 where that is not said.
  package let sampleRate: Int
  package let channels: Int
  /// In units of the time base; `nil` where that is not said.
  package let duration: Int?
  /// Of the whole container, in its own words: the track id of MP4, the PID of a transport stream.
  package let id: Int
  /// How libav hands it to a muxer.
  let parameters: CodecParameters

  /// How pictures are to be laid, as far as that is by quarter turns.
  package var orientation: Orientation {
    displayMatrix.flatMap { Orientation(a: $0[0], b: $0[1], c: $0[3], d: $0[4]) } ?? .upright
  }

  package var isVideo: Bool { parameters.pointer.pointee.codec_type == AVMEDIA_TYPE_VIDEO }
  package var isAudio: Bool { parameters.pointer.pointee.codec_type == AVMEDIA_TYPE_AUDIO }

  /// What it is was not known yet.
  var isUnknown: Bool {
    let codec = parameters.pointer.pointee.codec_id
    return codec == AV_CODEC_ID_NONE || codec == AV_CODEC_ID_BIN_DATA
  }

  /// More than any codec of video or sound needs.
  static let maxExtradata = 1 << 20

  /// A track of a container that is read.
  init(_ stream: UnsafeMutablePointer<AVStream>) throws(CodecError) {
    let parameters = try CodecParameters(
      copying: stream.pointee.codecpar, maxExtradata: Self.maxExtradata)
    let source = parameters.pointer.pointee
    self.parameters = parameters
    kind =
      switch source.codec_id {
      case AV_CODEC_ID_H264: .h264
      case AV_CODEC_ID_AAC: .aac
      default: .other(String(cString: avcodec_get_name(source.codec_id)))
      }
    timeBase = Rational(
      Int(stream.pointee.time_base.num), Int(max(1, stream.pointee.time_base.den)))
    extradata = parameters.extradata
    width = Int(source.width)
    height = Int(source.height)
    let ratio =
      stream.pointee.sample_aspect_ratio.num > 0
      ? stream.pointee.sample_aspect_ratio : source.sample_aspect_ratio
    sampleAspectRatio = Self.positive(ratio)
    displayMatrix = Self.displayMatrix(of: stream)
    frameRate = Self.positive(stream.pointee.avg_frame_rate)
    sampleRate = Int(source.sample_rate)
    channels = Int(source.ch_layout.nb_channels)
    duration = stream.pointee.duration == nalu_no_pts ? nil : Int(stream.pointee.duration)
    id = Int(stream.pointee.id)
  }

  private static func positive(_ ratio: AVRational) -> Rational? {
    ratio.num > 0 && ratio.den > 0 ? Rational(Int(ratio.num), Int(ratio.den)) : nil
  }

  private static func displayMatrix(of stream: UnsafeMutablePointer<AVStream>) -> [Int32]? {
    var size = 0
    guard let data = av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size),
      size >= 9 * MemoryLayout<Int32>.size
    else { return nil }
    return data.withMemoryRebound(to: Int32.self, capacity: 9) {
      Array(UnsafeBufferPointer(start: $0, count: 9))
    }
  }
}

/// Owns what libav knows of a track. Written only while a `Track` is made.
final class CodecParameters {
  let pointer: UnsafeMutablePointer<AVCodecParameters>

  init() throws(CodecError) {
    guard let pointer = avcodec_parameters_alloc() else {
      throw CodecError(function: "avcodec_parameters_alloc", code: -ENOMEM)
    }
    self.pointer = pointer
  }

  /// Copies what is known of a track; `extradata` of video and sound only, and where it is not
  /// larger than that: attachments have whole files in it.
  convenience init(
    copying source: UnsafePointer<AVCodecParameters>, maxExtradata: Int
  ) throws(CodecError) {
    try self.init()
    var copied = source.pointee
    let isWanted =
      copied.codec_type == AVMEDIA_TYPE_VIDEO || copied.codec_type == AVMEDIA_TYPE_AUDIO
    if !isWanted || Int(copied.extradata_size) > maxExtradata {
      copied.extradata = nil
      copied.extradata_size = 0
    }
    try check(avcodec_parameters_copy(pointer, &copied), "avcodec_parameters_copy")
  }

  deinit {
    var pointer: UnsafeMutablePointer<AVCodecParameters>? = pointer
    avcodec_parameters_free(&pointer)
  }

  var extradata: [UInt8] {
    Array(
      UnsafeBufferPointer(
        start: pointer.pointee.extradata,
        count: pointer.pointee.extradata == nil ? 0 : Int(pointer.pointee.extradata_size)))
  }
}

// SAFETY: nothing writes to the parameters once the track that holds them is made.
extension CodecParameters: @unchecked Sendable {}
