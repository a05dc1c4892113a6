extension VideoEncoder {
  /// How to encode. Whoever fills this in has checked that the values go together: an encoder
  /// that cannot be opened throws a `CodecError` that says little.
  package struct Settings: Equatable, Sendable {
    /// Luma samples.
    package var width: Int
    /// Luma samples.
    package var height: Int
    /// The layout of the frames that will be sent.
    package var pixelFormat: PixelFormat
    /// What is coded. The bit depth is 8 for 8-bit input, else 10.
    package var chroma: ChromaFormat
    /// Frames per second, exactly what the VUI will say; both terms below 2^31.
    package var frameRate = Rational(25)
    /// Seconds per unit of the times that frames are sent with; `nil`: the rate is constant, and
    /// frames are counted.
    package var timeBase: Rational?
    package var rateControl = RateControl.crf(23)
    package var buffer: BufferModel?
    /// Frames from one keyframe to the next at most.
    package var gop = 50
    /// Scene cuts begin a new group of pictures early.
    package var sceneCut = true
    package var openGOP = false
    package var intraRefresh = false
    /// Consecutive B-frames at most; `nil`: the preset's choice.
    package var bframes: Int?
    /// Frames that are looked ahead at; `nil`: the preset's choice.
    package var lookahead: Int?
    /// B-frames may be references; `nil`: the preset's choice.
    package var bframePyramid: Bool?
    /// Reference frames; `nil`: the preset's choice, as far as the level allows.
    package var references: Int?
    /// `nil`: the preset's choice.
    package var entropyCoding: EntropyCoding?
    package var profile: Profile?
    /// As in `4.1` or `1b`; `nil`: the lowest that fits.
    package var level: String?
    /// No look-ahead, no B-frames, one frame in → its NAL units out. Several threads share a
    /// picture by slices then, because threads that work on pictures each would delay them.
    package var realtime = false
    package var preset = Preset.medium
    package var tunes: [Tune] = []
    /// Slices per picture; 0: the encoder's choice. In real time and with several threads there
    /// is one per thread.
    package var slices = 0
    /// Encoder threads, at least 1.
    package var threads = 1
    package var accessUnitDelimiters = false
    /// SPS and PPS before every keyframe, not only the first.
    package var repeatsParameterSets = true
    package var fieldOrder: FieldOrder?
    package var colour = ColourDescription()
    /// Where 4:2:0 chroma lies, if that is to be said.
    package var chromaLocation: ChromaLocation?
    package var sampleAspectRatio: Rational?
    package var framing = Framing.annexB

    package init(width: Int, height: Int, pixelFormat: PixelFormat, chroma: ChromaFormat) {
      self.width = width
      self.height = height
      self.pixelFormat = pixelFormat
      self.chroma = chroma
    }

    /// Bits per coded sample.
    package var bitDepth: Int { pixelFormat.bitDepth > 8 ? 10 : 8 }
  }

  package enum RateControl: Equatable, Sendable {
    /// Bits per second on average; whole thousands count.
    case bitrate(Int)
    /// Constant quality, 0 to 51.
    case crf(Double)
    /// Constant quantiser, 0 (lossless) to 51, or 63 for 10-bit video.
    case qp(Int)
  }

  /// The hypothetical decoder's buffer (VBV), which no run of pictures may empty.
  package struct BufferModel: Equatable, Sendable {
    /// Bits per second that fill the buffer; whole thousands count.
    package var maxRate: Int
    /// Bits; whole thousands count.
    package var size: Int

    package init(maxRate: Int, size: Int) {
      self.maxRate = maxRate
      self.size = size
    }
  }

  package enum EntropyCoding: String, CaseIterable, Sendable {
    case cabac, cavlc
  }

  package enum Profile: String, CaseIterable, Sendable {
    case baseline, main, high, high10, high422, high444
  }

  package enum Preset: String, CaseIterable, Sendable {
    case ultrafast, superfast, veryfast, faster, fast, medium, slow, slower, veryslow, placebo
  }

  package enum Tune: String, CaseIterable, Sendable {
    case film, animation, grain, stillimage, psnr, ssim, fastdecode, zerolatency
  }

  package enum FieldOrder: String, CaseIterable, Sendable {
    /// The top field comes first.
    case tff
    /// The bottom field comes first.
    case bff
  }

  /// How NAL units are set apart.
  package enum Framing: Equatable, Sendable {
    /// Start codes (H.264 annex B).
    case annexB
    /// Lengths of four bytes before each (ISO/IEC 14496-15).
    case lengthPrefixed
  }
}
