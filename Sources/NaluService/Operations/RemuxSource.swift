internal import Codec
internal import H264

/// The frames of a scanned stream one after the other, each with its times.
struct RemuxSource: Sendable {
  struct Frame {
    /// Annex B.
    var bytes: [UInt8]
    var timing: SampleTiming
  }

  private let units: DecodeAccessUnits
  private let timeline: SampleTimeline
  private let samples: SampleList?
  private var position = 0
  let video: MuxerTrack.Video
  let parameterSets: ParameterSetStore
  /// When the presentation begins, in seconds of the container's clock.
  let origin: Double
  /// What is not as one might expect.
  private(set) var notes: [String] = []

  /// - Parameters:
  ///   - found: What the scan found in `stream`.
  ///   - stream: Annex B.
  ///   - samples: Where the frames are, if they are not in `stream`.
  ///   - settings: What was asked for.
  /// - Throws: What contradicts the settings.
  init(
    _ found: DecodeIndex, _ stream: borrowing Spool, _ samples: SampleList?,
    _ settings: RemuxSettings
  ) throws(Problem) {
    let index = found.withoutUnneeded()
    guard !index.entries.isEmpty, let sequence = index.sequence else {
      throw Problem(.undecodable, "The stream has no pictures.")
    }
    if settings.frameRate != nil, index.timing != nil {
      throw .conflict("fps", "The container says when frames are shown; leave fps out.")
    }
    let timeline =
      if let timing = index.timing, timing.isPlausible {
        SampleTimeline(index, timing, hasEdits: settings.format == .mp4)
      } else {
        SampleTimeline(index, frameRate: settings.frameRate)
      }
    var store = ParameterSetStore()
    let units = DecodeAccessUnits(index: index)
    if let samples {
      for set in samples.parameterSets { store.add(set, keepsFirst: true) }
    } else {
      for set in index.parameterSets { store.add(try units.read(set, stream), keepsFirst: true) }
    }
    var video = MuxerTrack.Video(sequence, timeBase: timeline.timeBase)
    video.frameRate = timeline.frameRate
    video.displayMatrix = index.displayMatrix
    if let ratio = index.sampleAspectRatio { video.sampleAspectRatio = ratio }
    self.video = video
    self.units = units
    self.timeline = timeline
    self.samples = samples?.keeping(index, of: found)
    parameterSets = store
    origin = index.timeline.map { Double($0.origin) * $0.timeBase.doubleValue } ?? 0
    notes += Self.notes(index, timeline, settings)
  }

  private static func notes(
    _ index: DecodeIndex, _ timeline: SampleTimeline, _ settings: RemuxSettings
  ) -> [String] {
    var notes: [String] = []
    if timeline.source == .assumed, settings.format.container != nil {
      notes.append("the stream does not say its frame rate; 25 was assumed")
    }
    if index.picturesWithoutParameterSets > 0 {
      notes.append(
        "\(index.picturesWithoutParameterSets) pictures before the first parameter sets were left out"
      )
    }
    if index.damage != nil { notes.append("the input is damaged or ends before its time") }
    if let note = index.elsewhereNote { notes.append(note) }
    let isMP4 = settings.format == .mp4 || settings.format == .fmp4
    if !isMP4, index.displayMatrix != nil {
      notes.append("\(settings.format.rawValue) has no room for the rotation of the input")
    }
    if let note = hiddenNote(index, timeline, settings.format) { notes.append(note) }
    return notes
  }

  /// What is said of frames that the input hides.
  private static func hiddenNote(
    _ index: DecodeIndex, _ timeline: SampleTimeline, _ format: OutputFormat
  ) -> String? {
    guard timeline.edits.isEmpty else { return nil }
    let count = index.entries.count { entry in
      // What comes before the first fragment's first picture is not shown.
      entry.flags.contains(.hidden) && (format != .fmp4 || entry.order >= index.firstShown)
    }
    guard count > 0 else { return nil }
    return "\(count) frames are shown that the edit list of the input leaves out: others refer to "
      + "them, and \(format.rawValue) cannot hide them"
  }

  /// What an MP4 file is to show, if that is not all from some time on.
  var edits: MovieEdits? {
    guard !timeline.edits.isEmpty else { return nil }
    return MovieEdits(
      entries: timeline.edits, timeBase: timeline.timeBase,
      mediaStart: timeline.timing(of: 0, isKeyframe: false).decoding)
  }

  var frameCount: Int { units.index.entries.count }

  /// When the next frame is decoded, in seconds; nil after the last.
  var nextTime: Double? {
    guard position < frameCount else { return nil }
    return Double(timeline.timing(of: position, isKeyframe: false).decoding)
      * timeline.timeBase.doubleValue
  }

  mutating func next(_ stream: borrowing Spool) throws(Problem) -> Frame? {
    guard position < frameCount else { return nil }
    defer { position += 1 }
    return Frame(
      bytes: try units.readWhole(position, stream),
      timing: timeline.timing(of: position, isKeyframe: units.index.isKeyframe(position)))
  }

  /// The next frame where the upload has it; nil after the last, or when frames are in the stream.
  mutating func nextSample() throws(Problem) -> (SampleList.Sample, SampleTiming)? {
    guard let samples, position < frameCount else { return nil }
    defer { position += 1 }
    let sample = samples.samples[position]
    try units.check(sample.size, at: samples.pieces(of: sample).first?.offset ?? 0)
    return (sample, timeline.timing(of: position, isKeyframe: units.index.isKeyframe(position)))
  }
}
