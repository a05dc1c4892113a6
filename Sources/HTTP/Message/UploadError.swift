/// Why a `multipart/form-data` body could not be read.
package enum UploadError: Error, Equatable, Sendable {
  /// It is longer than `Upload.bodyLimit`.
  case bodyTooLarge
  /// `Content-Type` names no usable boundary.
  case noBoundary
  /// The body is not made of parts, or a part's head is broken; what exactly.
  case malformed(String)
  /// The body ended before its closing boundary.
  case truncated
  /// There is no part at all.
  case noFile
  /// More than one part carries a file; of those that may be there once, the one of that name, or nil
  /// for the only or the main one.
  case severalFiles(named: String?)
  /// The part of that name, which need not be there, is empty.
  case emptyFile(named: String)
  /// Besides the file there is a text field of that name. It is refused, because it would
  /// otherwise be taken for a parameter and silently do nothing.
  case textField(String)
  /// A part's head, or what belongs to no part, is larger than the parser's limit.
  case tooLarge
}
