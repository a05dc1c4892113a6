/// What is counted of a PID.
package struct PacketIdentifier: Equatable, Sendable {
  package let pid: Int
  package internal(set) var packets = 0
  package internal(set) var continuityErrors = 0
  package internal(set) var transportErrors = 0
  package internal(set) var scrambledPackets = 0
  /// PES packets, in a stream that has them.
  package internal(set) var units = 0
  package internal(set) var clock = Clock()
  var lastCounter: Int?
  var isRepeated = false

  /// Its clock references (ISO/IEC 13818-1 §2.4.3.5), in ticks of 27 MHz.
  package struct Clock: Equatable, Sendable {
    package static let ticksPerSecond = 27_000_000
    /// Ticks until it begins anew.
    static let period = 300 << 33

    package internal(set) var count = 0
    package internal(set) var first: Int?
    package internal(set) var last: Int?
    /// Between one and the next, where the clock goes on.
    package internal(set) var longestInterval = 0
    package internal(set) var discontinuities = 0

    /// Takes the next reference; false when the clock jumps without saying so.
    mutating func add(_ time: Int, isAnnounced: Bool) -> Bool {
      count += 1
      if first == nil { first = time }
      defer { last = time }
      guard let last else { return true }
      let step = (time - last + Self.period) % Self.period
      // References are 0.1 s apart at most; some multiplexers take much longer.
      if step <= 10 * Self.ticksPerSecond {
        longestInterval = max(longestInterval, step)
        return true
      }
      discontinuities += 1
      return isAnnounced
    }
  }

  init(pid: Int) {
    self.pid = pid
  }

  /// Takes a continuity counter; what is wrong with it, and whether the packet repeats the last.
  mutating func check(
    counter: Int, hasPayload: Bool, isAnnounced: Bool
  ) -> (isError: Bool, isRepeat: Bool) {
    guard pid != 0x1FFF else { return (false, false) }
    defer { lastCounter = counter }
    guard let last = lastCounter, !isAnnounced else {
      isRepeated = false
      return (false, false)
    }
    if counter == last, hasPayload, !isRepeated {
      // A packet may be sent twice (§2.4.3.3).
      isRepeated = true
      return (false, true)
    }
    isRepeated = false
    let expected = hasPayload ? (last + 1) & 15 : last
    guard counter != expected else { return (false, false) }
    continuityErrors += 1
    return (true, false)
  }
}
