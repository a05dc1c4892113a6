internal import Platform

/// Takes the one part out of a `multipart/form-data` body (RFC 7578, RFC 2046 §5.1), or the two that
/// there may be, however the body is cut into pieces.
///
/// Memory is bounded: what may be the beginning of a delimiter is not stored but counted, since its
/// bytes are known, and a part's head has a limit. So has all that is neither head nor content.
struct MultipartReader {
  private static let headLimit = 8192
  /// Bytes that belong to no part and its head: before the first boundary, behind the last, and
  /// spaces behind one.
  private static let surroundingsLimit = 8192

  /// CR LF `--` and the boundary. CR is found in its first place only.
  private let delimiter: [UInt8]
  private let secondPartName: String?
  private var state = State.preamble
  /// Bytes of the delimiter at the end of what was read so far. The body may begin with a
  /// delimiter, as if a line had ended before it.
  private var matched = 2
  private var head: [UInt8] = []
  private var first: PartHead?
  private var isSecondFile = false
  private var hasMainFile = false
  private var hasSecondFile = false
  private var isSecondFileEmpty = true
  private var surroundings = 0

  private enum State {
    case preamble
    /// Behind a delimiter: `--`, or the end of the line and a part.
    case delimiterEnd(after: UInt8?)
    case head
    case content
    case epilogue
  }

  /// Starts to read a body of the type that `Content-Type` names with its boundary.
  ///
  /// A file of the name `secondPartName` may be there beside the other one.
  init(contentType: String, secondPartName: String? = nil) throws(UploadError) {
    let boundary = FieldParameters(contentType)["boundary"] ?? ""
    // RFC 2046 §5.1.1: 1 to 70 characters, and no space at the end.
    let isUsable =
      (1...70).contains(boundary.utf8.count)
      && boundary.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } && boundary.last != " "
    guard isUsable else { throw .noBoundary }
    delimiter = Array("\r\n--\(boundary)".utf8)
    self.secondPartName = secondPartName
  }

  /// Whether a `Content-Type` calls for this reader.
  static func isMultipart(_ contentType: String) -> Bool {
    let type = contentType.utf8.prefix { $0 != UInt8(ascii: ";") && $0 != 0x20 && $0 != 0x09 }
    return equalIgnoringCase(String(type) ?? "", "multipart/form-data")
  }

  /// Reads on, and returns how many of `bytes` are done with: all of them, or fewer when `sink`
  /// refused the content that follows; the rest is to be offered again. `sink` is also told whether
  /// the content is that of the second part.
  mutating func read(
    _ bytes: Span<UInt8>, into sink: (Span<UInt8>, Bool) -> Bool
  ) throws(UploadError) -> Int {
    var index = 0
    while index < bytes.count {
      switch state {
      case .preamble:
        guard let end = find(in: bytes, from: index, emit: { _ in true }) else { return index }
        try takeSurroundings(end - index)
        index = end
      case .content:
        let start = index
        let isSecond = isSecondFile
        var isEmpty = true
        let end = find(in: bytes, from: start) { content in
          isEmpty = isEmpty && content.isEmpty
          return sink(content, isSecond)
        }
        guard let end else { return start }
        if isSecond, !isEmpty { isSecondFileEmpty = false }
        index = end
      case .delimiterEnd(let last):
        try take(bytes[index], after: last)
        index += 1
      case .head:
        try takeHead(bytes[index])
        index += 1
      case .epilogue:
        try takeSurroundings(bytes.count - index)
        return bytes.count
      }
    }
    return index
  }

  /// What is wrong when the body ends here.
  var errorAtEnd: UploadError? {
    switch state {
    case .epilogue where !hasMainFile: .noFile
    case .epilogue where hasSecondFile && isSecondFileEmpty: .emptyFile(named: secondPartName ?? "")
    case .epilogue: nil
    case .preamble, .delimiterEnd, .head, .content: .truncated
    }
  }

  /// Looks for the delimiter and hands on what precedes it. Returns where to read on, or nil, with
  /// nothing changed, when `emit` refused the bytes from `start` on.
  private mutating func find(
    in bytes: Span<UInt8>, from start: Int, emit: (Span<UInt8>) -> Bool
  ) -> Int? {
    var start = start
    if matched > 0 {
      let (end, count) = extend(matched, in: bytes, from: start)
      if count == delimiter.count {
        foundDelimiter()
        return end
      }
      if end == bytes.count {
        matched = count
        return end
      }
      // It was content after all. The two bytes assumed before the body are none of it.
      if case .content = state {
        guard emit(delimiter.span.extracting(0..<count)) else { return nil }
      }
      matched = 0
      start = end
    }
    var index = start
    while index < bytes.count {
      guard bytes[index] == delimiter[0] else {
        index += 1
        continue
      }
      let (end, count) = extend(0, in: bytes, from: index)
      guard count == delimiter.count || end == bytes.count else {
        // The delimiter's CR cannot be inside what matched.
        index = end
        continue
      }
      guard index == start || emit(bytes.extracting(start..<index)) else { return start }
      if count == delimiter.count { foundDelimiter() } else { matched = count }
      return end
    }
    if index > start {
      guard emit(bytes.extracting(start..<index)) else { return start }
    }
    return index
  }

  /// Matches on from `count` bytes of the delimiter.
  private func extend(_ count: Int, in bytes: Span<UInt8>, from start: Int) -> (Int, Int) {
    var count = count
    var index = start
    while index < bytes.count && count < delimiter.count && bytes[index] == delimiter[count] {
      index += 1
      count += 1
    }
    return (index, count)
  }

  private mutating func foundDelimiter() {
    matched = 0
    state = .delimiterEnd(after: nil)
  }

  /// RFC 2046 §5.1.1: `--` ends the body, white space and CR LF begin a part.
  private mutating func take(_ byte: UInt8, after last: UInt8?) throws(UploadError) {
    switch (last, byte) {
    case (nil, 0x20), (nil, 0x09):
      try takeSurroundings(1)
    case (nil, UInt8(ascii: "-")), (nil, UInt8(ascii: "\r")):
      state = .delimiterEnd(after: byte)
    case (UInt8(ascii: "-"), UInt8(ascii: "-")):
      state = .epilogue
    case (UInt8(ascii: "\r"), UInt8(ascii: "\n")):
      head = []
      state = .head
    default:
      throw .malformed("A boundary is followed by something else than the end of its line.")
    }
  }

  private mutating func takeSurroundings(_ count: Int) throws(UploadError) {
    surroundings += count
    guard surroundings <= MultipartReader.surroundingsLimit else { throw .tooLarge }
  }

  private mutating func takeHead(_ byte: UInt8) throws(UploadError) {
    head.append(byte)
    guard head.count <= MultipartReader.headLimit else { throw .tooLarge }
    let isComplete =
      head.count == 2 && head.elementsEqual("\r\n".utf8)
      || head.suffix(4).elementsEqual("\r\n\r\n".utf8)
    guard isComplete else { return }
    let part = try PartHead(head)
    head = []
    if let first {
      guard first.isFile else { throw .textField(first.name) }
      guard part.isFile else { throw .textField(part.name) }
    }
    isSecondFile = part.isFile && part.name == secondPartName
    guard isSecondFile ? !hasSecondFile : !hasMainFile else {
      throw .severalFiles(named: isSecondFile ? secondPartName : nil)
    }
    if isSecondFile { hasSecondFile = true } else { hasMainFile = true }
    first = first ?? part
    state = .content
  }
}

/// What the head of a part says.
private struct PartHead {
  var name: String
  var isFile: Bool

  init(_ bytes: [UInt8]) throws(UploadError) {
    let text = String(decoding: bytes, as: UTF8.self)
    var disposition: FieldParameters?
    for line in text.split(separator: "\r\n") {
      guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else {
        throw .malformed("A line of a part's head has no colon.")
      }
      if equalIgnoringCase(String(line[..<colon]), "content-disposition") {
        disposition = FieldParameters(String(line[line.utf8.index(after: colon)...]))
      }
    }
    guard let disposition, equalIgnoringCase(disposition.value, "form-data") else {
      throw .malformed("A part has no Content-Disposition: form-data.")
    }
    name = disposition["name"] ?? ""
    isFile = disposition["filename"] != nil || disposition["filename*"] != nil
  }
}
