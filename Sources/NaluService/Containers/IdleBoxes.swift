/// Boxes next to each other at the top of an MP4 file that mean nothing, made one where there are many
/// of them: what reads them one by one would take a long time for a few bytes.
struct IdleBoxes: Sendable {
  /// Changes of headers, so that a box takes in those that follow it.
  private(set) var patches: [SpooledUpload.Patch] = []

  /// Fewer are left as they are.
  private static let least = 16
  private static let maxPatches = 4096
  private static let maxBoxes = 1 << 16
  private static let maxBytes = 1 << 31
  /// free, skip.
  private static let free = 0x6672_6565
  private static let types: Set<Int> = [free, 0x736B_6970]
  private static let movie = 0x6D6F_6F76

  static func contains(_ box: BoxHeaders.Header) -> Bool {
    // A box of no content says nothing, but that there is a movie.
    box.size == 8 ? box.type != movie : types.contains(box.type)
  }

  /// Takes those from `start` on, of which `first` is one.
  ///
  /// - Returns: Where they end, and as how many they count.
  mutating func take(
    _ first: BoxHeaders.Header, at start: Int, _ headers: inout BoxHeaders, of upload: SpooledUpload
  ) -> (end: Int, count: Int) {
    var end = start + first.size
    var count = 1
    while count < Self.maxBoxes, end - start < Self.maxBytes,
      let next = headers.header(at: end, before: upload.count, of: upload), Self.contains(next),
      next.size < Self.maxBytes
    {
      end += next.size
      count += 1
    }
    let size = end - start
    guard count >= Self.least, patches.count < Self.maxPatches, size <= 2 * Self.maxBytes - 1 else {
      return (end, count)
    }
    let bytes = [size, Self.free].flatMap { number in
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
    }
    patches.append(SpooledUpload.Patch(offset: start, bytes: bytes))
    return (end, 1)
  }
}
