internal import H264

/// What a report counts.
struct ReportTotals: Sendable {
  var units = 0
  var listedUnits = 0
  var unitsByType = [Int](repeating: 0, count: 32)
  var accessUnits = 0
  /// Frames that have begun.
  var frames = 0
  var framesOut = 0
  /// By the raw value of `SliceType`.
  var framesByType = [Int](repeating: 0, count: 5)
  var keyframes = 0
  var idrFrames = 0
  /// The first that was read.
  var firstSPS: SequenceParameterSet?
  /// Of the first picture.
  var sps: SequenceParameterSet?
  var isCABAC: Bool?
}
