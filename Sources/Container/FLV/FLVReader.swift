package import H264

/// Reads FLV files (Adobe Flash Video File Format Specification, version 10.1, annex E), also with
/// the code points of four characters of Enhanced RTMP.
package struct FLVReader: Sendable {
  package private(set) var file = FLVFile()
  /// Bytes of memory that the metadata take.
  package private(set) var heldBytes = 0
  private let limits: ContainerLimits
  private var state = State.fileHeader
  private var position = 0
  /// The header, or the beginning of a body, so far.
  private var buffer: [UInt8] = []
  private var tag: TagEntry?
  /// Bytes of the tag's body that have not come.
  private var bodyLeft = 0
  private var units: LengthPrefixedUnits
  private var configuration: [UInt8]?
  private var sampleIndex = 0
  private var isLost = false

  private enum State {
    case fileHeader
    case skipping(Int)
    case tagHeader
    /// Collecting the first bytes of a body, which tell what it is.
    case bodyHead(Int)
    /// Collecting all of a body.
    case wholeBody
    case units
    case restOfBody
    case previousSize
  }

  /// `search`: finds start codes.
  package init(
    _ limits: ContainerLimits = ContainerLimits(),
    search: StartCodeScanner.Search? = StartCodeScanner.plainSearch
  ) {
    self.limits = limits
    units = LengthPrefixedUnits(lengthSize: 4, search: search)
  }

  /// Goes on with the next bytes of the file.
  package mutating func read<Sink: ContainerSink>(
    _ chunk: Span<UInt8>, into sink: inout Sink
  ) throws(Sink.Failure) {
    var index = 0
    while index < chunk.count {
      let wanted: Int
      switch state {
      case .fileHeader: wanted = 9
      case .tagHeader: wanted = 11
      case .previousSize: wanted = 4
      case .bodyHead(let count): wanted = count
      case .wholeBody: wanted = buffer.count + bodyLeft
      case .skipping(let left):
        let taken = min(left, chunk.count - index)
        advance(&index, taken)
        state = taken == left ? .tagHeader : .skipping(left - taken)
        continue
      case .restOfBody, .units:
        try readBody(chunk, &index, &sink)
        continue
      }
      let taken = min(wanted - buffer.count, chunk.count - index)
      let isBody = isInBody
      buffer.append(copying: chunk.extracting(index..<index + taken))
      advance(&index, taken)
      if isBody { bodyLeft -= taken }
      if buffer.count == wanted { try complete(&sink) }
    }
  }

  private var isInBody: Bool {
    switch state {
    case .bodyHead, .wholeBody: true
    default: false
    }
  }

  private mutating func advance(_ index: inout Int, _ count: Int) {
    index += count
    position += count
  }

  private mutating func readBody<Sink: ContainerSink>(
    _ chunk: Span<UInt8>, _ index: inout Int, _ sink: inout Sink
  ) throws(Sink.Failure) {
    let taken = min(bodyLeft, chunk.count - index)
    if case .units = state {
      try units.read(chunk.extracting(index..<index + taken), at: position, into: &sink)
    }
    advance(&index, taken)
    bodyLeft -= taken
    if bodyLeft == 0 { try endBody(&sink) }
  }

  /// The file is over.
  package mutating func finish<Sink: ContainerSink>(into sink: inout Sink) throws(Sink.Failure) {
    let isCut: Bool
    // What comes after the header is of the tag.
    var isElsewhere = tag.map { $0.kind != .video } ?? false
    switch state {
    case .fileHeader, .bodyHead, .wholeBody: isCut = true
    case .units:
      try units.end(at: position, into: &sink)
      isCut = true
    case .restOfBody, .skipping: isCut = bodyLeft > 0
    case .tagHeader:
      isCut = !buffer.isEmpty && !isLost
      isElsewhere = buffer.first.map { $0 & 31 != 9 } ?? false
    // Live recordings lack the last size.
    case .previousSize:
      isCut = !buffer.isEmpty
      isElsewhere = true
    }
    if isCut {
      var finding = ContainerFinding(
        .error, .truncated, "The file ends inside a tag.", at: position)
      finding.isElsewhere = isElsewhere
      sink.note(finding)
    }
    file.complete()
  }

  // MARK: Parts

  private mutating func complete<Sink: ContainerSink>(_ sink: inout Sink) throws(Sink.Failure) {
    switch state {
    case .fileHeader: readFileHeader(&sink)
    case .tagHeader: try readTagHeader(&sink)
    case .bodyHead: try readBodyHead(&sink)
    case .wholeBody: try readWholeBody(&sink)
    case .previousSize: readPreviousSize(&sink)
    case .skipping, .units, .restOfBody: break
    }
  }

  private mutating func readFileHeader<Sink: ContainerSink>(_ sink: inout Sink) {
    var fields = ByteFields(buffer)
    fields.skip(3)
    file.version = fields.number(1)
    let flags = fields.number(1)
    file.hasVideo = flags & 1 != 0
    file.hasAudio = flags & 4 != 0
    let size = fields.number(4)
    buffer.removeAll(keepingCapacity: true)
    if size < 9 {
      sink.note(
        ContainerFinding(
          .warning, .damaged, "DataOffset is \(size), less than the header.", at: 5))
    }
    // PreviousTagSize0 follows.
    state = .skipping(max(9, size) - 9 + 4)
  }

  private mutating func readTagHeader<Sink: ContainerSink>(
    _ sink: inout Sink
  ) throws(Sink.Failure) {
    var fields = ByteFields(buffer)
    let type = fields.number(1)
    let size = fields.number(3)
    let time = fields.number(3)
    let timestamp = Int(Int32(truncatingIfNeeded: fields.number(1) << 24 | time))
    let stream = fields.number(3)
    guard [8, 9, 18].contains(type & 31), type & 0xC0 == 0, stream == 0 else {
      if !isLost {
        sink.note(
          ContainerFinding(
            .error, .damaged, "There is no tag where one should be; the next one is searched for.",
            at: position - 11))
      }
      isLost = true
      buffer.removeFirst()
      return
    }
    isLost = false
    let kind: TagEntry.Kind = type & 31 == 8 ? .audio : type & 31 == 9 ? .video : .script
    tag = TagEntry(
      index: file.tagCount, offset: position - 11, kind: kind, size: size, timestamp: timestamp)
    file.tagCount += 1
    file.lastTimestamp = max(file.lastTimestamp, timestamp)
    bodyLeft = size
    buffer.removeAll(keepingCapacity: true)
    if type & 0x20 != 0 {
      sink.note(
        ContainerFinding(.warning, .encrypted, "The tag is encrypted.", at: position - 11))
      announce(&sink)
      try beginRest(&sink)
    } else if kind == .script {
      announce(&sink)
      if size <= limits.maxStructureBytes, size > 0 {
        state = .wholeBody
      } else {
        try beginRest(&sink)
      }
    } else if size == 0 {
      announce(&sink)
      try beginRest(&sink)
    } else {
      state = .bodyHead(1)
    }
  }

  private func announce<Sink: ContainerSink>(_ sink: inout Sink) {
    if let tag { sink.take(.tag(tag)) }
  }

  private mutating func beginRest<Sink: ContainerSink>(_ sink: inout Sink) throws(Sink.Failure) {
    state = .restOfBody
    if bodyLeft == 0 { try endBody(&sink) }
  }

  private mutating func readBodyHead<Sink: ContainerSink>(
    _ sink: inout Sink
  ) throws(Sink.Failure) {
    guard let kind = tag?.kind else { return }
    if kind == .audio {
      try readAudioHead(&sink)
      return
    }
    let head = VideoHead(buffer)
    if waitsForHead(of: head.size) { return }
    tag?.video = head.video
    announce(&sink)
    file.noteVideo(head, at: tag?.timestamp ?? 0)
    buffer.removeAll(keepingCapacity: true)
    guard head.isH264 else {
      try beginRest(&sink)
      return
    }
    switch head.video.packetType {
    case .sequenceHeader where bodyLeft > 0 && bodyLeft <= limits.maxStructureBytes:
      state = .wholeBody
    case .units where bodyLeft > 0:
      beginSample(head, &sink)
      state = .units
    default:
      try beginRest(&sink)
    }
  }

  /// The head is longer than what was read of it, and there is more.
  private mutating func waitsForHead(of size: Int) -> Bool {
    guard size > buffer.count, bodyLeft > 0 else { return false }
    state = .bodyHead(min(size, buffer.count + bodyLeft))
    return true
  }

  private mutating func readAudioHead<Sink: ContainerSink>(
    _ sink: inout Sink
  ) throws(Sink.Failure) {
    let head = AudioHead(buffer)
    if waitsForHead(of: head.size) { return }
    tag?.audioCodec = head.codec
    announce(&sink)
    file.noteAudio(head, at: tag?.timestamp ?? 0)
    buffer.removeAll(keepingCapacity: true)
    if head.hasConfiguration, bodyLeft > 0, bodyLeft <= Self.maxAudioConfiguration {
      state = .wholeBody
    } else {
      try beginRest(&sink)
    }
  }

  private static let maxAudioConfiguration = 256

  private mutating func beginSample<Sink: ContainerSink>(_ head: VideoHead, _ sink: inout Sink) {
    guard let tag else { return }
    var sample = Sample(
      index: sampleIndex, offset: position, streamOffset: units.streamOffset)
    sampleIndex += 1
    sample.dts = tag.timestamp
    sample.pts = tag.timestamp.addingClamped(head.video.compositionTime ?? 0)
    sample.isSync = head.video.frameType == 1
    sink.take(sample)
    units.begin(size: bodyLeft)
  }

  private mutating func readWholeBody<Sink: ContainerSink>(
    _ sink: inout Sink
  ) throws(Sink.Failure) {
    var bytes: [UInt8] = []
    swap(&bytes, &buffer)
    let offset = position - bytes.count
    if tag?.kind == .script {
      var reader = ScriptReader(bytes)
      let name = reader.next()
      let value = reader.isAtEnd ? nil : reader.next()
      if name == .text("onMetaData"), let value, file.metadata == nil {
        file.metadata = value
        // A value of two bytes takes about so many times as much.
        heldBytes = 16 * bytes.count
      }
      if reader.isDamaged {
        sink.note(
          ContainerFinding(.warning, .damaged, "The script data cannot be read whole.", at: offset))
      }
    } else if tag?.kind == .audio {
      if let found = AudioSpecificConfig(bytes) { file.noteConfiguration(found) }
    } else if bytes != configuration {
      try takeConfiguration(bytes, at: offset, &sink)
    }
    try endBody(&sink)
  }

  private mutating func takeConfiguration<Sink: ContainerSink>(
    _ bytes: [UInt8], at offset: Int, _ sink: inout Sink
  ) throws(Sink.Failure) {
    guard let record = AVCConfigurationRecord(parsing: bytes) else {
      sink.note(
        ContainerFinding(
          .error, .configurationDamaged, "The sequence header is too short.", at: offset))
      return
    }
    if configuration != nil {
      sink.note(
        ContainerFinding(
          .info, .configurationChanged, "The sequence header changes its content.", at: offset))
    }
    configuration = bytes
    units.lengthSize = record.lengthSize
    file.noteConfiguration(record, at: offset)
    try sink.take(record, at: offset)
  }

  private mutating func endBody<Sink: ContainerSink>(_ sink: inout Sink) throws(Sink.Failure) {
    if case .units = state { try units.end(at: position, into: &sink) }
    buffer.removeAll(keepingCapacity: true)
    state = .previousSize
  }

  private mutating func readPreviousSize<Sink: ContainerSink>(_ sink: inout Sink) {
    let size = buffer.number32(at: 0)
    buffer.removeAll(keepingCapacity: true)
    state = .tagHeader
    guard let tag, size != tag.size + 11 else { return }
    sink.note(
      ContainerFinding(
        .warning, .damaged, "PreviousTagSize is \(size), not \(tag.size + 11).",
        at: position - 4))
  }
}
