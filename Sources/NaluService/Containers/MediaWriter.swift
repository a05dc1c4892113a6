internal import Codec
internal import Platform

/// Access units and audio in, a file of one of the formats out.
///
/// Write samples in decoding order and take what came of them after each; after `finish`, take
/// until `take` says that all is out. What a format patches later waits in a temporary file, so
/// that nothing of it is out before that.
struct MediaWriter: ~Copyable, Sendable {
  private let format: OutputFormat
  private var builder: SampleBuilder
  private var muxer: Muxer?
  private var file: Spool?
  private let samples: SampleList?
  /// An MP4 file of such samples.
  private var plan: PlannedMovie?
  /// Stands for samples that are not read yet.
  private var blank: [UInt8] = []
  private var ready: [UInt8] = []
  private var reading: FinishedFile?
  private var planned: PlannedMovie.Reading?
  private var isFinished = false
  /// Seconds of a tick, by track.
  private let ticks: [Double]
  /// When the first sample is shown and the last one ends, in seconds.
  private var span = (start: Double.infinity, end: -Double.infinity)
  /// Bytes of memory that grow with the number of samples.
  private(set) var heldBytes = 0
  /// Bytes of the whole, known once it is complete; nil for what is not patched.
  private(set) var length: Int?

  /// - Parameters:
  ///   - format: What comes out.
  ///   - video: Its configuration is filled in here.
  ///   - parameterSets: Those of the whole stream, as far as they are known beforehand.
  ///   - repeatsParameterSets: Leave those in access units there, also where the format has another
  ///     place for them.
  ///   - audio: Further tracks, numbered from 1.
  ///   - samples: Where samples are that will be written as they are.
  ///   - spoolDirectory: Where a file waits that must be complete before it is sent.
  /// - Throws: What the format cannot hold.
  init(
    _ format: OutputFormat, video: MuxerTrack.Video, parameterSets: ParameterSetStore,
    repeatsParameterSets: Bool = false, audio: [MuxerTrack] = [], samples: SampleList? = nil,
    spoolDirectory: SpoolDirectory
  ) throws(Problem) {
    let keeps = repeatsParameterSets || parameterSets.hasChanged
    var video = video
    if format.hasConfiguration {
      guard let configuration = parameterSets.configuration else { throw .noConfiguration }
      video.configuration = configuration
      video.hasParameterSetsInBand = keeps
    }
    let tracks = [MuxerTrack.video(video)] + audio
    let isPlanned =
      samples != nil && format == .mp4 && !audio.contains(where: \.mayBeJoined)
    let muxer = try Self.open(format, tracks, keepsSamples: !isPlanned)
    var builder = SampleBuilder(
      hasStartCodes: format.hasStartCodes,
      placement: !format.hasConfiguration ? .atKeyframes : keeps ? .asTheyCome : .apart,
      parameterSets: parameterSets)
    builder.addsDelimiters = format == .mpegts
    self.format = format
    self.builder = builder
    self.muxer = muxer
    ticks = tracks.map { $0.timeBase.doubleValue }
    self.samples = samples
    file = format.isPatched && !isPlanned ? Spool(in: spoolDirectory) : nil
    plan = isPlanned ? Self.plan(samples, spoolDirectory) : nil
  }

  private static func plan(
    _ samples: SampleList?, _ spoolDirectory: SpoolDirectory
  ) -> PlannedMovie? {
    guard let samples else { return nil }
    return PlannedMovie(samples, spoolDirectory)
  }

  private static func open(
    _ format: OutputFormat, _ tracks: [MuxerTrack], keepsSamples: Bool
  ) throws(Problem) -> Muxer? {
    guard let container = format.container else {
      guard tracks.count == 1 else { throw .cannotHold(format) }
      return nil
    }
    do throws(CodecError) {
      return try Muxer(container, tracks: tracks, keepsSamples: keepsSamples)
    } catch {
      throw .cannotHold(format)
    }
  }

  /// Writes the next access unit.
  mutating func write(
    _ bytes: [UInt8], _ layout: AccessUnitLayout, _ timing: SampleTiming
  ) throws(Problem) {
    let sample = builder.build(bytes, layout, isKeyframe: timing.isKeyframe) ?? bytes
    guard muxer != nil else {
      ready += sample
      return
    }
    try write(sample.span, timing, track: 0)
  }

  /// Writes a sample of the upload as it is; false: it cannot be read.
  mutating func write(
    _ sample: SampleList.Sample, _ timing: SampleTiming
  ) throws(Problem) -> Bool {
    guard plan == nil else {
      if blank.count < sample.size { blank = [UInt8](repeating: 0, count: sample.size) }
      let blank = blank
      try mux(blank.span.extracting(0..<sample.size), timing, track: 0)
      plan?.append(sample)
      heldBytes = plan?.heldBytes ?? 0
      return true
    }
    guard let bytes = samples?.bytes(of: sample) else { return false }
    try mux(bytes.span, timing, track: 0)
    return true
  }

  /// Writes the next sample of track `track`, in the form that the format wants.
  mutating func write(
    _ sample: Span<UInt8>, _ timing: SampleTiming, track: Int
  ) throws(Problem) {
    try mux(sample, timing, track: track)
    try plan?.append(sound: sample)
  }

  private mutating func mux(
    _ sample: Span<UInt8>, _ timing: SampleTiming, track: Int
  ) throws(Problem) {
    do throws(CodecError) {
      try muxer?.write(sample, timing, track: track)
    } catch {
      throw .cannotTime(format)
    }
    span.start = min(span.start, Double(timing.presentation) * ticks[track])
    let end = timing.presentation + timing.duration
    span.end = max(span.end, Double(end) * ticks[track])
    try collect()
  }

  /// No sample follows.
  mutating func finish() throws(Problem) {
    do throws(CodecError) { try muxer?.finish() } catch { throw .muxerFailed }
    try collect()
    muxer = nil
    isFinished = true
    if let complete = plan.take() {
      let file = try complete.finished()
      length = file.length
      planned = consume file
    }
    guard var complete = file.take() else { return }
    if format == .flv { try complete.correctDuration(to: span.end - span.start) }
    let movie = format == .mp4 ? try MovieIndex(complete) : nil
    length = movie?.length ?? complete.count
    reading = FinishedFile(complete, movie)
  }

  /// Appends what can be put out now; true when nothing will follow.
  mutating func take(into bytes: inout [UInt8]) throws(Problem) -> Bool {
    if !ready.isEmpty {
      bytes += ready
      ready.removeAll(keepingCapacity: true)
    }
    guard isFinished else { return false }
    if planned != nil { return try planned?.read(into: &bytes) ?? true }
    return try reading?.read(into: &bytes) ?? true
  }

  /// Takes what the muxer put out.
  private mutating func collect() throws(Problem) {
    guard muxer != nil else { return }
    var file = file.take()
    var plan = plan.take()
    var bytes: [UInt8] = []
    try muxer?.takeOutput { (piece, offset) throws(Problem) in
      if plan != nil {
        plan?.take(piece, at: offset)
      } else if file != nil {
        try file?.write(piece, at: offset)
      } else {
        bytes.append(copying: piece)
      }
    }
    self.file = file.take()
    self.plan = plan.take()
    ready += bytes
  }
}

extension Spool {
  /// libavformat counts the time before the first picture in.
  fileprivate mutating func correctDuration(to seconds: Double) throws(Problem) {
    let head = try [UInt8](capacity: min(count, 1024)) {
      (output: inout OutputSpan<UInt8>) throws(Problem) in try read(at: 0, into: &output)
    }
    // The name of a number of onMetaData, and the mark that it is one.
    let name = Array("duration".utf8) + [0]
    let starts = 0..<max(0, head.count - name.count - 8)
    guard let start = starts.first(where: { head[$0...].starts(with: name) }) else { return }
    let bits = seconds.bitPattern
    let bytes = (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * UInt64($0))) }
    try write(bytes.span, at: start + name.count)
  }
}

/// A complete file on its way out, an MP4 with its index put in front.
private struct FinishedFile: ~Copyable, Sendable {
  private let file: Spool
  private let movie: MovieIndex?
  private var position = 0

  private static let pieceSize = 256 << 10

  private let length: Int

  init(_ file: consuming Spool, _ movie: MovieIndex?) {
    length = movie?.length ?? file.count
    self.file = file
    self.movie = movie
  }

  /// Appends the next piece; true when it was the last.
  mutating func read(into bytes: inout [UInt8]) throws(Problem) -> Bool {
    let wanted = min(FinishedFile.pieceSize, length - position)
    if let movie, position < movie.front.count {
      let end = min(movie.front.count, position + wanted)
      bytes += movie.front[position..<end]
      position = end
    } else {
      let offset = position + (movie?.shift ?? 0)
      try bytes.append(addingCapacity: wanted) {
        (output: inout OutputSpan<UInt8>) throws(Problem) in
        try file.read(at: offset, into: &output)
      }
      position += wanted
    }
    return position == length
  }
}

extension Problem {
  /// libavformat refused what the checks let pass; the log has its words.
  fileprivate static var muxerFailed: Problem { Problem(.internal, "The muxer failed.") }

  fileprivate static func cannotTime(_ format: OutputFormat) -> Problem {
    Problem(
      .unsupportedFeature, "\(format.rawValue) cannot hold times as those of the stream.",
      parameter: "format")
  }

  fileprivate static func cannotHold(_ format: OutputFormat) -> Problem {
    Problem(
      .unsupportedFeature, "The tracks cannot be put into \(format.rawValue).",
      parameter: "format")
  }

  fileprivate static var noConfiguration: Problem {
    Problem(
      .noParameterSets,
      "The stream has no sequence parameter set, or more parameter sets than a configuration record "
        + "can hold.")
  }
}
