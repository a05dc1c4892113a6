/// What the order of output and the marking of references depend on in a coded frame or field.
package struct CodedPicture: Equatable, Sendable {
  package var structure = PictureStructure.frame
  package var frameNum = 0
  package var isReference = false
  package var isIDR = false
  /// long_term_reference_flag of an IDR picture.
  package var isLongTerm = false
  /// Nil: sliding window.
  package var memoryManagement: [MemoryManagementControl]?
  package var counts = FieldOrderCounts()

  package init() {}

  /// memory_management_control_operation 5 is there.
  package var resets: Bool { memoryManagement?.contains(.unmarkAll) ?? false }

  /// All pictures before it, in decoding order, are output before it.
  package var startsPeriod: Bool { isIDR || resets }
}

/// A frame, a complementary field pair or an unpaired field, in decoding order.
package struct CodedFrame: Equatable, Sendable {
  package var tag: FrameTag
  package var first: CodedPicture
  package var second: CodedPicture?

  package init(tag: FrameTag, first: CodedPicture, second: CodedPicture? = nil) {
    self.tag = tag
    self.first = first
    self.second = second
  }

  package var counts: FieldOrderCounts {
    second.map { first.counts.joined($0.counts) } ?? first.counts
  }

  package var startsPeriod: Bool { first.startsPeriod || second?.resets ?? false }
}

/// What is to be known of a frame when its turn of output comes.
package struct FrameTag: Equatable, Sendable {
  /// Position in decoding order.
  package var index: Int
  package var type: SliceType
  package var isKeyframe = false
  /// Position of its group of pictures, nil before the first keyframe.
  package var group: Int?

  package init(index: Int, type: SliceType) {
    self.index = index
    self.type = type
  }
}
