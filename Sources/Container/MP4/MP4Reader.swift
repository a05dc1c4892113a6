package import H264

/// Reads MP4, fragmented MP4 and QuickTime files.
///
/// What a file has to say of its samples comes before them in a file that is made to be streamed;
/// then nothing is kept. Otherwise ``needsWholeUpload`` becomes true: the caller keeps the bytes and
/// gives back what ``wanted`` asks for.
package struct MP4Reader: Sendable {
  let limits: ContainerLimits
  private var walker = BoxWalker()
  package internal(set) var file = MP4File()
  private var current: MovieTrack?
  var reported: MovieTrack?
  var fragment = Fragment()
  var defaults: [Int: FragmentDefaults] = [:]
  /// What fragments have of each track so far.
  var totals: [Int: FragmentTotals] = [:]
  var queue = SampleQueue()
  private var consumer: SampleConsumer
  private var shift = 0
  /// Of the reported track, where it has several.
  package private(set) var shownParts: ShownParts?
  private var movieIsComplete = false
  private var hasMediaBeforeMovie = false
  private var isOutOfOrder = false
  /// Samples of a file that is kept are not looked for before this byte.
  private var firstKept = 0
  /// The last box that is in no other.
  private var topBox: FourCharacters?
  private var hasNotedLimit = false
  private var hasReread = false

  /// `search`: finds start codes.
  package init(
    _ limits: ContainerLimits = ContainerLimits(),
    search: StartCodeScanner.Search? = StartCodeScanner.plainSearch
  ) {
    self.limits = limits
    consumer = SampleConsumer(search: search)
  }

  /// The bytes from the last chunk on must be kept: samples come before their description, or not in
  /// their order.
  package var needsWholeUpload: Bool { isOutOfOrder || hasMediaBeforeMovie && !movieIsComplete }

  /// Goes on with the next bytes of the file.
  package mutating func read<Sink: ContainerSink>(
    _ chunk: Span<UInt8>, into sink: inout Sink
  ) throws(Sink.Failure) {
    let base = walker.position
    var index = 0
    // Samples and boxes are told in the order of the file.
    var consumed = 0
    while let event = walker.next(in: chunk, from: &index) {
      try consume(chunk, consumed..<index, base, &sink)
      consumed = index
      try handle(event, &sink)
    }
    try consume(chunk, consumed..<chunk.count, base, &sink)
  }

  private mutating func consume<Sink: ContainerSink>(
    _ chunk: Span<UInt8>, _ range: Range<Int>, _ base: Int, _ sink: inout Sink
  ) throws(Sink.Failure) {
    guard movieIsComplete, !isOutOfOrder else { return }
    try consumer.consume(
      chunk.extracting(range), at: base + range.lowerBound, &queue, isRandom: false, into: &sink)
  }

  /// What the caller must give back next, once the upload of `size` bytes is complete; nil when
  /// nothing is missing.
  package mutating func wanted(of size: Int) -> Range<Int>? {
    guard isOutOfOrder, let range = consumer.wanted(&queue, of: size),
      range.lowerBound >= firstKept
    else { return nil }
    return range
  }

  /// Bytes of memory that sample tables and fragment runs take.
  package var heldBytes: Int { queue.bytes + (current?.table.bytes ?? 0) + walker.heldBytes }

  /// The most bytes of one sample of the reported track that were there.
  package var largestSample: Int { consumer.largest }

  /// Takes bytes that ``wanted`` asked for.
  package mutating func reread<Sink: ContainerSink>(
    _ bytes: Span<UInt8>, at offset: Int, into sink: inout Sink
  ) throws(Sink.Failure) {
    hasReread = true
    try consumer.consume(bytes, at: offset, &queue, isRandom: true, into: &sink)
  }

  /// The file is over.
  package mutating func finish<Sink: ContainerSink>(into sink: inout Sink) throws(Sink.Failure) {
    if walker.isCutOff {
      var finding = ContainerFinding(
        .error, .truncated, "The file ends inside a box.", at: walker.position)
      // Samples that are described and not there are told one by one.
      finding.isElsewhere =
        movieIsComplete && !(file.isFragmented && (walker.isInHeader || topBox == "moof"))
      sink.note(finding)
    }
    if !file.hasMovie {
      sink.note(
        ContainerFinding(
          .error, .damaged, "There is no moov box: nothing says what the samples are.", at: nil))
    }
    // Who gave nothing back is told of samples that could not be there.
    if isOutOfOrder, !hasReread {
      try consumer.dropPresent(&queue, in: firstKept..<walker.position, into: &sink)
    }
    try consumer.finish(&queue, fileSize: walker.position, into: &sink)
    for index in file.tracks.indices where file.fragmentCount > 0 {
      guard let totals = totals[file.tracks[index].id] else { continue }
      file.tracks[index].sampleCount = totals.samples
      file.tracks[index].measure = nil
      file.tracks[index].duration = totals.duration
    }
  }
}

// MARK: Boxes

extension MP4Reader {
  private mutating func handle<Sink: ContainerSink>(
    _ event: BoxWalker.Event, _ sink: inout Sink
  ) throws(Sink.Failure) {
    switch event {
    case .begin(let box):
      sink.take(.box(box))
      walker.treat(begin(box, &sink))
    case .content(let box, let content):
      read(box, content, &sink)
    case .end(let box):
      try end(box, &sink)
    case .defect(let box, let message):
      sink.take(.box(box))
      sink.note(ContainerFinding(.error, .damaged, message, at: box.offset))
    }
  }

  /// Types of boxes that are not just listed, wherever they are: most of many are none of them.
  private static let known: Set<FourCharacters> = [
    "moov", "moof", "mdat", "mfra", "trak", "traf", "mvex", "mdia", "minf", "stbl", "edts", "dinf",
    "udta", "stsz", "stz2", "stts", "ctts", "stss", "stsc", "stco", "co64", "trun", "ftyp", "styp",
    "mvhd", "trex", "tkhd", "mdhd", "hdlr", "elst", "stsd", "tfhd", "tfdt", "mehd",
  ]

  private mutating func begin<Sink: ContainerSink>(
    _ box: BoxEntry, _ sink: inout Sink
  ) -> BoxWalker.Treatment {
    let parent = walker.stack.last?.entry.type
    if parent == nil { topBox = box.type }
    guard Self.known.contains(box.type) else { return .skip }
    switch (parent, box.type) {
    case (nil, "moov"):
      if file.hasMovie { return .skip }
      return .enter
    case (nil, "moof"):
      fragment = Fragment(offset: box.offset, end: box.offset)
      file.fragmentCount += 1
      return .enter
    case (nil, "mdat"):
      if !movieIsComplete, file.fragmentCount == 0, !hasMediaBeforeMovie {
        hasMediaBeforeMovie = true
        firstKept = box.offset
      }
      return .skip
    case ("moov", "trak"):
      guard file.tracks.count < limits.maxTracks else {
        noteLimit("Only the first \(limits.maxTracks) tracks are read.", box.offset, &sink)
        return .skip
      }
      current = MovieTrack(id: 0)
      return .enter
    case ("moof", "traf"):
      fragment.track = 0
      fragment.defaults = FragmentDefaults()
      return .enter
    case ("moov", "mvex"), ("trak", "mdia"), ("mdia", "minf"), ("minf", "stbl"), ("trak", "edts"),
      ("minf", "dinf"), ("moov", "udta"), ("trak", "udta"), (nil, "mfra"):
      return .enter
    default:
      return treatment(of: box, in: parent, &sink)
    }
  }

  private mutating func treatment<Sink: ContainerSink>(
    of box: BoxEntry, in parent: FourCharacters?, _ sink: inout Sink
  ) -> BoxWalker.Treatment {
    let size = box.size ?? .max
    switch (parent, box.type) {
    case ("stbl", "stsz"), ("stbl", "stz2"), ("stbl", "stts"), ("stbl", "ctts"), ("stbl", "stss"),
      ("stbl", "stsc"), ("stbl", "stco"), ("stbl", "co64"):
      // Only the tables of the track to be reported are worth their memory.
      if reported == nil, current?.description == nil || current?.isH264 == true {
        guard size <= limits.maxTableBytes - (current?.table.bytes ?? 0) else {
          noteLimit("The sample tables are too large to be read.", box.offset, &sink)
          return .skip
        }
        return .collect(size)
      }
      return .collect(12)
    case ("traf", "trun"):
      guard size <= limits.maxTableBytes - queue.bytes else {
        noteLimit("A fragment describes too many samples.", box.offset, &sink)
        return .skip
      }
      return .collect(size)
    case (nil, "ftyp"), (nil, "styp"), ("moov", "mvhd"), ("mvex", "trex"), ("trak", "tkhd"),
      ("mdia", "mdhd"), ("mdia", "hdlr"), ("edts", "elst"), ("stbl", "stsd"), ("traf", "tfhd"),
      ("traf", "tfdt"), ("mvex", "mehd"):
      guard size <= limits.maxStructureBytes else {
        noteLimit("A box is too large to be read.", box.offset, &sink)
        return .skip
      }
      return .collect(size)
    default:
      return .skip
    }
  }

  private mutating func noteLimit<Sink: ContainerSink>(
    _ message: String, _ offset: Int, _ sink: inout Sink
  ) {
    guard !hasNotedLimit else { return }
    hasNotedLimit = true
    sink.note(ContainerFinding(.warning, .limit, message, at: offset))
  }

  private mutating func read<Sink: ContainerSink>(
    _ box: BoxEntry, _ content: [UInt8], _ sink: inout Sink
  ) {
    switch box.type {
    case "ftyp", "styp": file.readBrands(content)
    case "mvhd": file.readHeader(content)
    case "mehd": file.readFragmentDuration(content)
    case "trex": readExtends(content)
    case "tkhd": current?.readTrackHeader(content)
    case "mdhd": current?.readMediaHeader(content)
    case "hdlr": current?.readHandler(content)
    case "elst": current?.readEditList(content, at: box.offset)
    case "stsd": readDescription(box, content, &sink)
    case "tfhd": readFragmentHeader(content)
    case "tfdt":
      var fields = ByteFields(content)
      let version = fields.number(1)
      fields.skip(3)
      totals[fragment.track]?.time = fields.number(version == 1 ? 8 : 4)
    case "trun": readRun(box, content, &sink)
    default: readTable(box, content, &sink)
    }
  }

  private mutating func readTable<Sink: ContainerSink>(
    _ box: BoxEntry, _ content: [UInt8], _ sink: inout Sink
  ) {
    if box.type == "stsz" || box.type == "stz2", content.count >= 12 {
      current?.sampleCount = content.number32(at: 8)
    }
    guard reported == nil, content.count + box.headerSize == box.size else { return }
    if let defect = current?.table.take(box.type, content) {
      sink.note(ContainerFinding(.error, .damaged, defect, at: box.offset))
    }
  }

  private mutating func readDescription<Sink: ContainerSink>(
    _ box: BoxEntry, _ content: [UInt8], _ sink: inout Sink
  ) {
    let description = SampleDescription(
      content, at: box.offset + box.headerSize, depth: box.depth + 1,
      kind: current?.track.kind ?? .data)
    for inner in description.boxes { sink.take(.box(inner)) }
    for defect in description.defects {
      sink.note(ContainerFinding(.error, .damaged, defect.message, at: defect.offset))
    }
    current?.take(description)
  }

  private mutating func end<Sink: ContainerSink>(
    _ box: BoxEntry, _ sink: inout Sink
  ) throws(Sink.Failure) {
    switch box.type {
    case "trak": endTrack(&sink)
    case "moov" where box.depth == 0 && !file.hasMovie: try endMovie(&sink)
    default: break
    }
  }

  private mutating func endTrack<Sink: ContainerSink>(_ sink: inout Sink) {
    guard var track = current else { return }
    current = nil
    track.track.sampleCount = track.sampleCount
    if track.isH264, reported == nil {
      track.track.isReported = true
      if track.table.sampleCount < track.sampleCount ?? 0, track.table.sizes.isEmpty == false {
        track.track.sampleCount = track.table.sampleCount
      }
      reported = track
    }
    if track.table.duration > 0, let count = track.track.sampleCount {
      track.track.measure = ContainerTrack.Measure(samples: count, ticks: track.table.duration)
    }
    // Only the tables of one track are kept.
    totals[track.track.id] = FragmentTotals(
      samples: track.track.sampleCount ?? 0,
      time: track.table.sampleCount > 0 ? track.table.duration : track.track.duration ?? 0)
    track.table = SampleTable()
    if !track.track.isReported { track.track.configuration = nil }
    file.tracks.append(track.track)
  }

  private mutating func endMovie<Sink: ContainerSink>(_ sink: inout Sink) throws(Sink.Failure) {
    file.hasMovie = true
    movieIsComplete = true
    guard let track = reported else { return }
    shift = track.shift(movieTimeScale: file.timeScale)
    shownParts = track.shownParts(movieTimeScale: file.timeScale)
    if let defect = track.editDefect {
      sink.note(ContainerFinding(.info, .editList, defect, at: nil))
    }
    if track.description?.isEncrypted == true {
      sink.note(
        ContainerFinding(
          .warning, .encrypted, "The samples are encrypted; their NAL units cannot be read.",
          at: nil))
    }
    consumer.begin(track.description?.configurations ?? [], shift: shift)
    if !hasMediaBeforeMovie { firstKept = walker.position }
    isOutOfOrder = hasMediaBeforeMovie || !track.table.isInOrder(from: walker.position)
    queue.append(track.table)
    reported?.table = SampleTable()
    try consumer.announce(into: &sink)
  }
}
