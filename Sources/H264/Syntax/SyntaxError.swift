/// What is wrong with a bitstream, and where: thrown when parsing cannot go on, collected in
/// ``BitReader/issues`` when it can.
package struct SyntaxError: Error, Equatable, Sendable {
  package enum Reason: Equatable, Sendable {
    /// The data ended inside the element.
    case truncated
    /// An Exp-Golomb code had more than 31 leading zero bits (H.264 §9.1), or the parameter sets
    /// ask for an element of more than 32 bits.
    case codeTooLong
    /// The standard forbids this value (H.264 §7.4).
    case outOfRange(Int)
    /// There is more of it than is read or shown, so that a report stays bounded.
    case tooMuch
    /// The payload does not end in proper rbsp_trailing_bits() (H.264 §7.3.2.11), or has bytes
    /// after them.
    case trailingData
    /// The slice refers to a picture parameter set that was never received.
    case missingPictureParameterSet(Int)
    /// The slice's picture parameter set refers to a sequence parameter set that was never received.
    case missingSequenceParameterSet(Int)
  }

  /// The syntax element concerned, spelled as in the standard.
  package var element: String
  /// Distance of the element from the first RBSP bit, in bits.
  package var bitOffset: Int
  package var reason: Reason

  package init(_ element: String, at bitOffset: Int, _ reason: Reason) {
    self.element = element
    self.bitOffset = bitOffset
    self.reason = reason
  }
}

extension SyntaxError {
  /// One English sentence about the defect.
  package var message: String {
    switch reason {
    case .truncated: "the data ends inside \(element)"
    case .codeTooLong: "the code of \(element) is longer than the standard allows"
    case .outOfRange(let value): "\(element) must not be \(value)"
    case .tooMuch: "there is more of \(element) than is read"
    case .trailingData: "the payload does not end in rbsp_trailing_bits"
    case .missingPictureParameterSet(let id): "picture parameter set \(id) was not received"
    case .missingSequenceParameterSet(let id): "sequence parameter set \(id) was not received"
    }
  }
}
