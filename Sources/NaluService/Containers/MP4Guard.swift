internal import Platform

/// Refuses MP4 files whose tables would cost more memory than they have bytes.
///
/// A few bytes can say that a track has a thousand million samples. libavformat believes them, and
/// finds tables wherever boxes are nested; so they are looked for by name, in all boxes but those
/// of media data.
struct MP4Guard {
  private let maxSamples: Int
  private let maxMetadata: Int
  /// Bytes outside media data so far, and whether what is looked at is a fragment's.
  private var metadata = 0
  private var isInFragment = false
  /// What is looked at next, and where the box that it is in ends.
  private var position = 0
  private var boxEnd = 0
  private var headers = BoxHeaders()
  private var idle = IdleBoxes()
  /// At the top, those that mean nothing not counted one by one.
  private var boxes = 0
  /// What there is of a movie.
  private(set) var movie = MovieForm.missing
  /// Of the track that is being read.
  private var track = Track()
  private var samples = 0
  private var tracks = 0
  /// Records that edit lists make of samples.
  private var editedSamples = 0
  private var hasRuns = false
  /// libavformat would number the fragments by an error code, and count from there.
  private var lacksTrackID = false
  /// Where the boxes of edit lists begin, maybe.
  private var editLists: [Int] = []

  private static let maxTracks = 100
  /// Entries of a track's edit list: no program writes thousands.
  private static let maxEdits = 1024
  /// Boxes at the top that are there for no sample, and further ones for each sample.
  private static let maxBoxes = 1 << 16
  private static let maxBoxesOfSample = 8
  /// Boxes of a movie among which `mvex` is looked for.
  private static let maxMovieBoxes = 1 << 16
  private static let pieceSize = 256 << 10
  /// Of one step.
  private static let stepBoxes = 1000
  /// Bytes from the name of a box on that are looked at.
  private static let lookAhead = 32
  /// Boxes of a track that are looked at for its header.
  private static let maxTrackBoxes = 1000

  /// What is known of a track, or of what lies outside all tracks.
  private struct Track {
    var samples = 0
    /// Samples of one size, of which a table says only how many there are.
    var uniformSamples = 0
    var edits = 0
    var isSound = false
    var isOther = false
    var timeTables = 0
    /// Each sample lasts one unit of time.
    var lastsUnits = false

    /// libavformat keeps no record of each sample: uncompressed sound.
    var isRecordless: Bool { isSound && !isOther && timeTables == 1 && lastsUnits }
  }

  /// Bytes of memory that libavformat takes for its records of samples: of each, where it is, when it
  /// is shown, and the same again with the edit list applied.
  var heldBytes: Int { samples * 64 }

  init(_ limits: Limits) {
    maxSamples = 3 * min(limits.maxFrames, 1 << 24)
    maxMetadata = limits.maxMetadata
  }

  /// Reads the next piece of the boxes, or passes over media data.
  ///
  /// - Returns: False when there is no more.
  /// - Throws: Why the file is refused.
  mutating func step(_ upload: SpooledUpload) throws(Problem) -> Bool {
    var scanned = 0
    for _ in 0..<Self.stepBoxes where scanned < Self.pieceSize {
      if position < boxEnd {
        let start = position
        try scan(upload)
        scanned += position - start
      } else if let box = headers.header(at: position, before: upload.count, of: upload) {
        try begin(box, upload)
      } else {
        try finish()
        return false
      }
    }
    return true
  }

  private mutating func finish() throws(Problem) {
    try endTrack()
    guard !hasRuns || !lacksTrackID else {
      throw Problem(
        .undecodable,
        "A track of the fragmented MP4 file has no track_ID, so that nothing tells what its fragments"
          + " are of.")
    }
  }

  /// A box at the top.
  private mutating func begin(
    _ box: BoxHeaders.Header, _ upload: SpooledUpload
  ) throws(Problem) {
    boxEnd = position + box.size
    isInFragment = false
    var count = 1
    if IdleBoxes.contains(box) {
      (boxEnd, count) = idle.take(box, at: position, &headers, of: upload)
    } else if box.type == Name.mdat {
      position = boxEnd
    } else {
      isInFragment = box.type == Name.moof
      if box.type == Name.moov, movie == .missing { noteMovie(box, upload) }
      // What fragments say of samples is counted as samples.
      if !isInFragment, !Name.unread.contains(box.type) { try self.count(box.size) }
    }
    boxes += count
    let most = Self.maxBoxes + Self.maxBoxesOfSample * (samples + track.samples)
    guard boxes <= most else {
      throw Problem(
        .unsupportedFeature,
        "The MP4 file has more than \(Self.maxBoxes) boxes, and \(Self.maxBoxesOfSample) for each"
          + " of its samples.", members: [.init("limit", most)])
    }
  }

  /// Samples are described in fragments too where `mvex` says so.
  private mutating func noteMovie(_ box: BoxHeaders.Header, _ upload: SpooledUpload) {
    let content = position + box.headerSize..<position + box.size
    let extends = headers.content(
      of: Name.mvex, in: content, atMost: Self.maxMovieBoxes, of: upload)
    movie = extends == nil ? .whole : .fragmented
  }

  private mutating func count(_ size: Int) throws(Problem) {
    metadata += size
    guard metadata <= maxMetadata else { throw .tooMuchMetadata(maxMetadata) }
  }

  /// The upload when all was read: with its edit lists as libavformat understands them, without the
  /// one at `hidden`, and with boxes that mean nothing put together. Edit lists of a fragmented file
  /// are of no effect on its fragments.
  func repaired(_ upload: SpooledUpload, hiding hidden: Int?) -> SpooledUpload {
    var patches = idle.patches
    if movie != .fragmented {
      for place in editLists {
        patches += EditListRepair.patches(
          of: upload.bytes(at: place, count: EditListRepair.maxBytes), at: place)
      }
      if let hidden {
        patches.append(SpooledUpload.Patch(offset: hidden + 4, bytes: Array("free".utf8)))
      }
    }
    return upload.patched(patches, movie)
  }

  private mutating func scan(_ upload: SpooledUpload) throws(Problem) {
    let piece = upload.bytes(
      at: position, count: min(Self.pieceSize + Self.lookAhead, boxEnd - position))
    var name = 0
    for index in 0..<min(piece.count, Self.pieceSize + 3) {
      name = (name << 8 | Int(piece[index])) & 0xFFFF_FFFF
      guard index >= 3 else { continue }
      if name == Name.elst, editLists.count < Self.maxTracks {
        editLists.append(position + index - 7)
      }
      if name == Name.trak, tracks < Self.maxTracks,
        !Self.hasHeader(upload, from: position + index + 1, to: boxEnd)
      {
        lacksTrackID = true
      }
      try look(at: name, piece, index - 3)
      if isInFragment, Name.kept.contains(name) {
        let size = upload.bytes(at: max(0, position + index - 7), count: 4).number(0)
        try count(min(size, boxEnd - position))
      }
    }
    position = min(boxEnd, position + Self.pieceSize)
  }

  /// One of the boxes from `start` on is a track header.
  private static func hasHeader(_ upload: SpooledUpload, from start: Int, to end: Int) -> Bool {
    var headers = BoxHeaders()
    var position = start
    for _ in 0..<maxTrackBoxes {
      guard let box = headers.header(at: position, before: end, of: upload) else { break }
      // Nothing behind it is read either.
      guard box.isPossible else { return false }
      if box.type == Name.tkhd { return true }
      // The next track.
      if box.type == Name.trak { return false }
      position += box.size
    }
    return false
  }

  /// A box of that name may begin before `piece[start]`.
  private mutating func look(at name: Int, _ piece: [UInt8], _ start: Int) throws(Problem) {
    switch name {
    case Name.trak:
      tracks += 1
      guard tracks <= Self.maxTracks else {
        throw Problem(
          .unsupportedFeature, "The file has more than \(Self.maxTracks) tracks.",
          members: [.init("limit", Self.maxTracks)])
      }
      try endTrack()
    case Name.tkhd:
      // Version and flags, two times of 32 or 64 bits, track_ID.
      let isLong = start + 4 < piece.count && piece[start + 4] == 1
      if piece.number(start + (isLong ? 24 : 16)) >= 1 << 31 { lacksTrackID = true }
    case Name.hdlr:
      // Version and flags, pre_defined, handler_type.
      switch piece.number(start + 12) {
      case Name.soun: track.isSound = true
      case Name.vide: track.isOther = true
      default: break
      }
    case Name.stts:
      // Version and flags, entry_count, sample_count, sample_delta.
      track.timeTables += 1
      track.lastsUnits = piece.number(start + 8) == 1 && piece.number(start + 16) == 1
    case Name.stsz:
      // Version and flags, sample_size, sample_count.
      if piece.number(start + 8) == 0 {
        track.samples += piece.number(start + 12)
      } else {
        track.uniformSamples += piece.number(start + 12)
      }
    case Name.stz2:
      track.samples += piece.number(start + 12)
    case Name.trun:
      hasRuns = true
      track.samples += piece.number(start + 8)
    case Name.elst:
      track.edits += piece.number(start + 8)
    case Name.cmov:
      throw Problem(
        .unsupportedFeature, "The movie header of the file is compressed.",
        members: [.init("feature", "cmov")])
    default:
      break
    }
  }

  private mutating func endTrack() throws(Problem) {
    let counted = track.samples + (track.isRecordless ? 0 : track.uniformSamples)
    let edits = track.edits
    track = Track()
    guard edits <= Self.maxEdits else {
      throw Problem(
        .unsupportedFeature, "The edit list of a track has more than \(Self.maxEdits) entries.",
        members: [.init("feature", "\(edits) edits"), .init("limit", Self.maxEdits)])
    }
    samples += counted
    guard samples <= maxSamples else {
      throw Problem(
        .tooManyFrames,
        "The file says that its tracks have more than \(maxSamples) samples, three times max_frames.",
        members: [.init("limit", maxSamples)])
    }
    editedSamples += edits * max(counted, 1)
    guard editedSamples <= 4 * maxSamples else {
      throw Problem(
        .unsupportedFeature,
        "The edit lists of the file have too many entries for so many samples.",
        members: [.init("feature", "\(edits) edits")])
    }
  }

  private enum Name {
    static let trak = 0x7472_616B
    static let tkhd = 0x746B_6864
    static let hdlr = 0x6864_6C72
    static let soun = 0x736F_756E
    static let vide = 0x7669_6465
    static let stts = 0x7374_7473
    static let stsz = 0x7374_737A
    static let stz2 = 0x7374_7A32
    static let trun = 0x7472_756E
    static let elst = 0x656C_7374
    static let mvex = 0x6D76_6578
    static let cmov = 0x636D_6F76
    static let mdat = 0x6D64_6174
    static let moof = 0x6D6F_6F66
    static let moov = 0x6D6F_6F76
    /// mdat, free, skip, wide.
    static let unread: Set<Int> = [mdat, 0x6672_6565, 0x736B_6970, 0x7769_6465]
    /// pssh, udta, meta, uuid: what is kept of fragments.
    static let kept: Set<Int> = [0x7073_7368, 0x7564_7461, 0x6D65_7461, 0x7575_6964]
  }
}
