internal import Glibc

/// A fixed piece of memory that travels from the socket to a codec without being copied again.
///
/// One owner fills it, then hands it on; from then on it is only read. 64 zero bytes follow the
/// capacity, as libavcodec asks of packet buffers.
package final class Block {
  package static let padding = 64
  private static let alignment = 64

  /// Room for that many bytes.
  package let capacity: Int
  /// Bytes filled so far.
  package private(set) var count = 0
  private let base: UnsafeMutableRawPointer

  package init(capacity: Int) {
    precondition(capacity >= 0)
    self.capacity = capacity
    let size = capacity + Block.padding
    base = .allocate(byteCount: size, alignment: Block.alignment)
    // Only the padding must be defined: the bytes before `count` are written before they are read.
    memset(base + capacity, 0, Block.padding)
  }

  deinit {
    base.deallocate()
  }

  package var freeCapacity: Int { capacity - count }
  package var isFull: Bool { count == capacity }

  /// The bytes filled so far.
  package var span: Span<UInt8> {
    @_lifetime(borrow self)
    get {
      let bytes = UnsafeRawBufferPointer(start: base, count: count)
      let span = Span<UInt8>(_unsafeBytes: bytes)
      return _overrideLifetime(span, borrowing: self)
    }
  }

  /// Copies as many of `bytes` as fit and returns how many that were.
  @discardableResult
  package func append(_ bytes: Span<UInt8>) -> Int {
    let taken = min(bytes.count, freeCapacity)
    guard taken > 0 else { return 0 }
    bytes.withUnsafeBytes { source in
      guard let start = source.baseAddress else { return }
      (base + count).copyMemory(from: start, byteCount: taken)
    }
    count += taken
    return taken
  }

  /// Fills free room from `fill`, which gets it and returns how many bytes it wrote there.
  package func append<Failure: Error>(
    _ fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
  ) throws(Failure) {
    let written = try fill(UnsafeMutableRawBufferPointer(start: base + count, count: freeCapacity))
    precondition(written >= 0 && written <= freeCapacity)
    count += written
  }

  /// Forgets the content; the memory stays.
  package func removeAll() {
    count = 0
  }

  /// The memory itself, valid while the block lives.
  package var baseAddress: UnsafeMutableRawPointer { base }
}

// SAFETY: a block has one owner at a time; it is handed over under the lock of its job, and read
// only once it is shared with a codec.
extension Block: @unchecked Sendable {}
