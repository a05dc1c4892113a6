/// How much of the time for which a job has held a codec its client kept that idle.
struct Idleness {
  /// About of the last second, from 0 (worked all the time) to 1 (waited for the upload).
  private(set) var share = 0.0
  /// Seconds of waiting while others waited for a codec in vain; they are forgotten as fast.
  private(set) var seconds = 0.0
  /// Seconds of waiting since the last look, and of anything.
  private var added = 0.0
  private var passed = 0.0
  /// Nanoseconds: when it was last looked at, and how long the job had waited by then.
  private var time: UInt64
  private var waited: UInt64 = 0
  private var isKnown = false

  /// Shorter times say nothing of a client.
  private static let shortest = 0.05

  init(at now: UInt64) {
    time = now
  }

  /// `waited`: nanoseconds for which the job waited for its upload, since it has the codec.
  mutating func look(at now: UInt64, waited: UInt64) {
    added = 0
    passed = now > time ? Double(now - time) / 1e9 : 0
    guard passed >= Self.shortest else { return passed = 0 }
    added = waited > self.waited ? min(passed, Double(waited - self.waited) / 1e9) : 0
    share += (added / passed - share) * (isKnown ? min(1, passed) : 1)
    isKnown = true
    time = now
    self.waited = waited
  }

  /// Others wait in vain (or do not) since the last look.
  mutating func count(othersWait: Bool) {
    seconds = othersWait ? seconds + added : max(0, seconds - passed)
  }

  /// The codec is idle nearly all the time.
  var isHigh: Bool { isKnown && share >= 0.75 }
  /// The client keeps up.
  var isLow: Bool { share < 0.5 }
}
