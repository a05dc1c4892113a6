internal import CFFmpeg

/// What libav answered to a failed call.
package struct CodecError: Error, Equatable, Sendable {
  /// The libav function, for the log; never shown to a client.
  package let function: String
  /// A negative AVERROR code.
  package let code: Int32

  package init(function: String, code: Int32) {
    self.function = function
    self.code = code
  }

  /// Of a container that has more beside its packets than may be read.
  package static let tooLarge = -EFBIG
}

/// Throws when `result` is an AVERROR, else returns it.
@discardableResult
func check(_ result: Int32, _ function: StaticString) throws(CodecError) -> Int32 {
  guard result >= 0 else { throw CodecError(function: "\(function)", code: result) }
  return result
}

/// Owns one libav object and frees it exactly once.
///
/// libav's free functions take a pointer to the pointer, and clear it.
struct Owned<Object>: ~Copyable {
  typealias Free = (UnsafeMutablePointer<UnsafeMutablePointer<Object>?>) -> Void
  let pointer: UnsafeMutablePointer<Object>
  private let free: Free

  /// Takes ownership of what an allocator returned; a null pointer means out of memory.
  init(
    _ allocated: UnsafeMutablePointer<Object>?, _ function: StaticString, free: @escaping Free
  ) throws(CodecError) {
    guard let pointer = allocated else {
      throw CodecError(function: "\(function)", code: -ENOMEM)
    }
    self.pointer = pointer
    self.free = free
  }

  deinit {
    var pointer: UnsafeMutablePointer<Object>? = pointer
    free(&pointer)
  }
}
