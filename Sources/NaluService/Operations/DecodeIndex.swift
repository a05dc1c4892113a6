internal import Codec
internal import H264

/// Where the frames of a stream lie and in which order they are shown: what the scan before
/// decoding leaves behind.
struct DecodeIndex: Sendable {
  /// A frame, or both fields of one, in decoding order.
  struct Entry: Sendable {
    /// The first byte of its first start code.
    var offset: Int
    /// Position in output order; PicOrderCnt until `arrange` has run.
    var order: Int
    /// Bytes up to the end of its last NAL unit.
    var size: UInt32
    var flags: Flags
  }

  struct Flags: OptionSet, Sendable {
    let rawValue: UInt16
    /// Decoding can begin here: an IDR picture.
    static let idr = Flags(rawValue: 1)
    /// A recovery point SEI says that the picture itself is right (recovery_frame_cnt 0).
    static let recoveryPoint = Flags(rawValue: 2)
    /// All slices are I slices.
    static let intra = Flags(rawValue: 4)
    /// NAL units lie in between that are not for the decoder.
    static let mixed = Flags(rawValue: 8)
    /// Frames are missing before it (frame_num, where gaps are not allowed).
    static let afterGap = Flags(rawValue: 16)
    /// The video has no chroma.
    static let monochrome = Flags(rawValue: 32)
    /// A new range of output order begins: an IDR picture, or all references are unmarked.
    static let resetsOrder = Flags(rawValue: 64)
    /// No other picture refers to it.
    static let disposable = Flags(rawValue: 128)
    /// It is decoded and not shown: an edit list begins behind it.
    static let hidden = Flags(rawValue: 256)
  }

  /// A parameter set that differs from the one before it of the same kind and id.
  struct ParameterSet: Sendable {
    /// nal_unit_type and id.
    var name: Int
    /// The NAL header byte.
    var offset: Int
    var size: Int
  }

  /// What the base view or layer, which alone is decoded, is the base of.
  enum Extension: String, Sendable {
    case multiview = "only the base view was decoded (MVC)"
    case scalable = "only the base layer was decoded (SVC)"
    case depth = "only the base texture view was decoded (3D-AVC)"
  }

  /// What a frame's samples look like.
  struct Shape: Hashable, Sendable {
    var width: Int
    var height: Int
    var chromaFormatIDC: Int
    var bitDepth: Int
  }

  var entries: [Entry] = []
  /// What the first frame refers to.
  var sequence: SequenceParameterSet?
  var parameterSets: [ParameterSet] = []
  /// Pictures before the first that could be told apart, because no parameter sets were there.
  var picturesWithoutParameterSets = 0
  /// Distinct shapes in order of appearance; more than two are not listed.
  var shapes: [Shape] = []
  var `extension`: Extension?
  /// Frames per second: time_scale and 2·num_units_in_tick of the first SPS in use.
  var frameRate: (numerator: Int, denominator: Int)?
  /// Luma width and height of the largest coded picture, its bytes per raw frame.
  var largestFrame = 0
  /// The scan found nothing that makes the decoder's output differ from what `order` says.
  var isReliable = true
  /// Frames to hold back so that all come out in order, if that could be said.
  private(set) var reorderDepth: Int?
  /// Position in output order of the frame that is number 0.
  var firstShown = 0
  /// The number of the frame at each position of output order, where others are hidden in between.
  var numbers: [Int]?
  /// Frames that are shown; `nil`: all are.
  var shownCount: Int?
  /// When frames are shown, where a container says so.
  var timing: FrameTiming?
  /// What the container adds, of which the stream itself may say something else.
  var orientation = Orientation.upright
  var displayMatrix: [Int32]?
  var sampleAspectRatio: Rational?
  /// What the container lacks of its video, or what that may be; nil when the video is whole.
  var damage: ContainerDamage?
  /// What it lacks beside its video.
  var damageElsewhere: ContainerDamage?
  /// Where the bytes come from, if not from a byte stream.
  var timeline: StreamTimeline?

  /// More parameter sets than this, and the decoder always starts at the beginning.
  static let parameterSetLimit = 10_000
  /// What libavcodec can hold back.
  static let largestReorderDepth = 16
}

extension DecodeIndex {
  /// Turns picture order counts into positions, and finds out how far they differ from decoding
  /// order.
  mutating func arrange() {
    if entries.first?.flags.contains(.idr) != true { isReliable = false }
    var start = 0
    var depth = 0
    while start < entries.count {
      var end = start + 1
      while end < entries.count, !entries[end].flags.contains(.resetsOrder) { end += 1 }
      depth = max(depth, arrange(start..<end))
      start = end
    }
    if depth <= Self.largestReorderDepth { reorderDepth = depth } else { isReliable = false }
  }

  /// Numbers the frames of one range; the largest number of frames that precede one in decoding
  /// order and follow it in output order.
  private mutating func arrange(_ range: Range<Int>) -> Int {
    let sorted = range.sorted { entries[$0].order < entries[$1].order }
    for (left, right) in zip(sorted, sorted.dropFirst())
    where entries[left].order == entries[right].order {
      isReliable = false
    }
    for (position, entry) in sorted.enumerated() {
      entries[entry].order = range.lowerBound + position
    }
    var depth = 0
    // Those decoded so far, ascending, and how many of them are shown: all that come before.
    var decoded: [Int] = []
    var shown = 0
    for entry in range {
      let order = entries[entry].order
      var place = decoded.count
      while place > shown, decoded[place - 1] > order {
        place -= 1
        depth = max(depth, decoded.count - place)
        if depth > Self.largestReorderDepth { return depth }
      }
      decoded.insert(order, at: place)
      while shown < decoded.count, decoded[shown] == range.lowerBound + shown { shown += 1 }
    }
    return depth
  }

  /// Frames that are numbered.
  var frameCount: Int { shownCount ?? entries.count }

  /// The number of a frame that is shown; negative when it precedes the first.
  func number(of entry: Int) -> Int {
    let order = entries[entry].order
    return numbers?[order] ?? order - firstShown
  }

  /// The frame of that number.
  func entry(shownAt number: Int) -> Int? {
    let order = firstShown + number
    guard entries.indices.contains(order) else { return nil }
    // Frames stay in their range, and mostly near their place.
    for distance in 0..<entries.count {
      let (before, after) = (order - distance, order + distance)
      if before >= 0, entries[before].order == order { return before }
      if after < entries.count, entries[after].order == order { return after }
      if before < 0, after >= entries.count { break }
    }
    return nil
  }

  /// Where to start decoding so that `entry` comes out right: the nearest such frame before it, or
  /// `floor`, where decoding goes on if there is none behind it.
  func start(for entry: Int, notBefore floor: Int = 0) -> Int {
    let order = entries[entry].order
    var candidate = entry
    while candidate > floor {
      let flags = entries[candidate].flags
      if flags.contains(.idr) { return candidate }
      if flags.contains([.recoveryPoint, .intra]), entries[candidate].order <= order {
        return candidate
      }
      candidate -= 1
    }
    return floor
  }

  /// The parameter sets in force at byte `offset`.
  func parameterSets(before offset: Int) -> [ParameterSet] {
    var latest: [Int: ParameterSet] = [:]
    for set in parameterSets {
      if set.offset >= offset { break }
      latest[set.name] = set
    }
    return latest.values.sorted { $0.offset < $1.offset }
  }

  func isKeyframe(_ entry: Int) -> Bool {
    !entries[entry].flags.isDisjoint(with: [.idr, .recoveryPoint])
  }
}
