internal import Container

/// What an upload is, by its first bytes and by what its sender says.
struct InputForm: Sendable {
  /// So many bytes decide, however the upload is cut into blocks.
  static let headBytes = MediaFormat.headBytes

  let format: MediaFormat
  /// Bytes of the length fields, where NAL units are length-prefixed and nothing else.
  let lengthSize: Int
  /// What the sender says of such units.
  let configuration: AVCConfigurationRecord?

  /// Recognises what begins with `head`.
  ///
  /// - Throws: `unrecognised-input` for what is known to be something else;
  ///   `conflicting-parameters` when the content contradicts the sender.
  init(of head: Span<UInt8>, _ said: LengthPrefixSettings) throws(Problem) {
    let head = head.extracting(0..<min(head.count, Self.headBytes))
    let recognised = MediaFormat(head: head)
    configuration = said.configuration.flatMap { AVCConfigurationRecord(parsing: $0) }
    let isBare = recognised == nil || recognised == .annexB || recognised == .avcc
    if let size = said.lengthSize, isBare, LengthPrefix.leads(through: head, lengthSize: size) {
      (format, lengthSize) = (.avcc, size)
      return
    }
    if isBare, recognised != .avcc, let name = FileSignature.name(of: head) {
      throw Problem(
        .unrecognisedInput, "The body is \(name), not H.264 or a container of it.")
    }
    let found = LengthPrefix.size(in: head)
    guard let size = said.lengthSize else {
      (format, lengthSize) = (recognised ?? .annexB, found ?? 4)
      return
    }
    if let recognised, recognised != .avcc, recognised != .annexB || MediaFormat.isByteStream(head)
    {
      throw said.conflict(
        "they are for bare length-prefixed NAL units; the body is \(recognised.title)")
    }
    if let found, found != size {
      throw said.conflict("they say lengths of \(size) bytes; the body has some of \(found)")
    }
    (format, lengthSize) = (.avcc, size)
  }
}

extension LengthPrefixSettings {
  fileprivate func conflict(_ reason: String) -> Problem {
    Problem(
      .conflictingParameters, "nal_length_size and avcc do not suit the body: \(reason).",
      parameter: configuration == nil
        ? LengthPrefixParameters.lengthSize.name : LengthPrefixParameters.configuration.name)
  }
}
