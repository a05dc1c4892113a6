package import NaluService
internal import Platform

/// Gives an operation all of `input`, `pieceSize` bytes at a time, and runs it to its end.
///
/// - Parameters:
///   - operation: Is at its beginning.
///   - input: The whole upload.
///   - pieceSize: Bytes of a block; nil: as many as the operation asks for.
///   - maxStepBytes: More than that is no bounded step.
/// - Returns: What was counted.
/// - Throws: What the operation refuses; an error of ours ends the process instead.
package func runToEnd(
  _ operation: consuming some Operation & ~Copyable, on input: ArraySlice<UInt8>,
  pieceSize: Int? = nil, maxStepBytes: Int = .max
) throws(Problem) -> Counters {
  var operation = operation
  var output = Output()
  var rest = input
  var step = Step.needsInput
  var steps = 0
  do throws(Problem) {
    while step != .finished {
      if step == .needsInput {
        let piece = rest.prefix(pieceSize ?? operation.blockSize)
        rest = rest.dropFirst(piece.count)
        if piece.isEmpty {
          try operation.endOfInput()
        } else {
          let block = Block(capacity: piece.count)
          block.append(piece.span)
          try operation.push(block)
        }
      }
      step = try operation.step(into: &output)
      precondition(output.bytes.count < maxStepBytes, "a step wrote \(output.bytes.count) bytes")
      output.bytes.removeAll(keepingCapacity: true)
      steps += 1
      precondition(steps < 10_000 + input.count, "the operation does not come to an end")
    }
  } catch {
    // An error of the client's making is a good end; one of ours is not.
    precondition(error.code != .internal, error.detail)
    throw error
  }
  return output.counters
}

extension Limits {
  /// Small enough for many runs a second.
  package static var forFuzzing: Limits {
    var limits = Limits()
    limits.maxFramePixels = 256 * 256
    limits.maxFrames = 40
    limits.maxNALUnits = 1000
    return limits
  }
}

extension SpoolDirectory {
  package static var forFuzzing: SpoolDirectory {
    SpoolDirectory(path: "/tmp", capacity: 1 << 24)
  }
}
