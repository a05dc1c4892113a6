internal import Container
internal import H264
internal import Platform

/// What a report knows of the container that its stream is in.
struct ContainerProgress: Sendable {
  /// Samples that no access unit has begun in yet.
  var upcoming: [Sample] = []
  /// The sample that the last access unit began in, and whether another one had its times.
  var current: Sample?
  var isUsed = false
  var lastDTS: Int?
  var hasSamples = false
  /// Pieces for the lists of a `json` report.
  var entries = RecordList<ContainerEntry>()
  var entryCount = 0
  /// Set when the upload is over.
  var tracks: [ContainerTrack] = []

  /// PES packets without pictures do not pile up.
  static let maxUpcoming = 4096
  /// Boxes or elements that are listed.
  static let maxEntries = 10_000
}

extension StreamReport: ContainerSink {
  mutating func take(
    _ configuration: AVCConfigurationRecord, at offset: Int
  ) throws(Problem) {
    if let defect = configuration.defect {
      note(.error, .configurationDamaged, "avcC: \(defect).", UnitPlace(index: nil, offset: offset))
    }
    for unit in configuration.units {
      let place = UnitPlace(index: nil, offset: offset + unit.offset)
      guard !unit.bytes.isEmpty else {
        note(.error, .configurationDamaged, "avcC has an empty parameter set.", place)
        continue
      }
      let header = NALUnitHeader(unit.bytes.span)
      let extent = NALUnitExtent(offset: place.offset, size: unit.bytes.count, startCodeSize: 0)
      noteDefects(of: extent, header, place)
      _ = readParameterSet(header, extent, unit.bytes.span, place)
      forgetLargeBuffers()
    }
    checkProfile(of: configuration, offset)
  }

  /// The record repeats what its first sequence parameter set says.
  private mutating func checkProfile(of configuration: AVCConfigurationRecord, _ offset: Int) {
    guard let bytes = configuration.sequenceParameterSets.first?.bytes, bytes.count >= 4 else {
      return
    }
    let elements = [
      ("AVCProfileIndication", configuration.profileIndication, Int(bytes[1])),
      ("profile_compatibility", configuration.profileCompatibility, Int(bytes[2])),
      ("AVCLevelIndication", configuration.levelIndication, Int(bytes[3])),
    ]
    for (name, said, actual) in elements where said != actual {
      note(
        .warning, .configurationDiffers,
        "\(name) is \(said), but the sequence parameter set says \(actual).",
        UnitPlace(index: nil, offset: offset), element: name)
    }
  }

  mutating func take(_ sample: Sample) {
    container.hasSamples = true
    if container.upcoming.count >= ContainerProgress.maxUpcoming { container.upcoming.removeAll() }
    container.upcoming.append(sample)
    let place = UnitPlace(index: nil, offset: sample.offset)
    // In MP4 a composition offset may be negative (ISO/IEC 14496-12 §8.6.1.3).
    if let pts = sample.pts, let dts = sample.dts, pts < dts, format != .mp4 {
      note(
        .warning, .timestampOrder,
        "Sample \(sample.index) is to be shown at \(pts), before it is decoded at \(dts).", place)
    }
    guard let dts = sample.dts else { return }
    if let last = container.lastDTS, dts < last {
      note(
        .warning, .timestampOrder,
        "Sample \(sample.index) has the decoding time \(dts), after \(last).", place)
    }
    container.lastDTS = dts
  }

  mutating func amendSample(duration: Int?, isSync: Bool?) {
    if let last = container.upcoming.indices.last {
      if let duration { container.upcoming[last].duration = duration }
      if let isSync { container.upcoming[last].isSync = isSync }
      return
    }
    if let duration { container.current?.duration = duration }
    if let isSync { container.current?.isSync = isSync }
    guard accessUnit?.times != nil, let current = container.current else { return }
    accessUnit?.times?.duration = current.duration
    if accessUnit?.isSync != nil || isSync != nil, accessUnit?.isSecondField == false {
      accessUnit?.isSync = current.isSync
    }
  }

  mutating func take(_ unit: ContainedUnit, _ bytes: Span<UInt8>) throws(Problem) {
    streamBytes = unit.extent.end
    if unit.trailingZeros > 0 {
      note(
        .warning, .trailingData,
        "The length of the unit includes \(unit.trailingZeros) zero bytes behind its end.",
        UnitPlace(index: totals.units, offset: unit.offset))
    }
    try add(unit.extent, bytes, contained: unit)
  }

  mutating func note(_ finding: ContainerFinding) {
    note(
      Finding.Severity(finding.severity), Finding.Code(finding.code), finding.message,
      finding.offset.map { UnitPlace(index: nil, offset: $0) })
  }

  mutating func take(_ entry: ContainerEntry) {
    container.entryCount += 1
    guard settings.include.contains(.container) else { return }
    switch settings.format {
    case .ndjson:
      form.line(entry.kind) { $0.members(entry, inLine: true) }
    case .json:
      if isListed(entry) { container.entries.append(entry) }
    case .csv: break
    }
  }

  /// A document keeps it until its end.
  private func isListed(_ entry: ContainerEntry) -> Bool {
    if case .tag = entry { return container.entryCount <= settings.maxNALUnits }
    return container.entryCount <= ContainerProgress.maxEntries
  }

  /// Writes some more of the list of what the container is made of; true when that was all.
  mutating func writeContainer(_ tail: inout ReportTail) -> Bool {
    guard settings.format == .json, settings.include.contains(.container),
      let name = tail.source.reader?.listName
    else { return true }
    if tail.next == 0 {
      form.section("container") {
        $0.beginObject()
        $0.key(name)
      }
    }
    let entries = container.entries
    let end = min(entries.count, tail.next + 1024)
    let isCut = entries.count < container.entryCount
    form.more { writer in
      for index in tail.next..<end { tail.tree.write(entries[index], &writer) }
      guard end == entries.count else { return }
      tail.tree.finish(&writer)
      writer.member("truncated", isCut)
      writer.endObject()
    }
    tail.next = end == entries.count ? 0 : end
    return end == entries.count
  }

  /// Gives the access unit the times of the sample that it begins in.
  mutating func takeTimes(for opened: inout AccessUnitRecord) {
    guard container.hasSamples else { return }
    while let next = container.upcoming.first, next.streamOffset <= opened.streamStart {
      container.current = next
      container.isUsed = false
      container.upcoming.removeFirst()
    }
    let isFirst = !container.isUsed
    container.isUsed = true
    guard let sample = container.current, sample.isWhole || isFirst else {
      opened.times = SampleTimes()
      return
    }
    opened.times = SampleTimes(pts: sample.pts, dts: sample.dts, duration: sample.duration)
    if isFirst { opened.isSync = sample.isSync }
  }

  /// Compares what the container says of a sample with its picture.
  mutating func checkSync(of unit: AccessUnitRecord) {
    guard let isSync = unit.isSync else { return }
    let place = UnitPlace(index: unit.firstUnit, offset: unit.offset)
    switch unit.randomAccess {
    case .idr where !isSync:
      note(
        .warning, .keyframeNotSync,
        "The picture is an IDR picture, but its sample is not marked as one to begin with.", place)
    case nil where isSync:
      note(
        .warning, .syncSampleNoKeyframe,
        "The sample is marked as one to begin with, but its picture is neither an IDR picture nor a"
          + " recovery point.", place)
    default: break
    }
  }

  /// Compares the size that the container says with that of the pictures.
  mutating func checkTracks() {
    guard let track = container.tracks.first(where: \.isReported),
      let size = (totals.sps ?? totals.firstSPS)?.displaySize,
      let width = track.width, let height = track.height, width > 0, height > 0,
      (width, height) != (size.width, size.height)
    else { return }
    note(
      .warning, .trackSizeDiffers,
      "The container says \(width)×\(height), the sequence parameter set"
        + " \(size.width)×\(size.height).", nil)
  }
}

extension Finding.Severity {
  init(_ severity: ContainerFinding.Severity) {
    switch severity {
    case .error: self = .error
    case .warning: self = .warning
    case .info: self = .info
    }
  }
}

extension Finding.Code {
  init(_ code: ContainerFinding.Code) {
    switch code {
    case .damaged: self = .containerDamaged
    case .truncated: self = .containerTruncated
    case .limit: self = .containerLimit
    case .sampleOutsideFile: self = .sampleOutsideFile
    case .lengthExceedsSample: self = .nalLengthExceedsSample
    case .configurationDamaged: self = .configurationDamaged
    case .configurationChanged: self = .configurationChanged
    case .editList: self = .editListNotApplied
    case .continuity: self = .continuityError
    case .clock: self = .pcrDiscontinuity
    case .encrypted: self = .encryptedSamples
    }
  }
}
