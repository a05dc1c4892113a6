/// Writes Matroska files of one video track.
struct MatroskaBuilder {
  enum Lacing: Int, CaseIterable {
    case none = 0
    case xiph = 1
    case fixed = 2
    case ebml = 3
  }

  var film = ContainerFilm.small
  /// Sizes of the segment and its clusters are unknown, as in a live stream.
  var isLive = false
  /// Pictures in BlockGroups rather than SimpleBlocks.
  var hasGroups = false
  /// Two pictures to a block.
  var lacing = Lacing.none
  /// Bytes that every frame has lost, by header stripping.
  var stripped = 0
  var pixelWidth: Int?
  var hasVoid = false
  /// Video for Windows: start codes instead of lengths.
  var isByteStream = false

  static func element(_ id: Int, _ content: [UInt8], isUnknown: Bool = false) -> [UInt8] {
    var count = 1
    while id >> (8 * count) > 0 { count += 1 }
    let size = isUnknown ? [0x01] + [UInt8](repeating: 0xFF, count: 7) : size(content.count)
    return bigEndian(id, count) + size + content
  }

  private static func size(_ size: Int) -> [UInt8] {
    size < 127 ? [0x80 | UInt8(size)] : [0x10 | UInt8(size >> 24)] + bigEndian(size, 3)
  }

  static func number(_ id: Int, _ number: Int) -> [UInt8] { element(id, bigEndian(number, 4)) }

  static func text(_ id: Int, _ text: String) -> [UInt8] { element(id, Array(text.utf8)) }

  private var track: [UInt8] {
    var entry = Self.number(0xD7, 1) + Self.number(0x83, 1)
    if isByteStream {
      let header =
        bigEndian(0, 16) + Array("H264".utf8) + [UInt8](repeating: 0, count: 20)
      entry += Self.text(0x86, "V_MS/VFW/FOURCC") + Self.element(0x63A2, header)
    } else {
      entry += Self.text(0x86, "V_MPEG4/ISO/AVC") + Self.element(0x63A2, film.record())
    }
    entry += Self.number(0x23E383, 40_000_000) + Self.text(0x22B59C, "ger")
    entry += Self.element(
      0xE0, Self.number(0xB0, pixelWidth ?? film.width) + Self.number(0xBA, film.height))
    if stripped > 0 {
      let compression =
        Self.number(0x4254, 3) + Self.element(0x4255, [UInt8](repeating: 0, count: stripped))
      entry += Self.element(
        0x6D80, Self.element(0x6240, Self.element(0x5034, compression)))
    }
    return Self.element(0x1654_AE6B, Self.element(0xAE, entry))
  }

  private func frame(_ picture: ContainerFilm.Picture) -> [UInt8] {
    let bytes =
      isByteStream
      ? [0, 0, 0, 1] + film.sps + [0, 0, 0, 1] + film.pps
        + picture.units.flatMap { [0, 0, 1] + $0 }
      : ContainerFilm.sample(picture.units)
    return Array(bytes.dropFirst(stripped))
  }

  private func block(_ pictures: ArraySlice<ContainerFilm.Picture>) -> [UInt8] {
    guard let first = pictures.first else { return [] }
    var frames = pictures.map(frame)
    // Fixed lacing wants equal sizes.
    if lacing == .fixed {
      let most = frames.map(\.count).max() ?? 0
      frames = frames.map { $0 + [UInt8](repeating: 0, count: most - $0.count) }
    }
    let flags = (first.isKeyframe && !hasGroups ? 0x80 : 0) | UInt8(lacing.rawValue) << 1
    var content = [0x81] + bigEndian((first.decoding + first.delay) * 40, 2) + [flags]
    if lacing != .none { content.append(UInt8(frames.count - 1)) }
    for (index, frame) in frames.dropLast().enumerated() {
      switch lacing {
      case .xiph:
        content += [UInt8](repeating: 255, count: frame.count / 255)
        content.append(UInt8(frame.count % 255))
      case .ebml:
        let step = index == 0 ? frame.count : frame.count - frames[index - 1].count + 0x1FFF
        content += bigEndian(0x4000 | step, 2)
      case .none, .fixed: break
      }
    }
    content += frames.flatMap { $0 }
    guard hasGroups else { return Self.element(0xA3, content) }
    let reference = first.isKeyframe ? [] : Self.element(0xFB, [0xD8])
    return Self.element(0xA0, Self.element(0xA1, content) + Self.number(0x9B, 50) + reference)
  }

  var file: [UInt8] {
    let step = lacing == .none ? 1 : 2
    var clusters: [UInt8] = []
    for first in stride(from: 0, to: film.pictures.count, by: 2) {
      let end = min(first + 2, film.pictures.count)
      var content = Self.number(0xE7, 1000)
      if hasVoid { content += Self.element(0xBF, [1, 2, 3, 4]) + Self.element(0xEC, [0, 0, 0]) }
      for index in stride(from: first, to: end, by: step) {
        content += block(film.pictures[index..<min(index + step, film.pictures.count)])
      }
      clusters += Self.element(0x1F43_B675, content, isUnknown: isLive)
    }
    let info = Self.element(
      0x1549_A966, Self.number(0x2AD7B1, 1_000_000) + Self.text(0x4D80, "Test"))
    let cues = Self.element(0x1C53_BB6B, Self.element(0xBB, Self.number(0xB3, 0)))
    let void = hasVoid ? Self.element(0xEC, [UInt8](repeating: 0x1F, count: 20)) : []
    return Self.element(0x1A45_DFA3, Self.text(0x4282, "matroska"))
      + Self.element(0x1853_8067, void + info + track + clusters + cues, isUnknown: isLive)
  }
}
