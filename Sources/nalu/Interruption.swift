internal import Platform

/// What SIGINT, SIGTERM and SIGHUP do to a command that reads and writes.
///
/// Usually they end the process, and nothing is left of its output. Where a live input is encoded,
/// the first SIGINT or SIGTERM is the end of the input, and the next ends the process.
final class Interruption {
  /// The input's, where the first signal is to end that.
  let stop: InputStop?
  private var watch: SignalWatch?

  /// Watches over a live input, if `endsInput`, and over a file that must not stay behind.
  init(endsInput: Bool, leftover: String?) throws(CommandError) {
    do throws(SystemError) {
      stop = endsInput ? try InputStop() : nil
    } catch {
      throw .file("a pipe", error)
    }
    guard stop != nil || leftover != nil else { return }
    let signals: [ProcessSignal] =
      [.interrupt, .terminate] + (ignoresHangUp() ? [] : [.hangUp])
    watch = SignalWatch(signals) { [stop] signal in
      if signal != .hangUp, let stop, !stop.isStopped { return stop.stop() }
      if let leftover { removeFile(leftover) }
      die(of: signal)
    }
  }
}
