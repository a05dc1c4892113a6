/// Something that is wrong with a stream, or noteworthy.
struct Finding: Equatable, Sendable {
  enum Severity: String, CaseIterable, Sendable {
    case error, warning, info
  }

  /// A stable name that programs compare.
  enum Code: String, CaseIterable, Sendable {
    case forbiddenZeroBit = "forbidden-zero-bit"
    case spsTruncated = "sps-truncated"
    case ppsTruncated = "pps-truncated"
    case sliceHeaderTruncated = "slice-header-truncated"
    case seiTruncated = "sei-truncated"
    case nalUnitTruncated = "nal-unit-truncated"
    case missingSPS = "missing-sps"
    case missingPPS = "missing-pps"
    case noKeyframeAtStart = "no-keyframe-at-start"
    case frameNumGap = "frame-num-gap"
    case parameterSetChanged = "parameter-set-changed"
    case tooManyParameterSets = "too-many-parameter-sets"
    case trailingData = "trailing-data"
    case dataOutsideNALUnits = "data-outside-nal-units"
    case emptyNALUnit = "empty-nal-unit"
    case emulationPreventionViolation = "emulation-prevention-violation"
    case reservedNALUnitType = "reserved-nal-unit-type"
    case valueOutOfRange = "value-out-of-range"
    case levelExceeded = "level-exceeded"
    case cropExceedsPicture = "crop-exceeds-picture"
    case accessUnitBoundary = "access-unit-boundary"
    case outputOrder = "output-order"
    /// Not of the stream but of the list, which it ends.
    case findingsOmitted = "findings-omitted"
    // Containers.
    case containerDamaged = "container-damaged"
    case containerTruncated = "container-truncated"
    case containerLimit = "container-limit"
    case sampleOutsideFile = "sample-outside-file"
    case nalLengthExceedsSample = "nal-length-exceeds-sample"
    case configurationDamaged = "configuration-damaged"
    case configurationChanged = "configuration-changed"
    case configurationDiffers = "configuration-differs"
    case editListNotApplied = "edit-list-not-applied"
    case continuityError = "continuity-error"
    case pcrDiscontinuity = "pcr-discontinuity"
    case encryptedSamples = "encrypted-samples"
    case parameterSetDiffers = "parameter-set-differs"
    case trackSizeDiffers = "track-size-differs"
    case syncSampleNoKeyframe = "sync-sample-no-keyframe"
    case keyframeNotSync = "keyframe-not-sync"
    case timestampOrder = "timestamp-order"
  }

  var severity: Severity
  var code: Code
  /// Index of the NAL unit concerned.
  var nalUnit: Int?
  /// Byte in the stream.
  var offset: Int?
  /// From the first bit of the NAL unit's header byte, emulation prevention bytes counted.
  var bit: Int?
  /// The syntax element concerned.
  var element: String?
  var message: String

  init(_ severity: Severity, _ code: Code, _ message: String) {
    self.severity = severity
    self.code = code
    self.message = message
  }
}

extension JSONWriter {
  /// The members of the finding's object.
  mutating func members(_ finding: Finding) {
    member("severity", finding.severity.rawValue)
    member("code", finding.code.rawValue)
    member("nal_unit", finding.nalUnit)
    member("offset", finding.offset)
    member("bit", finding.bit)
    member("element", finding.element)
    member("message", finding.message)
  }
}
