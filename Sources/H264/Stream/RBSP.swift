/// The raw byte sequence payload of a NAL unit: its bytes without the header and without emulation
/// prevention bytes (H.264 §7.3.1). One value is loaded again and again; it keeps its memory.
package struct RBSP: Sendable {
  package private(set) var bytes: [UInt8] = []
  /// Payload indices in front of which an emulation prevention byte was removed.
  private var removals: [Int] = []
  private var headerSize = 1

  package init() {}

  /// Takes the payload of `unit`, which starts with a header of `headerSize` bytes.
  package mutating func load(_ unit: Span<UInt8>, headerSize: Int) {
    bytes.removeAll(keepingCapacity: true)
    if !removals.isEmpty { removals.removeAll(keepingCapacity: true) }
    self.headerSize = headerSize
    bytes.append(addingCapacity: unit.count) { payload in
      var zeros = 0
      var index = headerSize
      while index < unit.count {
        let byte = unit[index]
        index &+= 1
        if byte == 0 {
          zeros &+= 1
        } else {
          if byte == 3, zeros >= 2 {
            removals.append(payload.count)
            zeros = 0
            continue
          }
          zeros = 0
        }
        payload.append(byte)
      }
    }
  }

  /// Emulation prevention bytes that were removed.
  package var removedBytes: Int { removals.count }

  /// Where a bit of the payload is in the NAL unit, counted from the first bit of its header byte
  /// with the emulation prevention bytes.
  package func bitInUnit(_ bit: Int) -> Int {
    let index = bit / 8
    var low = 0
    var high = removals.count
    while low < high {
      let middle = (low + high) / 2
      if removals[middle] <= index { low = middle + 1 } else { high = middle }
    }
    return (headerSize + low) * 8 + bit
  }
}
