internal import Codec
internal import Container
internal import H264
internal import Platform

/// Reads the video of an MP4 file as its edit list shows it, where that is of several parts: what
/// libavformat makes of them loses pictures, or shows them at another time.
struct EditedVideo: Sendable {
  private let upload: SpooledUpload
  /// Its index in the container.
  let track: Int
  private let maxSampleBytes: Int
  private var samples: EditedSamples
  /// When the first part is shown, in ticks of the track.
  let start: Int
  let isInOnePass: Bool
  /// The last packet follows one that it does not follow in the media.
  private(set) var beginsPass = false

  /// Bytes that a list may show, for each byte of the upload, and at least.
  private static let mostShown = 8
  private static let leastBound = 64 << 20
  /// Samples that are looked at in all passes together, for each that may be shown.
  private static let mostLookedAt = 32
  /// NAL units of a sample among which its first slice is looked for, and of all samples together.
  private static let searchedUnits = 64
  private static let mostSearchedUnits = 1 << 20

  /// - Parameters:
  ///   - shown: What the list says.
  ///   - upload: The file.
  ///   - track: Index of the track in the container.
  ///   - lengthSize: Of the NAL units.
  ///   - limits: Bounds what is shown.
  /// - Throws: When that is too much.
  init(
    _ shown: ShownParts, _ upload: SpooledUpload, track: Int, lengthSize: Int, _ limits: Limits
  ) throws(Problem) {
    let mostLookedAt = limits.maxNALUnits.multipliedClamped(by: Self.mostLookedAt)
    guard shown.passesTimesSamples <= mostLookedAt else {
      throw Self.shownTooOften("samples are looked at", mostLookedAt, "times")
    }
    var unitsLeft = Self.mostSearchedUnits
    let samples = EditedSamples(shown) { offset, size in
      Self.isIndependent(upload, offset, size, lengthSize, &unitsLeft)
    }
    guard samples.count <= limits.maxNALUnits else { throw .tooManyPackets(limits.maxNALUnits) }
    let most = max(Self.leastBound, upload.count.multipliedClamped(by: Self.mostShown))
    guard samples.isInOnePass || samples.bytes <= most else {
      throw Self.shownTooOften("they have", most, "bytes")
    }
    self.samples = samples
    self.upload = upload
    self.track = track
    maxSampleBytes = limits.maxSampleBytes
    start = shown.start
    isInOnePass = samples.isInOnePass
  }

  private static func shownTooOften(_ what: String, _ most: Int, _ unit: String) -> Problem {
    Problem(
      .unsupportedFeature,
      "The edit list shows parts of the media so often that \(what) more than \(most) \(unit).",
      members: [.init("feature", "edit list"), .init("limit", most)])
  }

  /// The next sample; nil when there is no more.
  ///
  /// - Throws: When it is not there.
  mutating func next() throws(CodecError) -> Packet? {
    while let item = samples.next() {
      beginsPass = beginsPass && item.size == 0 || item.beginsPass
      guard item.size > 0 else { continue }
      guard item.size <= maxSampleBytes, item.offset <= upload.count - item.size else {
        throw .sampleMissing
      }
      var description = Packet.Description(track: track)
      description.presentation = item.start
      description.decoding = item.decoding
      description.duration = min(item.duration, item.longest)
      description.isKeyframe = item.isSync
      description.isHidden = item.start == nil
      description.offset = item.offset
      return try Packet.make(description, size: item.size) { output in
        _ = upload.read(at: item.offset, into: &output)
      }
    }
    return nil
  }

  /// The first slice of the sample is of an IDR picture.
  private static func isIndependent(
    _ upload: SpooledUpload, _ offset: Int, _ size: Int, _ lengthSize: Int,
    _ unitsLeft: inout Int
  ) -> Bool {
    guard offset <= upload.count - min(size, upload.count) else { return false }
    var position = offset
    let end = offset + min(size, upload.count)
    for _ in 0..<searchedUnits where position + lengthSize < end && unitsLeft > 0 {
      unitsLeft -= 1
      let head = upload.bytes(at: position, count: lengthSize + 1)
      guard head.count == lengthSize + 1 else { return false }
      let type = NALUnitType(header: head[lengthSize])
      if type == .idrSlice { return true }
      if type == .nonIDRSlice || type == .partitionA { return false }
      position += lengthSize + head.dropLast().reduce(0) { $0 << 8 | Int($1) }
    }
    return false
  }
}

extension CodecError {
  fileprivate static let sampleMissing = CodecError(function: "read", code: -1)
}

extension Int {
  /// The product, or the largest number when it does not fit; both must not be negative.
  fileprivate func multipliedClamped(by factor: Int) -> Int {
    let (product, overflows) = multipliedReportingOverflow(by: factor)
    return overflows ? .max : product
  }
}
