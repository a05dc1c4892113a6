internal import Codec

/// What does not go together. libx264 would refuse it, or do something else and say so in its
/// log only.
extension EncodeSettings {
  /// The rules that need no size or pixel format.
  func checkWithoutVideo() throws(Problem) {
    try checkRateControl()
    try checkBuffer()
    try checkBitrateChanges()
    try checkProfile()
    try checkRealtime()
    try checkGroupOfPictures()
    try checkTunes()
    try checkContainer()
  }

  private func checkContainer() throws(Problem) {
    if format == .mpegts, repeatsParameterSets == false {
      throw .conflict(
        "repeat_headers", "A transport stream has its parameter sets before every keyframe.")
    }
  }

  private func checkRateControl() throws(Problem) {
    let given: [(String, Bool)] = [
      ("bitrate", bitrate != nil), ("crf", crf != nil), ("qp", qp != nil),
    ]
    let names = given.filter(\.1).map(\.0)
    guard names.count <= 1 else {
      throw .conflict(
        names[1],
        "\(names.joined(separator: " and ")) are different kinds of rate control; give one.")
    }
  }

  private func checkBuffer() throws(Problem) {
    guard maxRate != nil || bufferSize != nil else { return }
    let name = maxRate != nil ? "maxrate" : "bufsize"
    if qp != nil {
      throw .conflict(name, "\(name) cannot bound a stream of constant quantiser; use crf.")
    }
    if maxRate == nil, bitrate == nil {
      throw .missing("maxrate", "bufsize needs maxrate, the rate that fills the buffer.")
    }
    if let maxRate, let bitrate, maxRate < bitrate {
      throw .conflict(
        "maxrate", "maxrate=\(maxRate) is below bitrate=\(bitrate): the average cannot be reached.")
    }
  }

  private func checkBitrateChanges() throws(Problem) {
    guard !bitrateChanges.isEmpty else { return }
    guard bitrate != nil else {
      throw .missing("bitrate", "bitrate_changes needs bitrate, the rate that it changes.")
    }
    for (name, isGiven) in [("maxrate", maxRate != nil), ("bufsize", bufferSize != nil)]
    where isGiven {
      throw .conflict(
        name,
        "\(name) excludes bitrate_changes: the maximum follows the bit rate, with a buffer of one "
          + "second.")
    }
  }

  private func checkProfile() throws(Problem) {
    guard profile == .baseline else { return }
    if let bframes, bframes > 0 {
      throw .conflict("bframes", "baseline has no B-frames; use bframes=0, or main and above.")
    }
    if entropyCoding == .cabac {
      throw .conflict("entropy", "baseline has no cabac; use cavlc, or main and above.")
    }
    if openGOP {
      throw .conflict("open_gop", "open_gop takes B-frames, which baseline does not have.")
    }
  }

  private func checkRealtime() throws(Problem) {
    guard isRealtime else { return }
    let reason = realtime ? "realtime=1" : "tune=zerolatency"
    if let bframes, bframes > 0 {
      throw .conflict("bframes", "B-frames wait for later frames, which \(reason) rules out.")
    }
    if openGOP {
      throw .conflict("open_gop", "open_gop takes B-frames, which \(reason) rules out.")
    }
  }

  private func checkGroupOfPictures() throws(Problem) {
    if let bframes, let gop, bframes > 0, bframes >= gop {
      throw .conflict(
        "bframes", "bframes=\(bframes) leaves no room in a gop of \(gop); the most is \(gop - 1).")
    }
    if gop == 1, let references, references > 1 {
      throw .conflict("refs", "With gop=1 no picture refers to another; use refs=1.")
    }
    if openGOP {
      if intraRefresh {
        throw .conflict("open_gop", "open_gop and intra_refresh exclude each other.")
      }
      if bframes == 0 || gop == 1 {
        throw .conflict("open_gop", "open_gop takes B-frames; give bframes of 1 or more.")
      }
      if bframes == nil, preset == .ultrafast {
        throw .conflict(
          "open_gop", "open_gop takes B-frames, which preset=ultrafast leaves out; give bframes.")
      }
    }
    if intraRefresh {
      if gop == 1 { throw .conflict("intra_refresh", "intra_refresh takes a gop of 2 or more.") }
      if let references, references > 1 {
        throw .conflict("refs", "intra_refresh works with one reference frame; use refs=1.")
      }
    }
  }

  private func checkTunes() throws(Problem) {
    let psychovisual = tunes.filter { $0 != .fastdecode && $0 != .zerolatency }
    guard psychovisual.count <= 1 else {
      let names = psychovisual.map(\.rawValue).joined(separator: ", ")
      throw .conflict(
        "tune", "\(names) exclude each other; only fastdecode and zerolatency can be added.")
    }
  }
}
