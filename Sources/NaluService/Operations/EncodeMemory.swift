internal import Codec
internal import H264

/// What keeps the pictures inside libx264 from taking more memory than their use is worth.
extension EncodeSettings {
  /// Pictures that libx264 keeps for its look-ahead, as B-frames and as references.
  struct KeptPictures: Equatable {
    var lookahead: Int
    var bframes: Int
    var references: Int

    var count: Int { lookahead + bframes + references }
  }

  /// Makes an encoder keep no more than `Limits.maxCodecMemory`: what only the preset would have it
  /// keep comes down together, the look-ahead first; what was asked for by name stays.
  func boundMemory(
    of encoder: inout VideoEncoder.Settings, limits: Limits
  ) throws(Problem) {
    let usual = usuallyKept
    var wanted = usual
    wanted.bframes = encoder.bframes ?? usual.bframes
    wanted.references = encoder.references ?? usual.references
    let picture = pictureBytes(of: encoder, for: preset)
    let room = limits.maxCodecMemory / picture - Self.passing(encoder)
    guard wanted.count > room else { return }
    for tenths in (0..<10).reversed() {
      var kept = wanted
      kept.lookahead = usual.lookahead * tenths * tenths / 100
      if encoder.bframes == nil { kept.bframes = (usual.bframes * tenths + 9) / 10 }
      if encoder.references == nil {
        kept.references = max(1, (usual.references * tenths + 9) / 10)
      }
      guard kept.count <= room else { continue }
      encoder.lookahead = kept.lookahead
      encoder.bframes = kept.bframes
      encoder.references = kept.references
      return
    }
    throw tooMuchMemory(of: encoder, limits)
  }

  /// Bytes that an encoder with these settings keeps at most, about.
  func codecBytes(of encoder: VideoEncoder.Settings) -> Int {
    let usual = usuallyKept
    let kept = KeptPictures(
      lookahead: encoder.lookahead ?? usual.lookahead,
      bframes: encoder.bframes ?? usual.bframes,
      references: encoder.references ?? usual.references)
    // Tables and threads of even the smallest take some MiB.
    return (8 << 20) + pictureBytes(of: encoder, for: preset) * (kept.count + Self.passing(encoder))
  }

  /// One that is coded, one that is being filled, and one more for each thread.
  private static func passing(_ encoder: VideoEncoder.Settings) -> Int { 2 + encoder.threads }

  /// What the preset and the tunes have the encoder keep.
  var usuallyKept: KeptPictures {
    var kept: KeptPictures =
      switch preset {
      case .ultrafast: .init(lookahead: 0, bframes: 0, references: 1)
      case .superfast: .init(lookahead: 0, bframes: 3, references: 1)
      case .veryfast: .init(lookahead: 10, bframes: 3, references: 1)
      case .faster: .init(lookahead: 20, bframes: 3, references: 2)
      case .fast: .init(lookahead: 30, bframes: 3, references: 2)
      case .medium: .init(lookahead: 40, bframes: 3, references: 3)
      case .slow: .init(lookahead: 50, bframes: 3, references: 5)
      case .slower: .init(lookahead: 60, bframes: 3, references: 8)
      case .veryslow: .init(lookahead: 60, bframes: 8, references: 16)
      case .placebo: .init(lookahead: 60, bframes: 16, references: 16)
      }
    if tunes.contains(.animation) {
      kept.bframes += 2
      if kept.references > 1 { kept.references = min(16, kept.references * 2) }
    }
    if isRealtime {
      kept.lookahead = 0
      kept.bframes = 0
    }
    if profile == .baseline { kept.bframes = 0 }
    return kept
  }

  /// Bytes that libx264 keeps of a picture, as measured: its planes, luma (of 4:4:4 all) between the
  /// samples, a copy of half the size, vectors and costs; and sums of the exhaustive search.
  private func pictureBytes(
    of encoder: VideoEncoder.Settings, for preset: VideoEncoder.Preset
  ) -> Int {
    let samples = ((encoder.width + 15) & ~15) * ((encoder.height + 15) & ~15)
    let planes =
      switch encoder.chroma {
      case .monochrome, .yuv420: 4
      case .yuv422: 5
      case .yuv444: 8
      }
    let sums = preset == .placebo ? 4 : 0
    return samples * (planes * (encoder.bitDepth > 8 ? 2 : 1) + sums)
  }

  private func tooMuchMemory(of encoder: VideoEncoder.Settings, _ limits: Limits) -> Problem {
    let limit = "max_codec_memory, \(limits.maxCodecMemory) bytes"
    let size = "\(encoder.width)x\(encoder.height)"
    var least = encoder
    least.threads = 1
    let picture = pictureBytes(of: least, for: .ultrafast)
    let fewest = picture * (1 + Self.passing(least))
    guard fewest <= limits.maxCodecMemory else {
      return .conflict(
        "width",
        "Pictures of \(size) are too large for \(limit): the encoder would keep at least "
          + "\(fewest), by any preset. Ask for smaller pictures.")
    }
    // The parameter at fault, and what helps.
    var ways: [(parameter: String, advice: String)] = []
    let named = [("refs", references ?? 0, 1), ("bframes", bframes ?? 0, 0)]
    for (name, value, least) in named.sorted(by: { $0.1 > $1.1 }) where value > least {
      ways.append((name, "fewer \(name)"))
    }
    if preset != .ultrafast { ways.append(("preset", "a faster preset")) }
    if encoder.threads > 1 { ways.append(("threads", "threads=1")) }
    return .conflict(
      ways.first?.parameter ?? "width",
      "The encoder would keep more than \(limit): a picture of \(size) takes about "
        + "\(pictureBytes(of: encoder, for: preset)). Ask for "
        + "\((ways.map(\.advice) + ["smaller pictures"]).joined(separator: ", or ")).")
  }

  /// Refuses more reference frames than any level has room for (H.264 table A-1).
  func checkReferences(_ video: RawVideo) throws(Problem) {
    guard let references, let largest = Level.all.last else { return }
    let size = ((video.width + 15) / 16) * ((video.height + 15) / 16)
    let room = max(1, largest.maxDpbFrames(frameSizeInMbs: size))
    guard references > room else { return }
    throw .conflict(
      "refs",
      "refs=\(references) is more than any level allows for \(video.width)x\(video.height); "
        + "level \(largest.name) has room for \(room).")
  }
}
