package import Container

/// What a report is to contain, and how.
package struct InspectSettings: Equatable, Sendable {
  package enum Section: String, CaseIterable, Sendable {
    case summary
    case parameterSets = "parameter_sets"
    case nalUnits = "nal_units"
    case sliceHeaders = "slice_headers"
    case sei
    case accessUnits = "access_units"
    case gops
    /// The lists of what the container is made of.
    case container
    case findings
  }

  package enum KeyframeRule: String, CaseIterable, Sendable {
    /// IDR, or a picture whose recovery point SEI message has recovery_frame_cnt 0.
    case recoveryPoint = "recovery_point"
    case idr
    /// All slices are I or SI slices.
    case intra
  }

  package enum Format: String, CaseIterable, Sendable {
    case json
    /// One object a line.
    case ndjson
    /// One row for each NAL unit.
    case csv
  }

  /// All but slice headers.
  package var include = Set(Section.allCases).subtracting([.sliceHeaders])
  /// nal_unit_type of the units to list; nil for all.
  package var nalUnitTypes: Set<UInt8>?
  /// The first NAL unit to list, counting those of the wanted types.
  package var first = 0
  /// How many NAL units to list; nil for all.
  package var limit: Int?
  package var keyframeRule = KeyframeRule.recoveryPoint
  package var format = Format.json
  /// NAL units, or access units, that a `json` report lists at most.
  package var maxNALUnits = 5_000_000
  package var lengthPrefix = LengthPrefixSettings()
  package var containerLimits = ContainerLimits()

  package init() {}

  /// NAL units are listed, for their own sake or for what is listed within them.
  package var listsUnits: Bool {
    format == .csv || !include.isDisjoint(with: [.nalUnits, .sliceHeaders, .sei])
  }

  /// Every `code` that a finding can have.
  package static var findingCodes: [String] { Finding.Code.allCases.map(\.rawValue) }
}
