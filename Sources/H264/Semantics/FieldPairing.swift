/// Joins the fields of a frame (H.264 §3.30, §7.4.1.2.4).
package struct FieldPairing: Sendable {
  package struct Picture: Equatable, Sendable {
    package var structure: PictureStructure
    package var frameNum: Int
    package var isReference: Bool
    package var isIDR: Bool

    package init(
      structure: PictureStructure, frameNum: Int, isReference: Bool, isIDR: Bool
    ) {
      self.structure = structure
      self.frameNum = frameNum
      self.isReference = isReference
      self.isIDR = isIDR
    }
  }

  private var first: Picture?

  package init() {}

  /// Whether `next`, in decoding order, is the second field of the frame of the picture before it.
  package mutating func isSecondField(_ next: Picture) -> Bool {
    guard next.structure != .frame else {
      first = nil
      return false
    }
    if let first, first.structure != next.structure, first.frameNum == next.frameNum,
      first.isIDR || !next.isIDR, first.isReference || !next.isReference
    {
      self.first = nil
      return true
    }
    first = next
    return false
  }
}
