internal import Codec
internal import Container
internal import Platform

/// The video of an upload, whatever it comes in: recognised, spooled, brought into the form of a
/// byte stream (Annex B), and scanned.
struct MediaIntake: ~Copyable, Sendable {
  private let limits: Limits
  private let lengthPrefix: LengthPrefixSettings
  private let spoolDirectory: SpoolDirectory
  private var phase = Phase.receiving
  private var block: Block?
  /// The first bytes, until they are enough to tell what the upload is.
  private var head: [UInt8] = []
  private(set) var format: MediaFormat?
  private var hasConfiguration = false
  /// Looks for what the others do not tell.
  private var watch: ContainerWatch?
  private var damage: ContainerDamage?
  private var damageElsewhere: ContainerDamage?
  private var watchedSamples = 0
  private var moves: [TransportReader.Move] = []
  private var shownParts: ShownParts?
  /// The upload as it came, of a container.
  private var container: Spool?
  private var lengths: LengthsToStartCodes?
  private var tables: MP4Guard
  private var meter: ContainerMeter?
  private var extraction: TrackExtraction?
  /// What it holds in memory of the container.
  private var extractionBytes = 0
  private var scan: DecodeScan
  private let isForDecoder: Bool
  private let file: StoredFile?
  private let listsSamples: Bool
  private var areSamplesUnsuited = false
  private var received = 0
  /// Packets of the container so far.
  private var packets = 0

  /// The byte stream.
  private(set) var stream: Spool
  /// The container, once it is complete.
  private(set) var upload: SpooledUpload?
  /// Where the samples of the container are, once the scan is over, if they were asked for and can
  /// stay as they are; `stream` is empty then.
  private(set) var samples: SampleList?
  /// All tracks of the container, once the scan is over.
  private(set) var tracks: [Track] = []
  /// The one of them that is H.264 and was taken.
  private(set) var videoTrack: Int?
  /// Others that have further parts of the same video.
  private(set) var videoParts: [Int] = []
  /// Of a transport stream that has its video in several PIDs, one after the other.
  var soundParts: SoundParts { SoundParts(moves, tracks) }
  /// What the scan found, once it is over.
  private(set) var index: DecodeIndex?

  private enum Phase {
    case receiving, received, checking, extracting, finished
  }

  /// - Parameters:
  ///   - limits: Bounds sizes and counts.
  ///   - spoolDirectory: Where the upload waits.
  ///   - lengthPrefix: What the client says of bare length-prefixed NAL units.
  ///   - isForDecoder: What libavcodec would decode wrongly is refused.
  ///   - file: Has all that will be pushed, so that it need not be kept.
  ///   - listsSamples: `samples` is wanted.
  init(
    limits: Limits, spoolDirectory: SpoolDirectory,
    lengthPrefix: LengthPrefixSettings = LengthPrefixSettings(), isForDecoder: Bool = true,
    file: StoredFile? = nil, listsSamples: Bool = false
  ) {
    self.isForDecoder = isForDecoder
    self.file = file
    self.listsSamples = listsSamples
    self.lengthPrefix = lengthPrefix
    self.limits = limits
    self.spoolDirectory = spoolDirectory
    stream = Spool(in: spoolDirectory)
    tables = MP4Guard(limits)
    scan = DecodeScan(limits: limits, isForDecoder: isForDecoder)
  }

  static var blockSize: Int { 256 << 10 }

  /// Bytes of memory that the lists of frames, packets and samples take.
  var heldBytes: Int {
    scan.heldBytes + (samples?.heldBytes ?? 0) + packets * MemoryLayout<StreamTimeline.Mark>.stride
      + (phase == .extracting ? tables.heldBytes + extractionBytes : 0)
      + (watch?.heldBytes ?? 0) + (shownParts?.heldBytes ?? 0)
  }

  mutating func push(_ block: Block) {
    self.block = block
    received += block.count
  }

  mutating func endOfInput() throws(Problem) {
    guard received > 0 else { throw Problem(.emptyBody, "There is nothing in the body.") }
    phase = .received
  }

  /// The container is not needed any more.
  mutating func dropUpload() {
    upload = nil
  }

  /// Does one piece of the work; when finished, `index` says what there is in `stream`.
  mutating func step() throws(Problem) -> Step {
    switch phase {
    case .receiving:
      if let block = block.take() { try take(block.span) }
      return .needsInput
    case .received:
      if let block = block.take() { try take(block.span) }
      try endUpload()
      return .again
    case .checking:
      try check()
      return .again
    case .extracting:
      try extract()
      return .again
    case .finished:
      return .finished
    }
  }

  // MARK: The upload

  private mutating func take(_ bytes: Span<UInt8>) throws(Problem) {
    if format == nil {
      guard head.isEmpty, bytes.count >= InputForm.headBytes else {
        head.append(copying: bytes)
        if head.count >= InputForm.headBytes { try decideByHead() }
        return
      }
      try decide(by: bytes)
    }
    try store(bytes)
  }

  private mutating func decideByHead() throws(Problem) {
    let bytes = head
    head = []
    try decide(by: bytes.span)
    try store(bytes.span)
  }

  private mutating func decide(by bytes: Span<UInt8>) throws(Problem) {
    let form = try InputForm(of: bytes, lengthPrefix)
    format = form.format
    if form.format != .annexB { watch = ContainerWatch(form) }
    meter = ContainerMeter(form.format, limits)
    switch form.format {
    case .avcc:
      lengths = LengthsToStartCodes(lengthSize: form.lengthSize)
      scan.noteLengths()
      hasConfiguration = form.configuration != nil
      for unit in form.configuration?.units ?? [] { try append(([0, 0, 0, 1] + unit.bytes).span) }
    case .mp4, .flv, .mpegTS, .matroska:
      if file == nil { container = Spool(in: spoolDirectory) }
    case .annexB:
      break
    }
  }

  private mutating func store(_ bytes: Span<UInt8>) throws(Problem) {
    watch?.read(bytes)
    guard watch?.largestSample ?? 0 <= limits.maxSampleBytes else {
      throw .sampleTooLarge(limits)
    }
    if lengths != nil {
      var converted: [UInt8] = []
      converted.reserveCapacity(bytes.count)
      lengths?.convert(bytes, into: &converted)
      try append(converted.span)
    } else if format?.demuxer != nil {
      try meter?.read(bytes)
      // What is in a file stays there.
      try container?.append(bytes)
    } else {
      try append(bytes)
    }
  }

  /// More of the byte stream.
  private mutating func append(_ bytes: Span<UInt8>) throws(Problem) {
    try stream.append(bytes)
    try scan.scan(bytes)
  }

  private mutating func endUpload() throws(Problem) {
    if format == nil { try decideByHead() }
    watch?.finish()
    if let watch {
      if watch.largestSample > limits.maxSampleBytes { throw .sampleTooLarge(limits) }
      damage = watch.damage
      damageElsewhere = watch.damageElsewhere
      watchedSamples = watch.sampleCount
      moves = watch.moves
      shownParts = watch.shownParts
    }
    watch = nil
    if let file, format?.demuxer != nil {
      upload = SpooledUpload(file)
    } else if let spool = container.take() {
      upload = SpooledUpload(spool)
    }
    guard let format, upload != nil else {
      do throws(Problem) {
        index = try scan.finish()
      } catch {
        throw lengths != nil && !hasConfiguration ? error.pointingToConfiguration : error
      }
      index?.damage = damage
      phase = .finished
      return
    }
    phase = format == .mp4 ? .checking : .extracting
  }

  // MARK: Out of a container

  private mutating func check() throws(Problem) {
    guard let upload, try !tables.step(upload) else { return }
    if tables.movie == .fragmented { shownParts = nil }
    self.upload = tables.repaired(upload, hiding: shownParts?.offset)
    phase = .extracting
  }

  private mutating func extract() throws(Problem) {
    if extraction == nil, let upload, let format {
      extraction = try TrackExtraction(
        upload, format, limits, shownParts, videoPIDs: moves.map(\.pid))
      extractionBytes = extraction?.heldBytes ?? 0
      if listsSamples, !areSamplesUnsuited { samples = SampleList(upload, format) }
      return
    }
    if samples != nil { return try list() }
    var bytes: [UInt8] = []
    let hasMore = try extraction?.step(into: &bytes, at: stream.count) ?? false
    packets = extraction?.timeline.marks.count ?? 0
    do throws(Problem) {
      try append(bytes.span)
      if hasMore { return }
      index = try scan.finish()
    } catch {
      let timeline = extraction?.timeline
      throw timeline?.placed(error) ?? error
    }
    try finishExtraction()
  }

  private mutating func finishExtraction() throws(Problem) {
    if let description = extraction?.description {
      index?.describe(by: description)
      // What libavformat stumbled over was behind all of the video.
      let isWhole =
        damageElsewhere != nil && watchedSamples > 0
        && description.timeline.marks.count >= watchedSamples
      index?.damage = damage ?? (isWhole ? nil : description.damage)
      index?.damageElsewhere = damageElsewhere
      tracks = description.tracks
      videoTrack = description.video
      videoParts = description.parts
    }
    guard index?.frameCount != 0 else {
      throw Problem(.undecodable, "No picture is to be shown: the edit list leaves all out.")
    }
    extraction = nil
    shownParts = nil
    phase = .finished
  }

  /// Goes through the samples where they are.
  private mutating func list() throws(Problem) {
    guard var list = samples.take() else { return }
    let hasMore: Bool?
    do throws(Problem) {
      hasMore = try extraction?.step(listing: &list, &scan) ?? nil
      packets = extraction?.timeline.marks.count ?? 0
      if hasMore == false { index = try scan.finish() }
    } catch {
      let timeline = extraction?.timeline
      throw timeline?.placed(error) ?? error
    }
    if hasMore == true {
      samples = list
    } else if hasMore == false, let index, let timeline = extraction?.timeline,
      list.suits(index, timeline)
    {
      samples = list
      try finishExtraction()
    } else {
      // Once more, through a byte stream.
      areSamplesUnsuited = true
      index = nil
      scan = DecodeScan(limits: limits, isForDecoder: isForDecoder)
      extraction = nil
      packets = 0
    }
  }
}

extension Problem {
  /// That of a stream whose sender may have parameter sets elsewhere.
  fileprivate var pointingToConfiguration: Problem {
    guard code == .noParameterSets else { return self }
    var problem = self
    problem.detail += " Length-prefixed NAL units may have them apart: give those as avcc."
    return problem
  }
}
