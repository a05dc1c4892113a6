internal import Container

extension MediaEndpoint {
  /// `POST /inspect`: H.264 in, everything its headers say out.
  package static let inspect = MediaEndpoint(
    name: "inspect",
    summary: "Lists every NAL unit of an H.264 stream, with what the headers say.",
    input:
      "H.264 of any length, recognised by its content: a byte stream (Annex B), length-prefixed NAL units, MP4 or QuickTime, FLV, MPEG-TS or Matroska.",
    outputTypes: ["application/json", "application/x-ndjson", "text/csv"],
    parameters: InspectParameters.all,
    usesCodec: false,
    problems: [.unrecognisedInput, .tooManyNALUnits],
    makeOperation: { (values, context) throws(Problem) in
      var settings = InspectSettings(values)
      settings.lengthPrefix = try LengthPrefixSettings(values)
      settings.maxNALUnits = context.limits.maxNALUnits
      settings.containerLimits.maxTableBytes = Limits.sampleTables
      return InspectOperation(settings, spoolDirectory: context.spoolDirectory)
    })
}

/// The parameters of `/inspect`.
enum InspectParameters {
  static let include = Parameter<Set<InspectSettings.Section>>(
    "include", .sections, default: "all but slice_headers",
    help:
      "Parts of the report, with commas between them, or all; slice_headers and sei imply nal_units. container has the boxes, tags or elements. Access units of containers have pts, dts and duration in ticks of time_base of the reported track."
  )
  static let nalUnitTypes = Parameter<[Int]>(
    "nal_unit_types", .integers(0...31, limit: 32),
    help: "List only NAL units of these types; indexes keep their values.")
  static let first = Parameter<Int>(
    "first", .integer(0...Int(Int32.max)), default: "0",
    help: "The first NAL unit to list, counting those of the wanted types.")
  static let limit = Parameter<Int>(
    "limit", .integer(0...Int(Int32.max)), default: "all", help: "How many NAL units to list.")
  static let keyframeRule = Parameter<InspectSettings.KeyframeRule>(
    "keyframe_rule", .choice, default: "recovery_point",
    help:
      "What a keyframe is: an IDR picture or one whose recovery point SEI message has recovery_frame_cnt 0; IDR only; or any picture of I and SI slices."
  )
  static let format = Parameter<InspectSettings.Format>(
    "format", .choice, default: "json",
    help: "One JSON document, one JSON object a line, or a CSV row for each NAL unit.")

  static let all: [any AnyParameter] =
    [include, nalUnitTypes, first, limit, keyframeRule, format] + LengthPrefixParameters.all
}

extension InspectSettings {
  init(_ values: ParameterValues) {
    self.init()
    include = values[InspectParameters.include] ?? include
    nalUnitTypes = values[InspectParameters.nalUnitTypes].map { Set($0.map { UInt8($0) }) }
    first = values[InspectParameters.first] ?? first
    limit = values[InspectParameters.limit]
    keyframeRule = values[InspectParameters.keyframeRule] ?? keyframeRule
    format = values[InspectParameters.format] ?? format
  }
}

extension ParameterKind<Set<InspectSettings.Section>> {
  /// Names of sections with commas between them, or `all`.
  fileprivate static var sections: ParameterKind {
    let names = InspectSettings.Section.allCases.map(\.rawValue)
    let alternatives = names.joined(separator: "|")
    return ParameterKind(
      "all, or a list out of \(names.joined(separator: ","))",
      schema: .pattern(
        "^(all|(\(alternatives))(,(\(alternatives)))*)$", example: "summary,nal_units")
    ) { text in
      if text == "all" { return Set(InspectSettings.Section.allCases) }
      let parts = text.split(separator: ",", omittingEmptySubsequences: false)
      let sections = parts.compactMap { InspectSettings.Section(rawValue: String($0)) }
      return sections.count == parts.count ? Set(sections) : nil
    }
  }
}
