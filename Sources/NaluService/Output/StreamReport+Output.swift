internal import Container
internal import H264

/// How far the end of a report is written.
struct ReportTail: Sendable {
  enum Part: Sendable {
    case head, container, accessUnits, groups, findings, summary, done
  }

  /// What is known of the upload as a whole.
  struct Source: Sendable {
    var size = 0
    var leadingZeroBytes = 0
    var trailingZeroBytes = 0
    /// What read it, if it is no byte stream.
    var reader: ContainerReader?
    /// What the client gave.
    var configuration: AVCConfigurationRecord?

    init(size: Int, leadingZeroBytes: Int, trailingZeroBytes: Int) {
      self.size = size
      self.leadingZeroBytes = leadingZeroBytes
      self.trailingZeroBytes = trailingZeroBytes
    }
  }

  var part = Part.head
  /// The next record of a list.
  var next = 0
  let source: Source
  var tree = TreeWriting()

  init(source: Source) {
    self.source = source
  }
}

extension StreamReport {
  /// Writes the next part of what follows the NAL units, about 64 KiB; false when that was the last.
  mutating func write(_ tail: inout ReportTail) -> Bool {
    switch tail.part {
    case .head:
      writeSource(tail.source)
      writeParameterSets()
      tail.part = .container
    case .container:
      if writeContainer(&tail) { tail.part = .accessUnits }
    case .accessUnits:
      let isDone = writeList("access_units", .accessUnits, accessUnits.count, &tail.next) {
        [accessUnits, outputIndexes] writer, index in
        let unit = accessUnits[index]
        writer.members(unit, outputIndex: Int(outputIndexes[unit.frameIndex]))
      }
      if isDone { tail.part = .groups }
    case .groups:
      let isDone = writeList("gops", .gops, groupRecords.count, &tail.next) {
        [groupRecords] writer, index in
        writer.members(groupRecords[index])
      }
      if isDone { tail.part = .findings }
    case .findings:
      let isDone = writeList("findings", .findings, findings.kept.count, &tail.next) {
        [findings] writer, index in
        writer.members(findings.kept[index])
      }
      if isDone { tail.part = .summary }
    case .summary:
      if settings.include.contains(.summary) {
        let source = tail.source
        let write = { [self] (writer: inout JSONWriter) in writeSummary(source, &writer) }
        form.line("summary", write)
        form.section("summary") {
          $0.beginObject()
          write(&$0)
          $0.endObject()
        }
      }
      form.end()
      tail.part = .done
    case .done:
      return false
    }
    return tail.part != .done
  }

  private static let recordsPerStep = 256

  /// Writes some more objects of a list; true when it is complete.
  private mutating func writeList(
    _ name: String, _ section: InspectSettings.Section, _ count: Int, _ next: inout Int,
    _ write: (inout JSONWriter, Int) -> Void
  ) -> Bool {
    guard settings.format == .json, settings.include.contains(section) else { return true }
    if next == 0 { form.section(name) { $0.beginArray() } }
    let end = min(count, next + Self.recordsPerStep)
    form.more { writer in
      for index in next..<end {
        writer.beginObject()
        write(&writer, index)
        writer.endObject()
      }
      if end == count { writer.endArray() }
    }
    next = end == count ? 0 : end
    return end == count
  }

  private mutating func writeSource(_ source: ReportTail.Source) {
    let format = format
    let frames = totals.frames
    let write = { (writer: inout JSONWriter) in
      writer.member("format", format.rawValue)
      writer.member("size", source.size)
      if let reader = source.reader {
        writer.members(reader, source.configuration, frames: frames)
      } else {
        writer.member("leading_zero_bytes", source.leadingZeroBytes)
        writer.member("trailing_zero_bytes", source.trailingZeroBytes)
      }
    }
    form.line("source", write)
    form.section("source") {
      $0.beginObject()
      write(&$0)
      $0.endObject()
    }
  }

  private mutating func writeParameterSets() {
    guard settings.format == .json, settings.include.contains(.parameterSets) else { return }
    for kind in ParameterSetCatalog.Kind.allCases {
      let entries = catalog.entries.filter { $0.kind == kind }
      form.section(kind.listName) { writer in
        writer.beginArray()
        for entry in entries {
          writer.beginObject()
          writer.members(entry, counted: true)
          writer.endObject()
        }
        writer.endArray()
      }
    }
  }
}

// MARK: Summary

extension StreamReport {
  private func writeSummary(_ source: ReportTail.Source, _ writer: inout JSONWriter) {
    writer.member("nal_unit_count", totals.units)
    writer.member("access_unit_count", totals.accessUnits)
    writer.member("frame_count", totals.frames)
    let set = totals.sps ?? totals.firstSPS
    writer.member("codec", set?.codecString)
    writer.member("profile", set?.profileName)
    writer.member("level", set?.levelName)
    writer.member("lowest_level", lowestLevel?.name)
    writer.member("width", set?.displaySize?.width)
    writer.member("height", set?.displaySize?.height)
    writer.member("coded_width", set?.codedSize.width)
    writer.member("coded_height", set?.codedSize.height)
    writer.member("frame_rate", set?.frameRate.map { "\($0.numerator)/\($0.denominator)" })
    let bytes = format == .annexB ? source.size : streamBytes
    if meter.duration == nil, let seconds = containerDuration {
      writer.member("duration_seconds", seconds)
      writer.member("bit_rate", BitRateMeter.mean(ofBytes: bytes, seconds: seconds))
    } else {
      writer.member("duration_seconds", meter.duration)
      writer.member("bit_rate", meter.mean(ofBytes: bytes))
    }
    writer.member("peak_bit_rate", meter.peak)
    writer.member("keyframe_count", totals.keyframes)
    writer.member("idr_count", totals.idrFrames)
    writer.member("keyframe_rule", settings.keyframeRule.rawValue)
    writer.member("entropy_coding", totals.isCABAC.map { $0 ? "cabac" : "cavlc" })
    writer.member("scan", set.map(scan))
    writer.member("chroma_format", set?.chromaFormatName)
    writer.member("bit_depth", set?.bitDepthLuma)
    writer.key("picture_types")
    writer.beginObject()
    for type in [SliceType.i, .p, .b, .sp, .si] {
      let count = totals.framesByType[type.rawValue]
      if count > 0 || type.rawValue < 3 { writer.member(type.name, count) }
    }
    writer.endObject()
    writer.key("nal_unit_types")
    writer.beginObject()
    for (type, count) in totals.unitsByType.enumerated() where count > 0 {
      writer.member("\(type)", count)
    }
    writer.endObject()
    writer.member("max_b_run", groups.longestBRun)
    writer.key("finding_count")
    writer.beginObject()
    for severity in Finding.Severity.allCases {
      writer.member(severity.rawValue, findings.countBySeverity[severity] ?? 0)
    }
    writer.endObject()
    writeOutOfBand(set, &writer)
  }

  /// What the container says of its reported track, in seconds.
  private var containerDuration: Double? {
    container.tracks.first(where: \.isReported)?.durationSeconds
  }

  private func scan(_ set: SequenceParameterSet) -> String {
    set.frameMbsOnly ? "progressive" : set.mbAdaptiveFrameField ? "mbaff" : "paff"
  }

  /// What containers and session descriptions say of the stream outside of it.
  private func writeOutOfBand(_ set: SequenceParameterSet?, _ writer: inout JSONWriter) {
    let sps = catalog.firstOfEachID(.sps).map(\.content)
    let pps = catalog.firstOfEachID(.pps).map(\.content)
    let extensions = catalog.firstOfEachID(.spsExtension).map(\.content)
    let configuration = set.flatMap {
      AVCDecoderConfiguration($0, sps: sps, pps: pps, spsExtensions: extensions)
    }
    writer.member("avcc", configuration.map { base64($0.bytes) })
    let sprop = (sps + pps).map(base64).joined(separator: ",")
    writer.member("sprop_parameter_sets", configuration == nil ? nil : sprop)
  }
}

extension JSONWriter {
  /// The members of a group of pictures' object.
  mutating func members(_ group: GroupRecord) {
    member("access_unit", group.accessUnit)
    member("length", group.length)
    member("closed", group.isClosed)
    member("pattern", group.pattern)
    member("size", group.size)
  }
}
