internal import Codec
internal import Container
internal import H264
internal import Platform

/// Takes the H.264 track out of a container: what it gives is a byte stream (Annex B), and when its
/// pieces are shown.
struct TrackExtraction: ~Copyable, Sendable {
  private let upload: SpooledUpload
  private let format: MediaFormat
  private let limits: Limits
  private var demuxer: Demuxer
  private var lengths: LengthsToStartCodes?
  private(set) var timeline = StreamTimeline()
  /// The track that is taken, once there is one.
  private var track: Int?
  /// The earliest time of any packet, in seconds.
  private var earliest: Double?
  private var packetsLooked = 0
  /// The other tracks are left out.
  private var isSelected = false
  private var extradata: [UInt8] = []
  private var isDamaged = false
  /// Tracks that had nothing.
  private var emptyTracks: Set<Int> = []
  /// When the first packet of the track is decoded.
  private var firstDecoding: Int?
  /// A packet of which not all is in the byte stream yet, and how much is.
  private var pending: Packet?
  private var pendingStart = 0
  /// Reads the video instead where it is in several PIDs.
  private var moved: MovedVideo?
  private let videoPIDs: [Int]
  /// Reads it instead where an edit list shows several parts of it.
  private var edited: EditedVideo?
  private var hasLookedAround = false
  private var readsEdited: Bool { hasLookedAround && edited != nil }

  /// Packets of all tracks that are looked at for where the presentation begins.
  private static let lookedPackets = 200
  /// Bytes of one step.
  private static let stepSize = 256 << 10
  private static let stepPackets = 1000

  /// - Parameters:
  ///   - upload: All of it.
  ///   - format: What it is.
  ///   - limits: Bounds what is taken.
  ///   - shownParts: What is shown of the first track of H.264, where libavformat does not know it.
  ///   - videoPIDs: Those of a transport stream, if it moves its video from one to another.
  /// - Throws: When it cannot be read, or has no H.264.
  init(
    _ upload: SpooledUpload, _ format: MediaFormat, _ limits: Limits, _ shownParts: ShownParts?,
    videoPIDs: [Int]
  ) throws(Problem) {
    let demuxer = try Demuxer.open(upload, format, limits)
    if format != .mpegTS, format != .flv,
      !demuxer.tracks.contains(where: { $0.kind == .h264 })
    {
      throw .lacksVideo(format, demuxer.tracks)
    }
    var edited: EditedVideo?
    if let shownParts, let first = demuxer.firstVideo,
      demuxer.tracks[first].id == shownParts.track,
      let record = AVCConfigurationRecord(parsing: demuxer.tracks[first].extradata)
    {
      edited = try EditedVideo(
        shownParts, upload, track: first, lengthSize: record.lengthSize, limits)
    }
    self.edited = edited
    self.upload = upload
    self.format = format
    self.limits = limits
    self.demuxer = demuxer
    self.videoPIDs = videoPIDs
    moved = videoPIDs.isEmpty ? nil : MovedVideo(upload, limits)
  }

  /// Bytes of memory that the description of the tracks takes.
  var heldBytes: Int { demuxer.heldBytes }

  /// What the container says of the video, once all of it was read.
  var description: Description {
    let track = track.map { demuxer.tracks[$0] }
    return Description(
      tracks: demuxer.tracks, video: self.track, parts: furtherTracks, timeline: timeline,
      sampleAspectRatio: track?.sampleAspectRatio,
      frameRate: track?.frameRate, displayMatrix: track?.displayMatrix,
      orientation: track?.orientation ?? .upright, damage: damage)
  }

  /// Tracks that have further parts of the video.
  private var furtherTracks: [Int] {
    let tracks = demuxer.tracks
    return tracks.indices.filter {
      $0 != track && tracks[$0].kind == .h264 && videoPIDs.contains(tracks[$0].id)
    }
  }

  private var damage: ContainerDamage? {
    let isCut = track.map { demuxer.damagedTracks.contains($0) } ?? false
    guard isDamaged || isCut else { return nil }
    return ContainerDamage(message: "The track cannot be read to its end.")
  }

  /// Goes on with the next packets.
  ///
  /// - Parameters:
  ///   - bytes: Gets more of the byte stream.
  ///   - streamOffset: How much of it there is already.
  /// - Returns: False when there is no more.
  /// - Throws: When there is no H.264 track, or too much of it.
  mutating func step(
    into bytes: inout [UInt8], at streamOffset: Int
  ) throws(Problem) -> Bool {
    if !hasLookedAround, moved != nil || edited != nil {
      try lookAround()
      return true
    }
    if moved != nil { return try stepMoved(into: &bytes, at: streamOffset) }
    var packets = 0
    while bytes.count < Self.stepSize, packets < Self.stepPackets {
      if addPending(to: &bytes) { continue }
      packets += 1
      guard let packet = next() else {
        if try beginAnew() { return true }
        try finish()
        return false
      }
      try add(packet, at: streamOffset, to: &bytes)
    }
    return true
  }

  private mutating func stepMoved(
    into bytes: inout [UInt8], at streamOffset: Int
  ) throws(Problem) -> Bool {
    if try moved?.step(into: &bytes, at: streamOffset, &timeline) == true { return true }
    try finish()
    return false
  }

  /// Where the presentation begins, any track may say.
  private mutating func lookAround() throws(Problem) {
    for _ in 0..<Self.stepPackets where packetsLooked < Self.lookedPackets {
      guard let packet = next() else { break }
      _ = try isWanted(packet)
    }
    track = track ?? firstVideo
    hasLookedAround = true
    packetsLooked = Self.lookedPackets
    guard let edited else { return }
    let begin = Double(edited.start) * demuxer.tracks[edited.track].timeBase.doubleValue
    earliest = min(earliest ?? begin, begin)
    // What was read was only for the others' sake.
    isDamaged = false
  }

  /// Goes on with the next packets, whose content stays where it is.
  ///
  /// - Parameters:
  ///   - samples: Gets to know where.
  ///   - scan: Reads their NAL units.
  /// - Returns: Whether there is more; nil when samples must be made anew.
  /// - Throws: When there is no H.264 track, or too much of it.
  mutating func step(
    listing samples: inout SampleList, _ scan: inout DecodeScan
  ) throws(Problem) -> Bool? {
    if !hasLookedAround, edited != nil {
      try lookAround()
      return true
    }
    let end = samples.streamSize + Self.stepSize
    var packets = 0
    while samples.streamSize < end, packets < Self.stepPackets {
      packets += 1
      guard let packet = next() else {
        if try beginAnew() { return true }
        try finish()
        return false
      }
      guard try list(packet, in: &samples, &scan) else { return nil }
    }
    return true
  }

  private mutating func list(
    _ packet: borrowing Packet, in samples: inout SampleList, _ scan: inout DecodeScan
  ) throws(Problem) -> Bool {
    guard try isWanted(packet) else { return true }
    // What is shown twice cannot be the same sample.
    guard edited?.isInOnePass ?? true else { return false }
    let start = samples.streamSize
    let stated = demuxer.tracks[packet.track].extradata
    if timeline.marks.isEmpty {
      if try samples.configure(stated, &scan) != nil { return false }
      timeline.keepsDistances = true
    }
    if let changed = packet.newExtradata, changed != stated { return false }
    let first = samples.streamSize
    let record = first > start ? AVCConfigurationRecord(parsing: stated) : nil
    timeline.noteInsertion(
      start..<first, units: record?.units.count(where: { !$0.bytes.isEmpty }) ?? 0)
    if try samples.add(packet, &scan) != nil { return false }
    timeline.marks.append(mark(packet, at: start, behind: first - start))
    return true
  }

  private mutating func finish() throws(Problem) {
    guard let track, demuxer.tracks.indices.contains(track), !timeline.marks.isEmpty else {
      guard !demuxer.tracks.contains(where: { $0.kind == .h264 }) else {
        throw Problem(
          .undecodable,
          "The H.264 track is empty, or there is nothing of it in the body, or its edit list shows"
            + " none of it; the body is \(format.title).")
      }
      throw .lacksVideo(format, demuxer.tracks)
    }
    let base = demuxer.tracks[track].timeBase
    timeline.timeBase = base
    let origin = ((earliest ?? 0) / base.doubleValue).rounded()
    timeline.origin = Int(exactly: origin) ?? 0
    if format == .mp4, edited == nil {
      // The times of fragments may begin anywhere.
      timeline.span = demuxer.duration(of: track).map { $0 - max(0, firstDecoding ?? 0) }
    }
  }

  private mutating func next() -> Packet? {
    while true {
      do throws(CodecError) {
        if readsEdited { return try edited?.next() }
        if let packet = try demuxer.next() { return packet }
        guard selectWholeVideo() else { return nil }
      } catch {
        if !readsEdited, selectWholeVideo() { continue }
        // What was read so far may still be shown. Running out of memory counts as damage too:
        // libavformat says so of a packet whose stated size is absurd.
        isDamaged = true
        return nil
      }
    }
  }

  /// In an MP4 file the video may be whole though a sample of another track cannot be read, or lies
  /// behind the file's end.
  private mutating func selectWholeVideo() -> Bool { format == .mp4 && selectVideo() }

  /// Leaves out all tracks but the video; false when that was done before, or there is none yet.
  private mutating func selectVideo() -> Bool {
    guard !isSelected, let video = track ?? firstVideo else { return false }
    track = video
    isSelected = true
    demuxer.select([video])
    return true
  }

  /// The track that is taken: the first, as in a report on the upload.
  private var firstVideo: Int? {
    if let first = demuxer.firstVideo, !emptyTracks.contains(first) { return first }
    return demuxer.tracks.indices.first {
      demuxer.tracks[$0].kind == .h264 && !emptyTracks.contains($0)
    }
  }

  /// Takes the next track of H.264 where the container has nothing of the one that was taken; false
  /// when there is no other.
  private mutating func beginAnew() throws(Problem) -> Bool {
    guard let empty = track, timeline.marks.isEmpty else { return false }
    emptyTracks.insert(empty)
    guard let other = firstVideo else { return false }
    demuxer = try Demuxer.open(upload, format, limits)
    track = other
    edited = nil
    hasLookedAround = false
    earliest = nil
    packetsLooked = 0
    isSelected = false
    isDamaged = false
    return true
  }

  /// The packet is of the track that is taken.
  private mutating func isWanted(_ packet: borrowing Packet) throws(Problem) -> Bool {
    let index = packet.track
    guard demuxer.tracks.indices.contains(index) else { return false }
    let kind = demuxer.tracks[index].kind
    let timeBase = demuxer.tracks[index].timeBase
    if track == nil, kind == .h264 { track = firstVideo }
    note(packet, kind, timeBase)
    guard index == track else { return false }
    guard packet.bytes.count <= limits.maxSampleBytes else { throw .sampleTooLarge(limits) }
    firstDecoding = firstDecoding ?? packet.decodingTime
    guard timeline.marks.count < limits.maxNALUnits else {
      throw .tooManyPackets(limits.maxNALUnits)
    }
    return true
  }

  /// What is remembered of a packet that is at `offset` of the byte stream, behind some bytes that
  /// are not its own.
  private func mark(
    _ packet: borrowing Packet, at offset: Int, behind lead: Int
  ) -> StreamTimeline.Mark {
    StreamTimeline.Mark(
      streamOffset: offset, mediaOffset: packet.offset.map { $0 - lead },
      presentation: packet.presentationTime, duration: Int32(clamping: packet.duration),
      isHidden: packet.isHidden)
  }

  private mutating func add(
    _ packet: consuming Packet, at streamOffset: Int, to bytes: inout [UInt8]
  ) throws(Problem) {
    guard try isWanted(packet) else { return }
    let index = packet.track
    let start = bytes.count
    var units = 0
    if edited?.beginsPass == true {
      // The picture may be the same as the one before: it is another one.
      bytes += [0, 0, 0, 1, NALUnitType.accessUnitDelimiter.rawValue, 0xF0]
      units += 1
    }
    if timeline.marks.isEmpty { units += configure(demuxer.tracks[index].extradata, &bytes) }
    if let changed = packet.newExtradata { units += configure(changed, &bytes) }
    let first = bytes.count
    timeline.noteInsertion(streamOffset + start..<streamOffset + first, units: units)
    lengths?.begin()
    pendingStart = 0
    let isWhole = appendPiece(of: packet, to: &bytes)
    if bytes.count > start {
      timeline.marks.append(mark(packet, at: streamOffset + start, behind: first - start))
    }
    if !isWhole { pending = consume packet }
  }

  /// Goes on with a packet that is too large for one step; false when there is none.
  private mutating func addPending(to bytes: inout [UInt8]) -> Bool {
    guard let packet = pending.take() else { return false }
    if !appendPiece(of: packet, to: &bytes) { pending = consume packet }
    return true
  }

  /// Appends what comes next of a packet; true when that was the last.
  private mutating func appendPiece(
    of packet: borrowing Packet, to bytes: inout [UInt8]
  ) -> Bool {
    let end = min(packet.bytes.count, pendingStart + Self.stepSize)
    let piece = packet.bytes.extracting(pendingStart..<end)
    if lengths != nil {
      lengths?.convert(piece, into: &bytes)
    } else {
      bytes.append(copying: piece)
    }
    pendingStart = end
    return end == packet.bytes.count
  }

  /// Finds out where the presentation begins; then the other tracks are of no use.
  private mutating func note(_ packet: borrowing Packet, _ kind: Track.Kind, _ timeBase: Rational) {
    guard packetsLooked < Self.lookedPackets else { return }
    packetsLooked += 1
    if !packet.isHidden, packet.track != edited?.track, let time = packet.presentationTime {
      // Sound before 0 is what a decoder needs to get going, and is not heard.
      let exact = Double(time) * timeBase.doubleValue
      let seconds = kind == .h264 ? exact : max(0, exact)
      earliest = min(earliest ?? seconds, seconds)
    }
    if packetsLooked >= Self.lookedPackets {
      if !selectVideo(), !isSelected { packetsLooked -= 1 }
    }
  }

  /// Parameter sets out of band: they go before what refers to them. Gives their number.
  private mutating func configure(_ new: [UInt8], _ bytes: inout [UInt8]) -> Int {
    guard new != extradata else { return 0 }
    extradata = new
    guard new.first == 1, let record = AVCConfigurationRecord(parsing: new) else {
      lengths = nil
      bytes += new
      return Self.unitCount(new)
    }
    lengths = LengthsToStartCodes(lengthSize: record.lengthSize)
    timeline.keepsDistances = record.lengthSize == 4
    for unit in record.units where !unit.bytes.isEmpty {
      bytes += [0, 0, 0, 1]
      bytes += unit.bytes
    }
    return record.units.count(where: { !$0.bytes.isEmpty })
  }

  /// NAL units of a byte stream.
  private static func unitCount(_ stream: [UInt8]) -> Int {
    var scanner = StartCodeScanner()
    var count = 0
    var position = 0
    while scanner.next(in: stream.span, from: &position) != nil { count += 1 }
    return count + (scanner.finish() == nil ? 0 : 1)
  }
}
