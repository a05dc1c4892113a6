internal import Codec

extension OutputFormat {
  /// Codecs of sound that files of this format have a place for and that players find there, by
  /// libav's names, the usual ones first; nil: all of them.
  private var soundCodecs: [String]? {
    switch self {
    case .h264, .avcc: []
    case .mp4, .fmp4: ["aac", "mp3", "ac3", "eac3", "opus", "flac", "alac", "dts", "mp2", "mp1"]
    case .flv: ["aac", "mp3", "speex", "nellymoser", "adpcm_swf", "pcm_s16le", "pcm_u8"]
    case .mpegts: ["aac", "mp2", "mp3", "ac3", "eac3", "opus", "dts", "mp1", "s302m"]
    case .mkv: nil
    }
  }

  /// There is a place for sound of that codec.
  func carries(_ kind: Track.Kind) -> Bool { soundCodecs?.contains(kind.name) ?? true }

  /// The problem of sound that there is no place for.
  func cannotCarry(_ kinds: [Track.Kind]) -> Problem {
    var names: [String] = []
    for kind in kinds where !names.contains(kind.name) && names.count < 8 {
      names.append(kind.name)
    }
    let places = (soundCodecs ?? []).joined(separator: ", ")
    return Problem(
      .unsupportedFeature,
      "The sound of the input is \(names.joined(separator: ", ")), for which \(rawValue) has no "
        + "place; it takes \(places). format=mkv takes any sound; audio=none leaves it out.",
      parameter: "format", members: [.init("feature", names.joined(separator: ", "))])
  }
}

/// What of a container does not come into the result, said in a few words.
enum LeftOut {
  /// Tracks that are named.
  private static let namedTracks = 8

  /// - Parameters:
  ///   - tracks: All that the container has.
  ///   - kept: Indices of those that go along.
  ///   - video: Index of the H.264 that is taken.
  /// - Returns: A note; nil when nothing is left out.
  static func note(_ tracks: [Track], kept: [Int], video: Int?) -> String? {
    let names = tracks.enumerated().map { index, track in
      // Not every container has numbers of its own.
      "\(track.title) (track \(track.id > 0 ? track.id : index + 1))"
    }
    return note(names: names, kept: kept, video: video)
  }

  /// The same by what the tracks are called.
  static func note(names all: [String], kept: [Int], video: Int?) -> String? {
    let left = all.indices.filter { $0 != video && !kept.contains($0) }
    guard !left.isEmpty else { return nil }
    var names = left.prefix(namedTracks).map { all[$0] }
    if left.count > namedTracks { names.append("\(left.count - namedTracks) more") }
    return "left out: \(names.joined(separator: ", "))"
  }
}

extension Track {
  /// The codec, or what little is known.
  fileprivate var title: String {
    switch kind {
    case .other("none"), .other("unknown_codec"): "something unknown"
    default: kind.name
    }
  }
}
