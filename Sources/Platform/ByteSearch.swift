internal import CByteSearch

/// The first index from `first` (2 or more) on of a byte up to 3 that two zero bytes precede, or
/// `bytes.count` when there is none: `StartCodeScanner.plainSearch`, several times as fast.
@Sendable
package func vectorSearch(_ bytes: Span<UInt8>, from first: Int) -> Int {
  precondition(first >= 2)
  return bytes.withUnsafeBufferPointer { buffer in
    guard let base = buffer.baseAddress, first < buffer.count else { return buffer.count }
    return nalu_zero_pair_end(base, buffer.count, first)
  }
}
