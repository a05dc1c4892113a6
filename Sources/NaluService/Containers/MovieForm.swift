/// What the `moov` box of an MP4 file says of how the file is read.
enum MovieForm: Equatable, Sendable {
  /// There is none: nothing says what the samples are.
  case missing
  case whole
  /// Samples are described in fragments too.
  case fragmented
}
