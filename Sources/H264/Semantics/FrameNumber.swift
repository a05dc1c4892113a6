/// Follows frame_num (H.264 §7.4.3) and tells where frames are missing.
package struct FrameNumber: Sendable {
  /// PrevRefFrameNum, nil before the first picture.
  private var previousReference: Int?

  package init() {}

  /// How many frames are missing in front of the next picture, 0 in an intact stream.
  ///
  /// A second field is no next picture. `resets`: memory_management_control_operation 5 occurs.
  package mutating func missingFrames(
    before frameNum: Int, maxFrameNum: Int, isIDR: Bool, isReference: Bool, resets: Bool
  ) -> Int {
    defer {
      if resets {
        previousReference = 0
      } else if isReference || previousReference == nil {
        previousReference = frameNum
      }
    }
    guard let previous = previousReference, !isIDR, frameNum != previous else { return 0 }
    let step = (frameNum - previous) & (maxFrameNum - 1)
    if step > 1, !isReference { previousReference = (frameNum - 1) & (maxFrameNum - 1) }
    return step - 1
  }
}
