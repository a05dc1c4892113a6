/// A frame whose turn of output has come.
package struct OutputFrame: Equatable, Sendable {
  package var tag: FrameTag
  /// A frame with a higher picture order count went before.
  package var isLate = false
}

/// Puts frames into output order.
package enum OutputOrder: Sendable {
  /// By PicOrderCnt( ) between IDR pictures and resets, however long that takes.
  case wholePeriods(PeriodSorter)
  /// By the bumping process (H.264 §C.4.5.3), as a decoder does.
  case bumping(DecodedPictureBuffer)

  /// Takes the next frame in decoding order and appends those whose turn has come to `output`.
  package mutating func add(
    _ frame: CodedFrame, _ format: DecodedPictureBuffer.Format, to output: inout [OutputFrame]
  ) {
    // The payload must be unique while it changes.
    switch self {
    case .wholePeriods(var sorter):
      self = .wholePeriods(PeriodSorter())
      sorter.add(frame, to: &output)
      self = .wholePeriods(sorter)
    case .bumping(var buffer):
      self = .wholePeriods(PeriodSorter())
      buffer.add(frame, format, to: &output)
      self = .bumping(buffer)
    }
  }

  /// Appends what is left.
  package mutating func finish(to output: inout [OutputFrame]) {
    switch self {
    case .wholePeriods(var sorter):
      sorter.finish(to: &output)
      self = .wholePeriods(sorter)
    case .bumping(var buffer):
      buffer.finish(to: &output)
      self = .bumping(buffer)
    }
  }
}

/// Sorts all frames from one IDR picture or reset to the next.
package struct PeriodSorter: Sendable {
  private var frames: [(picOrderCnt: Int, tag: FrameTag)] = []

  package init() {}

  package mutating func add(_ frame: CodedFrame, to output: inout [OutputFrame]) {
    if frame.startsPeriod { finish(to: &output) }
    frames.append((frame.counts.picOrderCnt, frame.tag))
  }

  package mutating func finish(to output: inout [OutputFrame]) {
    frames.sort {
      ($0.picOrderCnt, $0.tag.index) < ($1.picOrderCnt, $1.tag.index)
    }
    for frame in frames { output.append(OutputFrame(tag: frame.tag)) }
    frames.removeAll(keepingCapacity: frames.count < 1024)
  }
}
