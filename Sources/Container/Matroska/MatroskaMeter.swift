/// Counts the bytes of a Matroska file that lie outside its clusters: whoever reads the file as a whole
/// keeps them in memory.
package struct MatroskaMeter: Sendable {
  private var walker = ElementWalker()
  /// Bytes of clusters and padding, up to ``passedEnd``.
  private var passed = 0
  /// Where the last of them ends, which may be further than the file was read.
  private var passedEnd = 0

  package init() {}

  /// Bytes outside so far.
  package var bytes: Int {
    walker.position.subtractingClamped(
      passed.subtractingClamped(max(0, passedEnd.subtractingClamped(walker.position))))
  }

  /// Goes on with the next bytes of the file.
  package mutating func read(_ chunk: Span<UInt8>) {
    var index = 0
    while let event = walker.next(in: chunk, from: &index) {
      // What makes no sense counts, whatever others take it for.
      guard case .begin(let element) = event else { continue }
      walker.treat(begin(element))
    }
  }

  private mutating func begin(_ element: ElementWalker.Element) -> ElementWalker.Treatment {
    let parent = walker.stack.last?.id
    switch (parent, element.id) {
    case (nil, ElementID.segment):
      return .enter
    case (ElementID.segment, ElementID.cluster) where element.isUnknownSize:
      return .enter
    case (ElementID.segment, ElementID.cluster), (ElementID.segment, ElementID.void),
      (ElementID.cluster, _):
      if !element.isUnknownSize {
        passed = passed.addingClamped(element.end - element.offset)
        passedEnd = element.end
      }
      return .skip
    default:
      return .skip
    }
  }
}
