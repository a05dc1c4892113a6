internal import Dispatch
internal import Platform

extension Job {
  /// Another job waits for a codec.
  ///
  /// One that holds a codec and waits for its reader writes the rest of its result to the spool
  /// instead, and so comes to its end.
  func makeWay() {
    update { state in
      guard state.isAdmitted, state.phase == .idle, !state.needsInput else { return }
      state.output.neverWaits = true
    }
  }

  /// So many other jobs wait for the codec that this one has held for `seconds` more.
  ///
  /// A job whose client keeps it idle must not keep others from working: its upload is given up when
  /// that has lasted too long in all.
  func othersWait(_ count: Int, for seconds: Int) {
    update { state in
      guard count > 0, state.isAdmitted, state.phase == .idle, state.needsInput else { return }
      state.idleSeconds += seconds
      guard state.idleSeconds >= Limits.codecPatience(whileWaiting: count) else { return }
      fail(
        Problem(
          .uploadStalled,
          "The upload kept an encoder idle for \(state.idleSeconds) seconds while others waited."),
        &state)
    }
  }
}
