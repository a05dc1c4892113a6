extension [UInt8] {
  /// Appends a copy of `bytes`.
  package mutating func append(copying bytes: Span<UInt8>) {
    bytes.withUnsafeBufferPointer { append(contentsOf: $0) }
  }
}

extension OutputSpan where Element == UInt8 {
  /// Appends as many of `bytes` as there is room for, and returns how many that were.
  @discardableResult
  @_lifetime(self: copy self)
  package mutating func append(fitting bytes: Span<UInt8>) -> Int {
    let taken = Swift.min(bytes.count, freeCapacity)
    guard taken > 0 else { return 0 }
    withUnsafeMutableBufferPointer { buffer, initialized in
      bytes.withUnsafeBufferPointer { source in
        guard let from = source.baseAddress, let to = buffer.baseAddress else { return }
        (to + initialized).initialize(from: from, count: taken)
      }
      initialized += taken
    }
    return taken
  }
}
