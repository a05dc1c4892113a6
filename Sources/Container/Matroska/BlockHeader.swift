/// What a SimpleBlock or Block begins with (RFC 9559 §10).
struct BlockHeader: Equatable, Sendable {
  let track: Int
  /// From the cluster's timestamp, in ticks.
  let time: Int
  let isKeyframe: Bool
  /// Bytes of the frames.
  let frames: [Int]
  /// Bytes of the header.
  let size: Int

  enum Progress {
    case incomplete
    case complete(BlockHeader)
    case invalid
  }

  /// More than a header has.
  static let maxBytes = 256 * 9 + 16

  /// Reads the header of a block of `blockSize` bytes that begins with `bytes`.
  static func read(_ bytes: [UInt8], blockSize: Int) -> Progress {
    var reader = Reader(bytes: bytes)
    guard let track = reader.variable() else { return reader.failure(blockSize) }
    guard let high = reader.byte(), let low = reader.byte(), let flags = reader.byte() else {
      return reader.failure(blockSize)
    }
    let time = Int(Int16(bitPattern: UInt16(high) << 8 | UInt16(low)))
    var frames: [Int] = []
    let lacing = flags >> 1 & 3
    if lacing != 0 {
      guard let last = reader.byte() else { return reader.failure(blockSize) }
      guard let sizes = reader.sizes(Int(last) + 1, lacing: lacing, blockSize: blockSize) else {
        return reader.failure(blockSize)
      }
      frames = sizes
    } else {
      frames = [blockSize - reader.position]
    }
    guard frames.allSatisfy({ $0 >= 0 }) else { return .invalid }
    return .complete(
      BlockHeader(
        track: track, time: time, isKeyframe: flags & 0x80 != 0, frames: frames,
        size: reader.position))
  }

  private struct Reader {
    let bytes: [UInt8]
    var position = 0
    var isInvalid = false

    init(bytes: [UInt8]) {
      self.bytes = bytes
    }

    func failure(_ blockSize: Int) -> Progress {
      isInvalid || bytes.count >= min(blockSize, BlockHeader.maxBytes) ? .invalid : .incomplete
    }

    mutating func byte() -> UInt8? {
      guard position < bytes.count else { return nil }
      defer { position += 1 }
      return bytes[position]
    }

    /// A number of variable length without its marker.
    mutating func variable() -> Int? { marked()?.value }

    private mutating func marked() -> (value: Int, size: Int)? {
      guard position < bytes.count else { return nil }
      let size = bytes[position].leadingZeroBitCount + 1
      guard size <= 8 else {
        isInvalid = true
        return nil
      }
      guard position + size <= bytes.count else { return nil }
      var value = 0
      for index in position..<position + size { value = value << 8 | Int(bytes[index]) }
      position += size
      return (value & (1 << (7 * size) - 1), size)
    }

    mutating func sizes(_ count: Int, lacing: UInt8, blockSize: Int) -> [Int]? {
      var sizes: [Int] = []
      var rest = blockSize
      switch lacing {
      case 1:
        while sizes.count < count - 1 {
          var size = 0
          while true {
            guard let part = byte() else { return nil }
            size += Int(part)
            if part < 255 { break }
          }
          guard take(size, from: &rest) else { return nil }
          sizes.append(size)
        }
      case 3:
        while sizes.count < count - 1 {
          guard let number = marked() else { return nil }
          let bias = 1 << (7 * number.size - 1) - 1
          let size = sizes.isEmpty ? number.value : (sizes.last ?? 0) + number.value - bias
          guard take(size, from: &rest) else { return nil }
          sizes.append(size)
        }
      default:
        rest -= position
        guard rest % count == 0 else {
          isInvalid = true
          return nil
        }
        return [Int](repeating: rest / count, count: count)
      }
      sizes.append(rest - position)
      return sizes
    }

    /// A frame of that size is in the rest of the block.
    private mutating func take(_ size: Int, from rest: inout Int) -> Bool {
      isInvalid = size < 0 || size > rest
      if !isInvalid { rest -= size }
      return !isInvalid
    }
  }
}
