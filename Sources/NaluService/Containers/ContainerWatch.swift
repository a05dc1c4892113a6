internal import Container
internal import H264

/// What a container lacks.
struct ContainerDamage: Equatable, Sendable {
  /// A sentence.
  var message: String
  /// Byte in the upload.
  var offset: Int?
}

/// Reads an upload that is taken apart by others, who hide most of what is broken: finds the first
/// error that a report on it would have.
struct ContainerWatch: Sendable {
  private var reader: ContainerReader
  private var sink = Sink()

  init(_ form: InputForm) {
    var limits = ContainerLimits()
    limits.maxTableBytes = Limits.sampleTables
    reader = ContainerReader(form.format, lengthSize: form.lengthSize, limits, search: nil)
  }

  var damage: ContainerDamage? { sink.damage }

  /// Bytes of memory that sample tables take.
  var heldBytes: Int { reader.heldBytes }

  /// Goes on with the next bytes of the upload.
  mutating func read(_ bytes: Span<UInt8>) {
    if damage == nil { reader.read(bytes, into: &sink) }
  }

  /// The upload is over.
  mutating func finish() {
    if damage == nil { reader.finish(into: &sink) }
  }

  private struct Sink: ContainerSink {
    private(set) var damage: ContainerDamage?

    private mutating func add(_ message: String, at offset: Int?) {
      if damage == nil { damage = ContainerDamage(message: message, offset: offset) }
    }

    mutating func note(_ finding: ContainerFinding) {
      guard case .error = finding.severity, !finding.isElsewhere else { return }
      add(finding.message, at: finding.offset)
    }

    mutating func take(_ unit: ContainedUnit, _ bytes: Span<UInt8>) {
      if unit.extent.size == 0 { add("A NAL unit has a length of 0.", at: unit.start) }
    }

    mutating func take(_ configuration: AVCConfigurationRecord, at offset: Int) {}
    mutating func take(_ sample: Sample) {}
    mutating func amendSample(duration: Int?, isSync: Bool?) {}
    mutating func take(_ entry: ContainerEntry) {}
  }
}
