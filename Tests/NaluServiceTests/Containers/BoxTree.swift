/// The boxes of an MP4 file (ISO/IEC 14496-12 §4.2), to look single values up in a test.
struct BoxTree {
  let bytes: [UInt8]
  let type: String
  /// What follows the header.
  let content: Range<Int>
  let children: [BoxTree]

  private static let parents: Set<String> = [
    "moov", "trak", "mdia", "minf", "stbl", "edts", "mvex", "moof", "traf",
  ]

  init(_ bytes: [UInt8]) {
    self.init(bytes, type: "", 0..<bytes.count, isParent: true)
  }

  private init(_ bytes: [UInt8], type: String, _ content: Range<Int>, isParent: Bool) {
    self.bytes = bytes
    self.type = type
    self.content = content
    var children: [BoxTree] = []
    var position = content.lowerBound
    while isParent, position + 8 <= content.upperBound {
      var size = Self.number(bytes, position, 4)
      var header = 8
      if size == 1 {
        size = Self.number(bytes, position + 8, 8)
        header = 16
      }
      guard size >= header, position + size <= content.upperBound else { break }
      let name = String(decoding: bytes[position + 4..<position + 8], as: UTF8.self)
      children.append(
        BoxTree(
          bytes, type: name, position + header..<position + size,
          isParent: Self.parents.contains(name)))
      position += size
    }
    self.children = children
  }

  private static func number(_ bytes: [UInt8], _ position: Int, _ size: Int) -> Int {
    bytes[position..<position + size].reduce(0) { $0 << 8 | Int($1) }
  }

  /// The first box at `path`, names with slashes between them.
  subscript(path: String) -> BoxTree? {
    var box = self
    for name in path.split(separator: "/") {
      guard let child = box.children.first(where: { $0.type == name }) else { return nil }
      box = child
    }
    return box
  }

  /// A big-endian number of `size` bytes, `offset` bytes into the content.
  func number(_ offset: Int, _ size: Int = 4) -> Int {
    Self.number(bytes, content.lowerBound + offset, size)
  }

  /// As a signed one.
  func signed(_ offset: Int) -> Int { Int(Int32(truncatingIfNeeded: number(offset))) }

  /// The content has this name somewhere, as that of an inner box.
  func contains(_ name: String) -> Bool { range(of: name) != nil }

  /// Where the content behind the inner box of that name begins, in the content.
  func range(of name: String) -> Int? {
    let wanted = Array(name.utf8)
    return (0...max(0, content.count - wanted.count)).first {
      bytes[content.lowerBound + $0..<min(content.upperBound, content.lowerBound + $0 + 4)]
        .elementsEqual(wanted)
    }.map { $0 + 4 }
  }
}

/// The sample tables of a track, written out.
struct SampleTable {
  var sizes: [Int] = []
  var durations: [Int] = []
  var offsets: [Int] = []
  var keyframes: [Int] = []
  var chunkOffsets: [Int] = []
  var timescale = 0
  var mediaDuration = 0
  /// media_time and segment_duration of each edit.
  var edits: [(time: Int, duration: Int)] = []

  init(_ track: BoxTree) {
    guard let table = track["mdia/minf/stbl"], let header = track["mdia/mdhd"] else { return }
    let isLong = header.number(0, 1) == 1
    timescale = header.number(isLong ? 20 : 12)
    mediaDuration = header.number(isLong ? 24 : 16, isLong ? 8 : 4)
    if let box = table["stsz"] {
      let size = box.number(4)
      sizes = (0..<box.number(8)).map { size > 0 ? size : box.number(12 + 4 * $0) }
    }
    if let box = table["stts"] {
      for entry in 0..<box.number(4) {
        durations += Array(
          repeating: box.number(12 + 8 * entry), count: box.number(8 + 8 * entry))
      }
    }
    if let box = table["ctts"] {
      for entry in 0..<box.number(4) {
        offsets += Array(
          repeating: box.signed(12 + 8 * entry), count: box.number(8 + 8 * entry))
      }
    } else {
      offsets = durations.map { _ in 0 }
    }
    if let box = table["stss"] {
      keyframes = (0..<box.number(4)).map { box.number(8 + 4 * $0) - 1 }
    }
    if let box = table["stco"] { chunkOffsets = (0..<box.number(4)).map { box.number(8 + 4 * $0) } }
    if let box = track["edts/elst"] {
      let isLong = box.number(0, 1) == 1
      for entry in 0..<box.number(4) {
        let time = isLong ? box.number(16 + 20 * entry, 8) : box.signed(12 + 12 * entry)
        let duration = isLong ? box.number(8 + 20 * entry, 8) : box.number(8 + 12 * entry)
        edits.append((time: time, duration: duration))
      }
    }
  }

  /// Presentation times after the edit list, in the order of the samples.
  var presentations: [Int] {
    var time = 0
    var result: [Int] = []
    for (duration, offset) in zip(durations, offsets) {
      result.append(time + offset - (edits.first?.time ?? 0))
      time += duration
    }
    return result
  }
}
