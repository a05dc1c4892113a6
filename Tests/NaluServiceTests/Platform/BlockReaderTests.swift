import Glibc
import Platform
import Testing

@Suite struct BlockReaderTests {
  private static let content = (0..<300_007).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }

  /// A file with that content, which `body` gets the path of.
  private func withFile(_ content: [UInt8], _ body: (String) throws -> Void) throws {
    var template = Array("/tmp/nalu-blocks-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    try #require(descriptor >= 0)
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { unlink(path) }
    #expect(write(descriptor, content, content.count) == content.count)
    close(descriptor)
    try body(path)
  }

  /// Everything that is left, in blocks whose sizes come by turns.
  private func readAll(_ reader: BlockReader, _ sizes: [Int]) throws -> [UInt8] {
    var bytes: [UInt8] = []
    var spare: Block?
    for turn in 0... {
      let size = sizes[turn % sizes.count]
      let block = try reader.next(size, spare: spare)
      #expect(block.capacity == size)
      bytes.append(copying: block.span)
      guard block.isFull else { break }
      spare = turn % 3 == 0 ? nil : block
    }
    return bytes
  }

  @Test(arguments: [[4096], [1, 70_000], [300_007], [300_008], [64, 64, 64, 5000, 5000, 9]])
  func blocksOfAnySizesAreTheFile(sizes: [Int]) throws {
    try withFile(Self.content) { path in
      let reader = BlockReader(try InputFile(path: path))
      #expect(try readAll(reader, sizes) == Self.content)
    }
  }

  @Test func anEmptyFileIsOneBlockThatIsNotFull() throws {
    try withFile([]) { path in
      let reader = BlockReader(try InputFile(path: path))
      for _ in 0..<3 { #expect(try reader.next(100, spare: nil).count == 0) }
    }
  }

  @Test func nobodyHasToReadToTheEnd() throws {
    try withFile(Self.content) { path in
      for _ in 0..<50 {
        let reader = BlockReader(try InputFile(path: path))
        #expect(try reader.next(1000, spare: nil).isFull)
      }
    }
  }

  @Test func whatAPipeHasIsGivenBeforeMoreComes() throws {
    try withFile([]) { path in
      let pipe = path + "-pipe"
      try #require(mkfifo(pipe, 0o600) == 0)
      defer { unlink(pipe) }
      // For reading and writing, so that neither end waits for the other to be opened.
      let descriptor = open(pipe, O_RDWR)
      try #require(descriptor >= 0)
      defer { close(descriptor) }
      let reader = BlockReader(try InputFile(path: pipe))
      for size in [10, 10, 3, 500] {
        #expect(write(descriptor, Self.content, size) == size)
        #expect(try reader.next(size, spare: nil).count == size)
      }
    }
  }

  @Test func aFailureIsToldWhenTheBlockIsAskedFor() throws {
    let reader = BlockReader(try InputFile(path: "/tmp"))
    let error = #expect(throws: SystemError.self) { try reader.next(100, spare: nil) }
    #expect(error?.number == EISDIR)
  }
}
