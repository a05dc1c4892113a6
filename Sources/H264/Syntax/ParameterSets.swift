/// The parameter sets received so far, by id: what slice headers are read with.
///
/// Which of them is active is for the user to say; a set that is stored replaces the one with its id.
package struct ParameterSets: Sendable {
  // Boxed, so that looking one up for each slice costs one retain and not one for each array in it.
  private final class Box<Value: Sendable>: Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
  }

  private var sequence = [Box<SequenceParameterSet>?](repeating: nil, count: 32)
  private var subset = [Box<SubsetSequenceParameterSet>?](repeating: nil, count: 32)
  private var picture = [Box<PictureParameterSet>?](repeating: nil, count: 256)

  package init() {}

  package mutating func store(_ set: SequenceParameterSet) {
    sequence[set.id] = Box(set)
  }

  package mutating func store(_ set: SubsetSequenceParameterSet) {
    subset[set.data.id] = Box(set)
  }

  package mutating func store(_ set: PictureParameterSet) {
    picture[set.id] = Box(set)
  }

  package func sequenceParameterSet(_ id: Int) -> SequenceParameterSet? {
    sequence.indices.contains(id) ? sequence[id]?.value : nil
  }

  package func subsetSequenceParameterSet(_ id: Int) -> SubsetSequenceParameterSet? {
    subset.indices.contains(id) ? subset[id]?.value : nil
  }

  package func pictureParameterSet(_ id: Int) -> PictureParameterSet? {
    picture.indices.contains(id) ? picture[id]?.value : nil
  }

  /// The chroma_format_idc that a picture parameter set needs which refers to this id.
  package func chromaFormatIDC(ofSequenceParameterSet id: Int) -> Int? {
    guard sequence.indices.contains(id) else { return nil }
    return sequence[id]?.value.chromaFormatIDC ?? subset[id]?.value.data.chromaFormatIDC
  }
}
