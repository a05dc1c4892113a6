import Glibc
import Platform
import Testing

/// Files that have no name, or none yet.
@Suite struct FileTests {
  /// A new directory.
  private static func directory() throws -> String {
    var template = Array("/tmp/nalu-files-XXXXXX".utf8CString)
    try #require(mkdtemp(&template) != nil)
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private func names(in directory: String) -> [String] {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  private func write(_ text: String, to path: String) throws {
    let file = try OutputFile(path: path)
    try file.write(Array(text.utf8).span)
    try file.commit()
  }

  @Test func aTemporaryFileHasNoName() throws {
    let directory = try Self.directory()
    var file = try TemporaryFile(in: directory)
    try file.append([1, 2, 3].span)
    #expect(names(in: directory) == [])
    #expect(file.size == 3)
    #expect(rmdir(directory) == 0)
  }

  @Test func aTemporaryFileNeedsADirectory() {
    let error = #expect(throws: SystemError.self) { _ = try TemporaryFile(in: "/nowhere/at/all") }
    #expect(error?.number == ENOENT)
  }

  @Test func anOutputFileHasItsNameWhenItIsComplete() throws {
    let directory = try Self.directory()
    let path = "\(directory)/out"
    do {
      let file = try OutputFile(path: path)
      try file.write([1, 2, 3].span)
      #expect(names(in: directory) == [])
      file.discard()
    }
    #expect(names(in: directory) == [])
    try write("first", to: path)
    #expect(names(in: directory) == ["out"])
    #expect(try readTextFile(path, limit: 100) == "first")
    chmod(path, 0o640)
    try write("second", to: path)
    #expect(names(in: directory) == ["out"])
    #expect(try readTextFile(path, limit: 100) == "second")
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o7777 == 0o640)
    unlink(path)
    #expect(rmdir(directory) == 0)
  }

  @Test func anOutputFileReplacesWhatALinkNames() throws {
    let directory = try Self.directory()
    try write("old", to: "\(directory)/file")
    #expect(symlink("file", "\(directory)/link") == 0)
    try write("new", to: "\(directory)/link")
    #expect(try readTextFile("\(directory)/file", limit: 100) == "new")
    #expect(names(in: directory) == ["file", "link"])
    for name in ["file", "link"] { unlink("\(directory)/\(name)") }
    #expect(rmdir(directory) == 0)
  }

  @Test func anOutputFileIsMadeWhereALinkLeads() throws {
    let directory = try Self.directory()
    #expect(mkdir("\(directory)/sub", 0o700) == 0)
    #expect(symlink("file", "\(directory)/sub/second") == 0)
    #expect(symlink("sub/second", "\(directory)/first") == 0)
    try write("new", to: "\(directory)/first")
    #expect(try readTextFile("\(directory)/sub/file", limit: 100) == "new")
    #expect(names(in: directory) == ["first", "sub"])
    #expect(names(in: "\(directory)/sub") == ["file", "second"])
    for name in ["first", "sub/file", "sub/second"] { unlink("\(directory)/\(name)") }
    #expect(rmdir("\(directory)/sub") == 0)
    #expect(rmdir(directory) == 0)
  }

  @Test func aTextFileThatIsTooLongIsAnError() throws {
    let directory = try Self.directory()
    try write("1234", to: "\(directory)/file")
    #expect(try readTextFile("\(directory)/file", limit: 4) == "1234")
    let error = #expect(throws: SystemError.self) {
      try readTextFile("\(directory)/file", limit: 3)
    }
    #expect(error?.number == EFBIG)
    unlink("\(directory)/file")
    #expect(rmdir(directory) == 0)
  }

  @Test func namesOfOneFileAreToldApartFromNamesOfTwo() throws {
    let directory = try Self.directory()
    for name in ["a", "b"] { try write(name, to: "\(directory)/\(name)") }
    #expect(symlink("a", "\(directory)/c") == 0)
    for (name, isSame) in [("./a", true), ("c", true), ("b", false), ("d", false)] {
      #expect(isSameFile("\(directory)/a", "\(directory)/\(name)") == isSame, "\(name)")
    }
    #expect(!isSameFile("/dev/null", "/dev/null"))
    for name in ["a", "b", "c"] { unlink("\(directory)/\(name)") }
    #expect(rmdir(directory) == 0)
  }

  @Test func anInputKnowsItsOwnName() throws {
    let directory = try Self.directory()
    for name in ["a", "b"] { try write(name, to: "\(directory)/\(name)") }
    #expect(link("\(directory)/a", "\(directory)/c") == 0)
    let input = try InputFile(path: "\(directory)/a")
    for (name, isSame) in [("./a", true), ("c", true), ("b", false), ("d", false)] {
      let isFile = input.isFile(at: "\(directory)/\(name)")
      #expect(isFile == isSame, "\(name)")
    }
    for name in ["a", "b", "c"] { unlink("\(directory)/\(name)") }
    #expect(rmdir(directory) == 0)
  }

  @Test func aStoppedInputIsNotWaitedFor() throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    let stop = try InputStop()
    let input = try InputFile(path: "/dev/fd/\(ends[0])")
    #expect(Glibc.write(ends[1], "abc", 3) == 3)
    let block = Block(capacity: 3)
    try input.fill(block, until: stop)
    #expect(block.count == 3)
    #expect(!stop.isStopped)
    stop.stop()
    #expect(stop.isStopped)
    let next = Block(capacity: 3)
    try input.fill(next, until: stop)
    #expect(next.count == 0)
  }
}
