internal import Container
internal import H264

/// What a container lacks.
struct ContainerDamage: Equatable, Sendable {
  /// A sentence.
  var message: String
  /// Byte in the upload.
  var offset: Int?

  /// What is said of damage that is not to the video.
  static let elsewhereNote = "the input is damaged or ends before its time, but its video is whole"
}

/// Reads an upload that is taken apart by others, who hide most of what is broken: finds the first
/// error that a report on it would have, and what they cannot deal with.
struct ContainerWatch: Sendable {
  private var reader: ContainerReader
  private var sink = Sink()

  init(_ form: InputForm) {
    var limits = ContainerLimits()
    limits.maxTableBytes = Limits.sampleTables
    reader = ContainerReader(form.format, lengthSize: form.lengthSize, limits, search: nil)
  }

  /// To the video, or to the container as a whole.
  var damage: ContainerDamage? { sink.damage }

  var damageElsewhere: ContainerDamage? { sink.elsewhere }

  /// Samples of the video so far, where they come behind what describes them.
  var sampleCount: Int { sink.samples }

  /// The most bytes of one sample so far.
  var largestSample: Int { reader.largestSample }

  /// What the edit list of the video shows, where it is of several parts.
  var shownParts: ShownParts? { reader.mp4?.shownParts }

  /// PIDs of the video and of the sound beside it, where they change.
  var moves: [TransportReader.Move] { reader.transport?.moves ?? [] }

  /// Bytes of memory that sample tables take.
  var heldBytes: Int { reader.heldBytes }

  /// Goes on with the next bytes of the upload.
  mutating func read(_ bytes: Span<UInt8>) {
    reader.read(bytes, into: &sink)
  }

  /// The upload is over.
  mutating func finish() {
    reader.finish(into: &sink)
  }

  private struct Sink: ContainerSink {
    private(set) var damage: ContainerDamage?
    private(set) var elsewhere: ContainerDamage?
    private(set) var samples = 0

    private mutating func add(_ message: String, at offset: Int?) {
      if damage == nil { damage = ContainerDamage(message: message, offset: offset) }
    }

    mutating func note(_ finding: ContainerFinding) {
      guard case .error = finding.severity else { return }
      if finding.isElsewhere {
        elsewhere =
          elsewhere ?? ContainerDamage(message: finding.message, offset: finding.offset)
      } else {
        add(finding.message, at: finding.offset)
      }
    }

    mutating func take(_ unit: ContainedUnit, _ bytes: Span<UInt8>) {
      if unit.extent.size == 0 { add("A NAL unit has a length of 0.", at: unit.start) }
    }

    mutating func take(_ configuration: AVCConfigurationRecord, at offset: Int) {}
    mutating func take(_ sample: Sample) { samples += 1 }
    mutating func amendSample(duration: Int?, isSync: Bool?) {}
    mutating func take(_ entry: ContainerEntry) {}
  }
}
