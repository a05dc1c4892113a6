import Testing

@testable import HTTP

/// `multipart/form-data`, cut into pieces at every place.
@Suite struct MultipartReaderTests {
  static let type = "multipart/form-data; boundary=AbC"

  /// The file's content, and where the reader stands at the end.
  private func read(
    _ body: [UInt8], cutAt cuts: [Int], refusing: Bool = false,
    with fresh: MultipartReader? = nil
  ) throws(UploadError) -> [UInt8] {
    var reader =
      if let fresh { fresh } else { try MultipartReader(contentType: MultipartReaderTests.type) }
    var content: [UInt8] = []
    var refuses = false
    var start = 0
    for end in cuts + [body.count] {
      while start < end {
        start += try reader.read(body[start..<end].span) { bytes, isSecond in
          #expect(!isSecond)
          refuses.toggle()
          if refusing && refuses { return false }
          for index in bytes.indices { content.append(bytes[index]) }
          return true
        }
      }
    }
    if let error = reader.errorAtEnd { throw error }
    return content
  }

  private func form(_ content: [UInt8], head: String = "form-data; name=\"f\"; filename=\"a\"")
    -> [UInt8]
  {
    Array("--AbC\r\nContent-Disposition: \(head)\r\n\r\n".utf8) + content
      + Array("\r\n--AbC--\r\n".utf8)
  }

  /// Contents full of beginnings of the delimiter.
  static let contents = [
    "", "x", "\r", "\r\n", "\r\n--", "\r\n--A", "\r\n--Ab", "\r\n--AbX", "--AbC", "\n--AbC",
    "\r\r\n--Ab\r\n--A\r\n-\r\n\r\r\n--Ab", "\r\n\r\n--A\r\n--Ab\r", "\r\n--ab c\r\n--ABC--\r\n",
  ]

  @Test(arguments: MultipartReaderTests.contents, [false, true])
  func findsTheContentHoweverTheBodyIsCut(content: String, refusing: Bool) throws {
    let content = Array(content.utf8)
    let body = form(content)
    let fresh = try MultipartReader(contentType: MultipartReaderTests.type)
    for first in 0...body.count {
      for second in first...min(first + 3, body.count) {
        let found = try read(body, cutAt: [first, second], refusing: refusing, with: fresh)
        // An expectation at each of the many places would take most of the time.
        if found != content { Issue.record("cut at \(first) and \(second): \(found)") }
      }
    }
  }

  @Test func readsByteByByte() throws {
    let content = (0..<600).map { UInt8($0 % 256) }
    let body = form(content)
    #expect(try read(body, cutAt: Array(1..<body.count)) == content)
    #expect(try read(body, cutAt: Array(1..<body.count), refusing: true) == content)
  }

  @Test func toleratesPreambleEpilogueAndPadding() throws {
    let text =
      "ignored\r\n--Ab\r\n--AbC \t\r\ncontent-disposition:form-data;name=f;filename*=UTF-8''a\r\n"
      + "Content-Type: video/h264\r\n\r\ndata\r\n--AbC--rest\r\n--AbC\r\n"
    #expect(try read(Array(text.utf8), cutAt: []) == Array("data".utf8))
  }

  @Test func takesTheOnlyPartEvenWithoutAFileName() throws {
    #expect(try read(form([1, 2], head: "form-data; name=f"), cutAt: []) == [1, 2])
  }

  @Test(arguments: [
    ("", UploadError.truncated),
    ("--AbC", .truncated),
    ("--AbC\r\nContent-Disposition: form-data; name=f\r\n\r\nx", .truncated),
    ("--AbC\r\nContent-Disposition: form-data; name=f\r\n\r\nx\r\n--AbC", .truncated),
    ("--AbC\r\nContent-Disposition: form-data; name=f\r\n\r\nx\r\n--AbC-", .truncated),
    ("--AbC--\r\n", .noFile),
    ("nothing of the kind", .truncated),
    (
      "--AbCx\r\n", .malformed("A boundary is followed by something else than the end of its line.")
    ),
    ("--AbC\n", .malformed("A boundary is followed by something else than the end of its line.")),
    ("--AbC-x", .malformed("A boundary is followed by something else than the end of its line.")),
    ("--AbC\r\n\r\nx", .malformed("A part has no Content-Disposition: form-data.")),
    ("--AbC\r\nX: y\r\n\r\nx", .malformed("A part has no Content-Disposition: form-data.")),
    (
      "--AbC\r\nContent-Disposition: attachment\r\n\r\nx",
      .malformed("A part has no Content-Disposition: form-data.")
    ),
    ("--AbC\r\nnonsense\r\n\r\nx", .malformed("A line of a part's head has no colon.")),
    ("--AbC\r\nX: \(String(repeating: "y", count: 9000))", .tooLarge),
  ])
  func refuses(text: String, error: UploadError) throws {
    let body = Array(text.utf8)
    for cut in [0, 1, body.count / 2, body.count] where cut <= body.count {
      #expect(throws: error) { try read(body, cutAt: [cut]) }
    }
  }

  /// What belongs to no part costs as much as content, and is not counted as such.
  @Test(arguments: [
    "x", "--AbC ", "--AbC\r\nContent-Disposition: form-data; name=f\r\n\r\n\r\n--AbC--",
  ])
  func boundsWhatBelongsToNoPart(start: String) throws {
    var reader = try MultipartReader(contentType: MultipartReaderTests.type)
    let filler = [UInt8](repeating: 0x20, count: 1000)
    let opening = Array(start.utf8)
    #expect(try reader.read(opening.span) { _, _ in true } == opening.count)
    for _ in 0..<8 { #expect(try reader.read(filler.span) { _, _ in true } == filler.count) }
    #expect(throws: UploadError.tooLarge) { try reader.read(filler.span) { _, _ in true } }
  }

  @Test(arguments: [
    (
      "form-data; name=a; filename=x", "form-data; name=b; filename=y",
      UploadError.severalFiles(named: nil)
    ),
    ("form-data; name=a; filename=x", "form-data; name=b", .textField("b")),
    ("form-data; name=\"w\\\"d\"", "form-data; name=b; filename=x", .textField("w\"d")),
    ("form-data; name=a", "form-data; name=b", .textField("a")),
  ])
  func refusesASecondPart(first: String, second: String, error: UploadError) throws {
    let text =
      "--AbC\r\nContent-Disposition: \(first)\r\n\r\n1\r\n"
      + "--AbC\r\nContent-Disposition: \(second)\r\n\r\n2\r\n--AbC--\r\n"
    #expect(throws: error) { try read(Array(text.utf8), cutAt: []) }
  }

  @Test(arguments: [
    "multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=\"a \"",
    "multipart/form-data; boundary=a\r\nb", "multipart/form-data; charset=boundary",
    "multipart/form-data; boundary=\(String(repeating: "x", count: 71))",
  ])
  func refusesAnUnusableBoundary(type: String) {
    #expect(throws: UploadError.noBoundary) { try MultipartReader(contentType: type) }
  }

  @Test(arguments: [
    "multipart/form-data; boundary=\"AbC\"", "Multipart/Form-Data ; charset=x; BOUNDARY=AbC; y=z",
    "multipart/form-data; x=\"; boundary=no\"; boundary=AbC",
  ])
  func understandsTheContentType(type: String) throws {
    #expect(MultipartReader.isMultipart(type))
    let reader = try MultipartReader(contentType: type)
    #expect(try read(form([7]), cutAt: [], with: reader) == [7])
  }

  @Test(arguments: ["multipart/mixed; boundary=a", "multipart/form-datax", "video/h264", ""])
  func leavesOtherTypesAlone(type: String) {
    #expect(!MultipartReader.isMultipart(type))
  }
}
