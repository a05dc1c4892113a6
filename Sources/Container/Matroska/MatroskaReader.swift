package import H264

/// Reads Matroska and WebM files (RFC 9559).
package struct MatroskaReader: Sendable {
  package private(set) var file = MatroskaFile()
  private let limits: ContainerLimits
  private var walker = ElementWalker()
  private var units: LengthPrefixedUnits
  private var byteStream: ByteStreamUnits
  private var reportedID: Int?
  private var clusterTime = 0
  private var sampleIndex = 0
  private var hasNotedLimit = false
  private var hasAnnounced = false
  /// The most bytes of one block of any track that were there.
  package private(set) var largestBlock = 0

  // The block in progress.
  private var blockBytes: [UInt8] = []
  private var header: BlockHeader?
  private var isLost = false
  /// Its track, once the header is read.
  private var blockTrack: Int?
  private var frame = 0
  private var frameLeft = 0
  private var isInGroup = false
  private var groupHasReference = false
  private var groupDuration: Int?
  private var groupHasFrame = false

  private static let maxSeekHead = 4 << 10

  /// `search`: finds start codes, in tracks that have them.
  package init(
    _ limits: ContainerLimits = ContainerLimits(),
    search: StartCodeScanner.Search? = StartCodeScanner.plainSearch
  ) {
    self.limits = limits
    units = LengthPrefixedUnits(lengthSize: 4, search: search)
    byteStream = ByteStreamUnits(search: search)
  }

  /// Goes on with the next bytes of the file.
  package mutating func read<Sink: ContainerSink>(
    _ chunk: Span<UInt8>, into sink: inout Sink
  ) throws(Sink.Failure) {
    var index = 0
    while let event = walker.next(in: chunk, from: &index) {
      switch event {
      case .begin(let element):
        list(element, &sink)
        walker.treat(begin(element, &sink))
      case .content(let element, let content):
        try read(element, content, &sink)
      case .piece(let element, let range, let isLast):
        try readBlock(
          element, chunk.extracting(range), at: walker.position - range.count, &sink)
        if isLast { try endBlock(at: element.end, &sink) }
      case .end(let element):
        if element.id == ElementID.blockGroup { endGroup(&sink) }
      case .defect(let offset, let message):
        sink.note(ContainerFinding(.error, .damaged, message, at: offset))
      }
    }
  }

  /// The file is over.
  package mutating func finish<Sink: ContainerSink>(into sink: inout Sink) throws(Sink.Failure) {
    if walker.isCutOff {
      var finding = ContainerFinding(
        .error, .truncated, "The file ends inside an element.", at: walker.position)
      finding.isElsewhere = isCutElsewhere
      sink.note(finding)
    }
    if let overrun = walker.overrun {
      sink.note(
        ContainerFinding(
          .error, .damaged, "The segment is larger than it says: an element goes past its end.",
          at: overrun))
    }
    try units.end(at: walker.position, into: &sink)
    if file.packing.isByteStream { try byteStream.finish(into: &sink) }
    file.complete()
  }

  /// The file ends in what is not of the reported track, and nothing else is known to be missing.
  private var isCutElsewhere: Bool {
    let open = walker.openElements
    func ends(_ outer: Int) -> Bool {
      open[outer].isUnknownSize || open[outer].end <= open[outer + 1].end
    }
    guard open.count > 1,
      ends(0) || !open[1].isUnknownSize && file.isKnown(at: open[1].end - open[0].start),
      open[1].id != ElementID.tracks
    else { return false }
    guard open[1].id == ElementID.cluster else { return true }
    guard open.count > 2, ends(1),
      open[2].id == ElementID.simpleBlock || open[2].id == ElementID.blockGroup
    else { return false }
    return blockTrack != nil && reportedID != nil && blockTrack != reportedID
  }

  private func list<Sink: ContainerSink>(_ element: ElementWalker.Element, _ sink: inout Sink) {
    guard element.depth <= 1 else { return }
    sink.take(
      .element(
        ElementEntry(
          id: element.id, offset: element.offset,
          size: element.isUnknownSize ? nil : element.end - element.offset, depth: element.depth)))
  }

  private mutating func begin<Sink: ContainerSink>(
    _ element: ElementWalker.Element, _ sink: inout Sink
  ) -> ElementWalker.Treatment {
    let parent = walker.stack.last?.id
    switch (parent, element.id) {
    case (nil, ElementID.segment), (ElementID.segment, ElementID.tracks),
      (ElementID.segment, ElementID.cues):
      return .enter
    case (ElementID.segment, ElementID.seekHead)
    where !element.isUnknownSize && element.size <= Self.maxSeekHead:
      return .collect
    case (ElementID.segment, ElementID.cluster):
      file.clusterCount += 1
      clusterTime = 0
      return .enter
    case (nil, ElementID.ebml), (ElementID.segment, ElementID.info):
      return collect(element, atMost: limits.maxStructureBytes, &sink)
    case (ElementID.tracks, ElementID.trackEntry):
      guard file.tracks.count < limits.maxTracks else {
        noteLimit("Only the first \(limits.maxTracks) tracks are read.", element.offset, &sink)
        return .skip
      }
      return collect(element, atMost: limits.maxStructureBytes, &sink)
    case (ElementID.cues, ElementID.cuePoint):
      file.cueCount += 1
      return .skip
    case (ElementID.cluster, ElementID.timestamp), (ElementID.blockGroup, ElementID.blockDuration):
      return collect(element, atMost: 8, &sink)
    case (ElementID.cluster, ElementID.blockGroup):
      isInGroup = true
      blockTrack = nil
      groupHasReference = false
      groupDuration = nil
      groupHasFrame = false
      return .enter
    case (ElementID.blockGroup, ElementID.referenceBlock):
      groupHasReference = true
      return .skip
    case (ElementID.cluster, ElementID.simpleBlock), (ElementID.blockGroup, ElementID.block):
      if element.id == ElementID.simpleBlock { isInGroup = false }
      file.blockCount += 1
      blockBytes.removeAll(keepingCapacity: true)
      header = nil
      blockTrack = nil
      isLost = false
      return .pieces
    default:
      return .skip
    }
  }

  private mutating func collect<Sink: ContainerSink>(
    _ element: ElementWalker.Element, atMost most: Int, _ sink: inout Sink
  ) -> ElementWalker.Treatment {
    guard !element.isUnknownSize, element.size <= most else {
      noteLimit("An element is too large to be read.", element.offset, &sink)
      return .skip
    }
    return .collect
  }

  private mutating func noteLimit<Sink: ContainerSink>(
    _ message: String, _ offset: Int, _ sink: inout Sink
  ) {
    guard !hasNotedLimit else { return }
    hasNotedLimit = true
    sink.note(ContainerFinding(.warning, .limit, message, at: offset))
  }

  private mutating func read<Sink: ContainerSink>(
    _ element: ElementWalker.Element, _ content: [UInt8], _ sink: inout Sink
  ) throws(Sink.Failure) {
    switch element.id {
    case ElementID.ebml: file.readHeader(content)
    case ElementID.info: file.readInfo(content)
    case ElementID.seekHead: file.readSeekHead(content)
    case ElementID.trackEntry:
      file.readTrack(content, at: element.start)
      try announce(&sink)
    case ElementID.timestamp: clusterTime = Self.number(content)
    case ElementID.blockDuration: groupDuration = Self.number(content)
    default: break
    }
  }

  private static func number(_ content: [UInt8]) -> Int {
    var fields = ByteFields(content)
    return fields.number(min(8, content.count))
  }

  /// The track to be reported was found.
  private mutating func announce<Sink: ContainerSink>(
    _ sink: inout Sink
  ) throws(Sink.Failure) {
    guard !hasAnnounced, let track = file.tracks.last, track.isReported else { return }
    hasAnnounced = true
    reportedID = track.id
    if file.packing.isOpaque {
      sink.note(
        ContainerFinding(
          .warning, .encrypted,
          "The track is encrypted or compressed; its NAL units cannot be read.", at: nil))
    }
    guard let record = track.configuration, let offset = track.configurationOffset else { return }
    units.lengthSize = record.lengthSize
    try sink.take(record, at: offset)
  }

  // MARK: Blocks

  private mutating func readBlock<Sink: ContainerSink>(
    _ element: ElementWalker.Element, _ piece: Span<UInt8>, at offset: Int, _ sink: inout Sink
  ) throws(Sink.Failure) {
    largestBlock = max(largestBlock, offset + piece.count - element.start)
    guard !isLost else { return }
    guard header == nil else {
      try readFrames(piece, at: offset, &sink)
      return
    }
    // A header has four bytes, and with lacing more.
    let before = blockBytes.count
    let taken = min(piece.count, BlockHeader.maxBytes - before)
    blockBytes.append(copying: piece.extracting(0..<taken))
    switch BlockHeader.read(blockBytes, blockSize: element.size) {
    case .incomplete: return
    case .invalid:
      isLost = true
      sink.note(
        ContainerFinding(
          .error, .damaged, "The header of a block makes no sense.", at: element.offset))
    case .complete(let found):
      blockTrack = found.track
      file.noteBlock(
        ofTrack: found.track, frames: found.frames.count,
        at: clusterTime.addingClamped(found.time))
      guard found.track == reportedID, !file.packing.isOpaque else {
        isLost = true
        return
      }
      header = found
      frame = 0
      try beginFrame(at: element.start + found.size, &sink)
      let first = found.size - before
      try readFrames(piece.extracting(first..<piece.count), at: offset + first, &sink)
    }
  }

  private mutating func beginFrame<Sink: ContainerSink>(
    at offset: Int, _ sink: inout Sink
  ) throws(Sink.Failure) {
    guard let header else { return }
    frameLeft = header.frames[frame]
    var sample = Sample(
      index: sampleIndex, offset: offset,
      streamOffset: file.packing.isByteStream ? byteStream.streamOffset : units.streamOffset)
    sampleIndex += 1
    let defaultDuration = file.tracks.first { $0.isReported }?.defaultDuration
    let time = clusterTime.addingClamped(header.time)
    if frame == 0 {
      sample.pts = time
    } else if let defaultDuration {
      sample.pts = time.addingClamped(frame.multipliedClamped(defaultDuration))
    }
    sample.duration = defaultDuration
    // What follows the first frame of a keyframe's block is often none.
    if !isInGroup, frame == 0 || !header.isKeyframe { sample.isSync = header.isKeyframe }
    groupHasFrame = true
    sink.take(sample)
    let lost = file.packing.header
    if file.packing.isByteStream {
      byteStream.append(lost.span, at: offset)
    } else {
      units.begin(size: frameLeft.addingClamped(lost.count))
      try units.read(lost.span, at: offset - lost.count, into: &sink)
    }
  }

  private mutating func readFrames<Sink: ContainerSink>(
    _ piece: Span<UInt8>, at offset: Int, _ sink: inout Sink
  ) throws(Sink.Failure) {
    var index = 0
    while let header, frame < header.frames.count {
      let taken = min(frameLeft, piece.count - index)
      if taken > 0 {
        let part = piece.extracting(index..<index + taken)
        if file.packing.isByteStream {
          byteStream.append(part, at: offset + index)
          try byteStream.scan(into: &sink)
        } else {
          try units.read(part, at: offset + index, into: &sink)
        }
      }
      index += taken
      frameLeft -= taken
      guard frameLeft == 0 else { return }
      if !file.packing.isByteStream { try units.end(at: offset + index, into: &sink) }
      frame += 1
      if frame < header.frames.count { try beginFrame(at: offset + index, &sink) }
    }
  }

  private mutating func endBlock<Sink: ContainerSink>(
    at offset: Int, _ sink: inout Sink
  ) throws(Sink.Failure) {
    if header == nil, !isLost {
      sink.note(
        ContainerFinding(.error, .damaged, "A block is too short for its header.", at: offset))
    }
    header = nil
  }

  private mutating func endGroup<Sink: ContainerSink>(_ sink: inout Sink) {
    isInGroup = false
    guard groupHasFrame else { return }
    sink.amendSample(duration: groupDuration, isSync: !groupHasReference)
  }
}
