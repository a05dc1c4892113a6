/// What of the memory of a connection the head of a request may take.
///
/// libmicrohttpd 0.9.75 keeps a head where it was received, beside it a record for each field, parameter
/// and cookie, and out of the same memory comes the head of the answer. When a request line leaves no
/// room for the records of its parameters, it answers nothing and waits, with a connection that it takes
/// for closed; when all of a head leaves none for the answer, it closes without one. So both are refused
/// before.
struct HeadRoom {
  /// Bytes of a connection's memory.
  let memory: Int

  /// Bytes of a record.
  private static let record = 64
  /// Bytes that the head of an answer takes at most, some of ours and all of libmicrohttpd's included.
  private static let answer = 2048

  /// Whether a request line with this target can be taken apart.
  func holds(target: [UInt8]) -> Bool {
    holds(bytes: target.count, records: parameters(of: target))
  }

  /// Whether there is room for an answer behind a head of so many bytes, fields and cookies.
  func holds(head bytes: Int, fields: Int, target: [UInt8]) -> Bool {
    holds(bytes: bytes, records: fields + parameters(of: target))
  }

  private func holds(bytes: Int, records: Int) -> Bool {
    bytes + Self.record * records <= memory - Self.answer
  }

  /// At least as many as libmicrohttpd finds.
  private func parameters(of target: [UInt8]) -> Int {
    target.contains(UInt8(ascii: "?")) ? 1 + target.count { $0 == UInt8(ascii: "&") } : 0
  }
}
