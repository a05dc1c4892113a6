/// How the packets of a transport stream lie in a file: ISO/IEC 13818-1 §2.4.3, alone, behind the
/// 4 bytes of a time stamp (M2TS), or before the 16 bytes of a check (ISO/IEC 13818-1 in DVB and
/// ATSC equipment).
package struct TransportPacketing: Equatable, Sendable {
  package static let sizes = [188, 192, 204]
  static let syncByte: UInt8 = 0x47

  /// Bytes from one sync byte to the next.
  package let packetSize: Int
  /// The first sync byte.
  package let firstSync: Int

  /// Finds sync bytes at equal distances: two or more where a file begins with a packet, more where
  /// it begins in the middle of one. Nil when there are none.
  package init?(head: Span<UInt8>) {
    for (size, first) in [(188, 0), (192, 4), (204, 0)]
    where Self.hasSyncs(head, size, first, least: 2) {
      self.init(packetSize: size, firstSync: first)
      return
    }
    for size in Self.sizes {
      for first in 0..<size where Self.hasSyncs(head, size, first, least: 5) {
        self.init(packetSize: size, firstSync: first)
        return
      }
    }
    return nil
  }

  package init(packetSize: Int, firstSync: Int) {
    self.packetSize = packetSize
    self.firstSync = firstSync
  }

  /// Sync bytes everywhere in the first packets, `least` of them or more.
  private static func hasSyncs(
    _ head: Span<UInt8>, _ size: Int, _ first: Int, least: Int
  ) -> Bool {
    var found = 0
    var place = first
    while place < head.count, found < 8 {
      guard head[place] == syncByte else { return false }
      found += 1
      place += size
    }
    return found >= least
  }
}
