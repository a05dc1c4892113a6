import Testing

@testable import HTTP

@Suite struct MultipartSecondPartTests {
  private func form(_ parts: [(head: String, content: String)]) -> [UInt8] {
    let text = parts.map {
      "--AbC\r\nContent-Disposition: form-data; \($0.head)\r\n\r\n\($0.content)\r\n"
    }
    return Array((text.joined() + "--AbC--\r\n").utf8)
  }

  /// The content of both files, the body cut into pieces of that size.
  private func read(_ body: [UInt8], pieces: Int) throws(UploadError) -> (String, String) {
    var reader = try MultipartReader(
      contentType: "multipart/form-data; boundary=AbC", secondPartName: "audio")
    var (main, second): ([UInt8], [UInt8]) = ([], [])
    var start = 0
    while start < body.count {
      let piece = Array(body[start..<min(start + pieces, body.count)])
      start += try reader.read(piece.span) { bytes, isSecond in
        for index in bytes.indices {
          if isSecond { second.append(bytes[index]) } else { main.append(bytes[index]) }
        }
        return true
      }
    }
    if let error = reader.errorAtEnd { throw error }
    return (String(decoding: main, as: UTF8.self), String(decoding: second, as: UTF8.self))
  }

  static let file = (head: "name=\"file\"; filename=\"a.h264\"", content: "picture\r\n--Ab")
  static let audio = (head: "name=\"audio\"; filename=\"a.aac\"", content: "\r\nsound")

  @Test(arguments: [[file, audio], [audio, file]], [1, 7, 1000])
  func bothFilesComeInAnyOrder(parts: [(head: String, content: String)], pieces: Int) throws {
    let (main, second) = try read(form(parts), pieces: pieces)
    #expect(main == Self.file.content)
    #expect(second == Self.audio.content)
  }

  @Test func eachFileComesOnce() {
    #expect(throws: UploadError.severalFiles(named: nil)) {
      try read(form([Self.file, Self.audio, Self.file]), pieces: 50)
    }
    #expect(throws: UploadError.severalFiles(named: "audio")) {
      try read(form([Self.audio, Self.file, Self.audio]), pieces: 50)
    }
  }

  @Test(arguments: [1, 7, 1000])
  func anEmptySecondFileIsNotOverlooked(pieces: Int) {
    let empty = (head: Self.audio.head, content: "")
    for parts in [[Self.file, empty], [empty, Self.file]] {
      #expect(throws: UploadError.emptyFile(named: "audio")) {
        try read(form(parts), pieces: pieces)
      }
    }
  }

  @Test func theSecondFileAloneIsNotEnough() {
    #expect(throws: UploadError.noFile) { try read(form([Self.audio]), pieces: 50) }
  }
}
