package import H264

/// Takes what a reader finds in a container.
package protocol ContainerSink {
  associatedtype Failure: Error

  /// The reported track has this configuration from here on; `offset` is the record's first byte.
  mutating func take(_ configuration: AVCConfigurationRecord, at offset: Int) throws(Failure)

  /// The next sample of the reported track, before its NAL units.
  mutating func take(_ sample: Sample)

  /// What was not known of the last sample when it began.
  mutating func amendSample(duration: Int?, isSync: Bool?)

  /// The next NAL unit of the reported track; `bytes` are those worth keeping of it.
  mutating func take(_ unit: ContainedUnit, _ bytes: Span<UInt8>) throws(Failure)

  /// A piece of the container, for the lists.
  mutating func take(_ entry: ContainerEntry)

  mutating func note(_ finding: ContainerFinding)

  /// The next bytes of the last sample, in a format that has samples in pieces (MPEG-TS).
  mutating func take(payload: Span<UInt8>)
}

extension ContainerSink {
  package mutating func take(payload: Span<UInt8>) {}
}

/// A sample (in MPEG-TS: a PES packet) of the reported track.
package struct Sample: Equatable, Sendable {
  /// Position in the track.
  package var index: Int
  /// Its first byte in the upload.
  package var offset: Int
  /// Its first byte, counted over the samples of the track laid end to end.
  package var streamOffset: Int
  /// Ticks of the track's time base; nil where the container does not say.
  package var pts: Int?
  package var dts: Int?
  package var duration: Int?
  /// The container calls it a sync sample or keyframe, or says that it is none.
  package var isSync: Bool?
  /// Every access unit that begins in the sample has its times; otherwise the first.
  package var isWhole = true

  package init(index: Int, offset: Int, streamOffset: Int) {
    self.index = index
    self.offset = offset
    self.streamOffset = streamOffset
  }
}

/// A NAL unit in a container.
package struct ContainedUnit: Equatable, Sendable {
  /// Where it is in the track's samples laid end to end, with their start codes or length fields.
  package var extent: NALUnitExtent
  /// Its header byte in the upload.
  package var offset: Int
  /// The first byte of its start code or length field in the upload.
  package var start: Int
  /// Bytes of its length field; 0 when it has a start code.
  package var lengthSize: Int
  /// It is cut off: its length goes past its sample.
  package var isCut = false
  /// Zero bytes at its end, which belong to no NAL unit but lie within its length.
  package var trailingZeros = 0

  package init(_ extent: NALUnitExtent, offset: Int, start: Int, lengthSize: Int) {
    self.extent = extent
    self.offset = offset
    self.start = start
    self.lengthSize = lengthSize
  }
}

/// Something wrong with a container.
package struct ContainerFinding: Equatable, Sendable {
  package enum Code: String, CaseIterable, Sendable {
    case damaged = "container-damaged"
    case truncated = "container-truncated"
    case limit = "container-limit"
    case sampleOutsideFile = "sample-outside-file"
    case lengthExceedsSample = "nal-length-exceeds-sample"
    case configurationDamaged = "configuration-damaged"
    case configurationChanged = "configuration-changed"
    case editList = "edit-list-not-applied"
    case continuity = "continuity-error"
    case clock = "pcr-discontinuity"
    case encrypted = "encrypted-samples"
  }

  package enum Severity: Sendable {
    case error, warning, info
  }

  package var severity: Severity
  package var code: Code
  /// Byte in the upload.
  package var offset: Int?
  package var message: String
  /// It is about another track than the reported one.
  package var isElsewhere = false

  package init(_ severity: Severity, _ code: Code, _ message: String, at offset: Int?) {
    self.severity = severity
    self.code = code
    self.message = message
    self.offset = offset
  }
}

/// How much of a container is kept in memory.
package struct ContainerLimits: Equatable, Sendable {
  /// Bytes of sample tables and of fragment runs whose samples have not come.
  package var maxTableBytes = 64 << 20
  /// Tracks, programs or streams that are listed.
  package var maxTracks = 256
  /// Bytes of any other structure that is read whole.
  package var maxStructureBytes = 1 << 20

  package init() {}
}

/// One piece of a container, for the lists.
package enum ContainerEntry: Equatable, Sendable {
  case box(BoxEntry)
  case tag(TagEntry)
  case element(ElementEntry)
}
