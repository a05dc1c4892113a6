internal import Platform

/// Connections that have been answered before they were read to the end.
///
/// Closing one at once would reset it, and the reset can overtake the answer on its way to the
/// client. So a second descriptor keeps the socket open a little longer, while what the client
/// still sends is thrown away.
final class Lingering: Sendable {
  /// More are closed at once.
  private static let maximumCount = 256
  /// Bytes thrown away per look.
  private static let bytesPerLook = 4 << 20
  /// Seconds without a byte, and altogether.
  private static let quietTime = Duration.seconds(2)
  private static let totalTime = Duration.seconds(20)

  private struct Entry {
    var descriptor: Int32
    var left: Int
    var quiet = Pace(allowance: Lingering.quietTime)
    var total = Pace(allowance: Lingering.totalTime)
  }

  private let limit: Int
  private let entries = Lock<[Entry]>([])

  /// - Parameter limit: bytes thrown away per connection.
  init(limit: Int) {
    self.limit = limit
  }

  /// Keeps the socket of an answered connection open when libmicrohttpd closes it.
  func take(_ descriptor: Int32) {
    entries.withLock { entries in
      guard entries.count < Lingering.maximumCount else { return }
      guard let copy = Sockets.duplicate(descriptor) else { return }
      entries.append(Entry(descriptor: copy, left: limit))
    }
  }

  /// Throws away what has come in, and closes what is done; called by the sweep.
  func look(at now: UInt64) {
    entries.withLock { entries in
      var kept: [Entry] = []
      for var entry in entries {
        if isOver(&entry, at: now) {
          Sockets.close(entry.descriptor)
        } else {
          kept.append(entry)
        }
      }
      entries = kept
    }
  }

  private func isOver(_ entry: inout Entry, at now: UInt64) -> Bool {
    Sockets.endWriting(entry.descriptor)
    switch Sockets.discard(entry.descriptor, limit: min(entry.left, Lingering.bytesPerLook)) {
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

  /// Closes all.
  func closeAll() {
    entries.withLock { entries in
      for entry in entries { Sockets.close(entry.descriptor) }
      entries = []
    }
  }
}
