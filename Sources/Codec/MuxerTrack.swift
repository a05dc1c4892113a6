/// What a muxer is told of a track.
package enum MuxerTrack: Sendable {
  case video(Video)
  case aac(AAC)
  /// Sound as another container has it, of which more is known than that says.
  case sound(Sound)
  /// As another container has it, audio for instance.
  case copied(Track)

  /// Seconds of one tick of its timestamps.
  package var timeBase: Rational {
    switch self {
    case .video(let video): video.timeBase
    case .aac(let audio): audio.timeBase
    case .sound(let sound): sound.timeBase
    case .copied(let track): track.timeBase
    }
  }

  /// H.264. The sizes are those after cropping, in luma samples.
  package struct Video: Equatable, Sendable {
    package var width: Int
    package var height: Int
    /// Seconds of one tick of the timestamps that will be written.
    package var timeBase: Rational
    /// Frames per second, where that is constant.
    package var frameRate: Rational?
    package var sampleAspectRatio: Rational?
    /// How pictures are to be laid when shown, as `Track.displayMatrix`; only MP4 has room for it.
    package var displayMatrix: [Int32]?
    package var colour = Colour()
    /// The AVCDecoderConfigurationRecord (ISO/IEC 14496-15 §5.3.3.1); empty for `mpegts`, whose
    /// parameter sets are in band.
    package var configuration: [UInt8] = []
    /// Samples hold parameter sets too: sample entry `avc3` instead of `avc1`.
    package var hasParameterSetsInBand = false

    package init(width: Int, height: Int, timeBase: Rational) {
      self.width = width
      self.height = height
      self.timeBase = timeBase
    }
  }

  /// The colour elements of the VUI as their numbers (H.264 §E.2.1), 2 where unspecified.
  package struct Colour: Equatable, Sendable {
    package var primaries = 2
    package var transfer = 2
    package var matrix = 2
    package var isFullRange: Bool?

    package init() {}
  }

  /// AAC without ADTS headers.
  package struct AAC: Equatable, Sendable {
    /// Hertz.
    package var sampleRate: Int
    package var channels: Int
    package var timeBase: Rational
    /// AudioSpecificConfig (ISO/IEC 14496-3 §1.6.2.1).
    package var configuration: [UInt8]
    /// Samples of one channel in a frame.
    package var frameSize = 1024

    package init(
      sampleRate: Int, channels: Int, timeBase: Rational, configuration: [UInt8]
    ) {
      self.sampleRate = sampleRate
      self.channels = channels
      self.timeBase = timeBase
      self.configuration = configuration
    }
  }
}

extension MuxerTrack {
  package struct Sound: Sendable {
    /// The codec, and all that is not here.
    package var track: Track
    /// Hertz.
    package var sampleRate: Int
    package var channels: Int
    /// Samples of one channel in a frame; 0 where that varies.
    package var frameSize: Int
    package var timeBase: Rational

    package init(
      _ track: Track, sampleRate: Int, channels: Int, frameSize: Int, timeBase: Rational
    ) {
      self.track = track
      self.sampleRate = sampleRate
      self.channels = channels
      self.frameSize = frameSize
      self.timeBase = timeBase
    }
  }

  /// libavformat may put several samples together to one.
  package var mayBeJoined: Bool {
    guard case .sound(let sound) = self else { return false }
    return sound.track.kind == .other("eac3")
  }
}

/// When a sample is decoded and shown, in ticks of its track's time base.
package struct SampleTiming: Equatable, Sendable {
  package var presentation: Int
  /// Never above `presentation`, and greater than that of the sample before.
  package var decoding: Int
  package var duration: Int
  package var isKeyframe = false

  package init(presentation: Int, decoding: Int, duration: Int, isKeyframe: Bool) {
    self.presentation = presentation
    self.decoding = decoding
    self.duration = duration
    self.isKeyframe = isKeyframe
  }
}
