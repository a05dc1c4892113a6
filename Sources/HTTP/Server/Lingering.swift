internal import Platform

/// Connections that have been answered before they were read to the end.
///
/// Closing one at once would reset it, and the reset can overtake the answer on its way to the
/// client. So a second descriptor keeps the socket open a little longer, while what the client
/// still sends is thrown away.
final class Lingering: Sendable {
  /// More are closed at once.
  private static let maximumCount = 256
  /// Bytes thrown away per look, of one connection and of all.
  private static let bytesPerLook = 4 << 20
  private static let allBytesPerLook = 16 << 20
  /// Seconds without a byte, and altogether.
  private static let quietTime = Duration.seconds(2)
  private static let totalTime = Duration.seconds(20)

  private struct Entry {
    var descriptor: Int32
    var left: Int
    var quiet = Pace(allowance: Lingering.quietTime)
    var total = Pace(allowance: Lingering.totalTime)
  }

  private struct State {
    var entries: [Entry] = []
    /// Those that are being looked at included.
    var count = 0
    var isClosed = false
  }

  private let limit: Int
  private let state = Lock(State())

  /// - Parameter limit: bytes thrown away per connection.
  init(limit: Int) {
    self.limit = limit
  }

  /// Keeps the socket of an answered connection open when libmicrohttpd closes it.
  func take(_ descriptor: Int32) {
    state.withLock { state in
      guard state.count < Lingering.maximumCount, !state.isClosed else { return }
      guard let copy = Sockets.duplicate(descriptor) else { return }
      state.entries.append(Entry(descriptor: copy, left: limit))
      state.count += 1
    }
  }

  /// Throws away what has come in, and closes what is done; called by the sweep. Whoever calls
  /// `take` meanwhile does not wait.
  func look(at now: UInt64) {
    let entries = state.withLock { state in
      defer { state.entries = [] }
      return state.entries
    }
    let share = min(Lingering.bytesPerLook, Lingering.allBytesPerLook / max(1, entries.count))
    var kept: [Entry] = []
    for var entry in entries {
      if isOver(&entry, at: now, share) {
        Sockets.close(entry.descriptor)
      } else {
        kept.append(entry)
      }
    }
    let isClosed = state.withLock { state in
      state.count -= entries.count - kept.count
      if !state.isClosed { state.entries += kept }
      return state.isClosed
    }
    if isClosed { for entry in kept { Sockets.close(entry.descriptor) } }
  }

  private func isOver(_ entry: inout Entry, at now: UInt64, _ share: Int) -> Bool {
    Sockets.endWriting(entry.descriptor)
    switch Sockets.discard(entry.descriptor, limit: min(entry.left, share)) {
    case .end:
      return true
    case .nothingYet:
      break
    case .bytes(let count):
      entry.left -= count
      entry.quiet.progressed(by: count)
    }
    return entry.left <= 0 || !entry.quiet.isInTime(at: now) || !entry.total.isInTime(at: now)
  }

  /// Closes all, and takes no more.
  func closeAll() {
    state.withLock { state in
      state.isClosed = true
      for entry in state.entries { Sockets.close(entry.descriptor) }
      state.entries = []
    }
  }
}
