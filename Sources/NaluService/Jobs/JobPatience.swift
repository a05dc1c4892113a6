internal import Dispatch
internal import Platform

extension Job {
  /// Another job waits for a codec, and this one has held one for `seconds` more.
  ///
  /// A job whose client keeps it idle must not keep others from working. One that waits for its
  /// reader writes the rest of its result to the spool instead, and so comes to its end. One that
  /// waits for its upload is given up when its client has kept it idle for `Limits.codecPatience`
  /// in all.
  func othersWait(for seconds: Int) {
    update { state in
      guard state.isAdmitted, state.phase == .idle else { return }
      if !state.needsInput {
        state.output.neverWaits = true
        return
      }
      state.idleSeconds += seconds
      guard state.idleSeconds >= Limits.codecPatience else { return }
      fail(
        Problem(
          .uploadStalled,
          "The upload kept an encoder idle for \(Limits.codecPatience) seconds while others waited."
        ),
        &state)
    }
  }
}
