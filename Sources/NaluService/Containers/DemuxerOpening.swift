internal import Codec
internal import Container

extension Demuxer {
  /// Opens an upload that was recognised as `format`.
  static func open(
    _ upload: SpooledUpload, _ format: MediaFormat, _ limits: Limits
  ) throws(Problem) -> Demuxer {
    guard let name = format.demuxer else { throw .demuxerFailed }
    var settings = Settings()
    settings.maxHeaderBytes = limits.maxMetadata
    if format == .mp4 {
      guard upload.movie != .missing else { throw .movieMissing }
      settings.isFragmented = upload.movie == .fragmented
    }
    do throws(CodecError) {
      return try Demuxer(upload, format: name, settings)
    } catch {
      guard error.code != CodecError.tooLarge else { throw .tooMuchMetadata(limits.maxMetadata) }
      throw Problem(
        .unrecognisedInput,
        "The body looks like \(format.title), but it is damaged or incomplete: no track can be read."
      )
    }
  }
}

extension MediaFormat {
  /// What libavformat takes it apart with; `nil` for bare streams.
  var demuxer: Demuxer.Format? {
    switch self {
    case .annexB, .avcc: nil
    case .mp4: .mov
    case .flv: .flv
    case .mpegTS: .mpegts
    case .matroska: .matroska
    }
  }
}

extension Problem {
  static func tooManyPackets(_ limit: Int) -> Problem {
    Problem(
      .tooManyNALUnits, "The track has more than max_nal_units, \(limit) packets.",
      members: [.init("limit", limit)])
  }

  /// Of a sample that no picture needs.
  static func sampleTooLarge(_ limits: Limits) -> Problem {
    Problem(
      .undecodable,
      "A sample of the container has more than \(limits.maxSampleBytes) bytes: no picture of"
        + " max_frame_pixels needs them, or an eighth of max_memory has no room for them.",
      members: [.init("limit", limits.maxSampleBytes)])
  }

  fileprivate static var demuxerFailed: Problem {
    Problem(.internal, "The container could not be read.")
  }

  /// Of an MP4 file.
  static var movieMissing: Problem {
    Problem(
      .unrecognisedInput,
      "The body is an MP4 file without its moov box, which says what the samples are: it was cut off,"
        + " or was never finished.")
  }

  /// Of a container whose tracks are those.
  static func lacksVideo(_ format: MediaFormat, _ tracks: [Track]) -> Problem {
    guard !tracks.isEmpty else {
      return Problem(.unrecognisedInput, "The body is \(format.title) without any track.")
    }
    func names(_ isWanted: (Track) -> Bool) -> String {
      var names: [String] = []
      for name in tracks.filter(isWanted).map(\.kind.name) where !names.contains(name) {
        names.append(name)
      }
      return names.joined(separator: ", ")
    }
    let (video, sound) = (names(\.isVideo), names(\.isAudio))
    let found = video.isEmpty ? "it has no video" : "its video is \(video)"
    let rest = sound.isEmpty ? "" : ", its sound is \(sound)"
    return Problem(
      .unsupportedFeature, "The body is \(format.title) without a track of H.264; \(found)\(rest).",
      members: [.init("feature", video.isEmpty ? "no video" : video)])
  }
}
