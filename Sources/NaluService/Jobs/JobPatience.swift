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
        state.output.overflow(into: Spool(in: spoolDirectory, memoryCapacity: 0))
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

/// Looks once a second whether jobs wait for a codec that idle ones hold.
final class IdleCodecWatch: Sendable {
  private let queue = DispatchQueue(label: "nalu.idle-codecs")

  init(_ registry: JobRegistry, _ admission: Admission) {
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now() + 1, repeating: 1, leeway: .milliseconds(100))
    timer.setEventHandler { [weak registry] in
      guard let registry else {
        timer.cancel()
        return
      }
      guard admission.figures.waiting > 0 else { return }
      for job in registry.all { job.othersWait(for: 1) }
    }
    timer.activate()
  }
}
