/// Brings edit lists (ISO/IEC 14496-12 §8.6.6) into a form that libavformat takes as it is meant.
///
/// It shows nothing of an edit whose segment_duration is 0, which lasts to the end of the media, takes
/// an empty edit behind others for one that begins before the media, and each media_rate for 1.
enum EditListRepair {
  /// Lasts as long as any media.
  private static let endless = 0xFFFF_FFFF
  private static let normalRate = 0x1_0000
  /// The type of a box without meaning.
  private static let free = 0x6672_6565

  /// Bytes of a list that are read.
  static let maxBytes = 16 << 10

  /// What to put where in the upload, of which `box` is what there is from byte `offset` on: the size
  /// of the box, its type, its content.
  static func patches(of box: [UInt8], at offset: Int) -> [SpooledUpload.Patch] {
    guard box.count >= 16, box[9...11].allSatisfy({ $0 == 0 }), box[8] <= 1 else { return [] }
    let isLong = box[8] == 1
    let entrySize = isLong ? 20 : 12
    let count = number(box, 12, 4)
    let said = number(box, 0, 4)
    // Something that only looks like a list is left alone.
    guard count > 0, count <= (box.count - 16) / entrySize, said >= 16 + count * entrySize,
      said <= box.count
    else { return [] }
    let width = isLong ? 8 : 4
    let starts = (0..<count).map { 16 + $0 * entrySize }
    func time(_ start: Int) -> Int {
      let time = number(box, start + width, width)
      return isLong ? time : Int(Int32(truncatingIfNeeded: time))
    }
    func isEmpty(_ start: Int) -> Bool { time(start) == -1 }
    guard let last = starts.lastIndex(where: { !isEmpty($0) }) else { return [] }
    var patches: [SpooledUpload.Patch] = []
    func put(_ value: Int, _ place: Int, _ size: Int) {
      let bytes = (0..<size).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
      patches.append(SpooledUpload.Patch(offset: offset + place, bytes: bytes))
    }
    if last + 1 < count {
      // Nothing is shown behind the last: the list ends there, and the rest is a box to skip.
      let end = starts[last + 1]
      put(end, 0, 4)
      put(last + 1, 12, 4)
      put(said - end, end, 4)
      put(free, end + 4, 4)
    }
    let beyond = isLong ? 1 << 40 : Int(Int32.max)
    var hasBegun = false
    for (index, start) in starts[...last].enumerated() {
      let rate = Int(Int32(truncatingIfNeeded: number(box, start + 2 * width, 4)).magnitude)
      let duration = number(box, start, width)
      if isEmpty(start) {
        if hasBegun { put(beyond, start + width, width) }
      } else if rate == 0, index < last {
        // One picture for a while: the next one waits as long.
        put(hasBegun ? beyond : -1, start + width, width)
      } else {
        hasBegun = true
        let wanted = lasting(duration, rate, isLast: index == last)
        if wanted != duration { put(wanted, start, width) }
        if time(start) < 0 { put(0, start + width, width) }
      }
    }
    return patches
  }

  /// How long an edit takes of the media, in ticks of the movie.
  private static func lasting(_ duration: Int, _ rate: Int, isLast: Bool) -> Int {
    guard duration > 0 else { return isLast ? endless : 0 }
    guard rate > 0 else { return 1 }
    return max(1, min(duration, endless) * min(rate, 1 << 30) / normalRate)
  }

  private static func number(_ bytes: [UInt8], _ start: Int, _ size: Int) -> Int {
    bytes[start..<start + size].reduce(0) { $0 << 8 | Int($1) }
  }
}
