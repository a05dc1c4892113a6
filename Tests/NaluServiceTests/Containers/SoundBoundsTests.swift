import Codec
import Platform
import Testing

@testable import NaluService

@Suite struct SoundBoundsTests {
  /// Five pictures, and more sound than that.
  private func file(sound count: Int) throws -> [UInt8] {
    var tags = FLVTags(try ContainerFile.make(.flv, frames: 5))
    tags.addSound(count: count)
    return tags.bytes
  }

  private var limits: Limits {
    var limits = Limits()
    limits.maxNALUnits = 100
    return limits
  }

  @Test(arguments: ["mp4", "fmp4", "mkv"])
  func framesOfSoundAreBoundedInARemux(format: String) throws {
    #expect(throws: Never.self) {
      try remux("format=\(format)", file(sound: 100), limits: limits)
    }
    let problem = #expect(throws: Problem.self) {
      try remux("format=\(format)", file(sound: 101), limits: limits)
    }
    #expect(problem?.code == .tooManyNALUnits)
    #expect(problem?.detail.contains("sound") == true)
    let stream = try ContainerFile.make(.h264, frames: 5)
    let part = #expect(throws: Problem.self) {
      try remux(
        "format=\(format)", stream, sound: adts(Array(repeating: [0x21], count: 101)),
        limits: limits)
    }
    #expect(part?.code == .tooManyNALUnits)
  }

  @Test func framesOfSoundAreBoundedInATranscode() throws {
    let query = "preset=ultrafast&format=mp4"
    #expect(throws: Never.self) { try transcode(query, file(sound: 100), limits: limits) }
    let problem = #expect(throws: Problem.self) {
      try transcode(query, file(sound: 101), limits: limits)
    }
    #expect(problem?.code == .tooManyNALUnits)
  }

  /// The most that an operation says to hold.
  private func mostHeld(_ operation: consuming RemuxOperation, _ file: [UInt8]) throws -> Int {
    var operation = operation
    var output = Output()
    try operation.push(Block(file))
    try operation.endOfInput()
    var most = 0
    while try operation.step(into: &output) != .finished {
      most = max(most, operation.heldBytes)
    }
    return most
  }

  @Test func theIndexOfSoundCountsAsMemory() throws {
    func held(_ format: OutputFormat, sound count: Int) throws -> Int {
      try mostHeld(
        RemuxOperation(
          RemuxSettings(format: format), limits: Limits(), spoolDirectory: .test),
        file(sound: count))
    }
    let few = try held(.mp4, sound: 10)
    #expect(try held(.mp4, sound: 1010) - few >= 1000 * 50)
    #expect(try held(.fmp4, sound: 1010) - held(.fmp4, sound: 10) < 1000 * 50)
  }
}

@Suite struct MissingSoundTests {
  /// An MP4 file whose last samples of sound lie behind its end.
  private func file() throws -> [UInt8] {
    var tags = FLVTags(try ContainerFile.make(.flv))
    // More than what is looked at with the pictures.
    tags.addSound(count: 300)
    var file = try remux("format=mp4", tags.bytes).bytes
    let tracks = BoxTree(file)["moov"]?.children.filter { $0.type == "trak" } ?? []
    let offsets = try #require(tracks.last?["mdia/minf/stbl/stco"])
    let count = offsets.number(4)
    ContainerFile.put(
      file.count + 5000, at: offsets.content.lowerBound + 8 + 4 * (count - 1), in: &file)
    return file
  }

  @Test(arguments: ["mp4", "flv", "mkv"])
  func aRemuxSaysSo(format: String) throws {
    let result = try remux("format=\(format)", file())
    #expect(result.header("Nalu-Note")?.contains("sound") == true)
    #expect(try digests(result.bytes).count == 45)
  }

  @Test(arguments: ["fmp4", "mpegts"])
  func aRemuxThatIsStreamedSaysSoAtItsEnd(format: String) throws {
    let result = try remux("format=\(format)", file())
    #expect(result.answer.trailerNames == ["Nalu-Note"])
    let note = result.answer.trailers.first { $0.name == "Nalu-Note" }
    #expect(note?.value.contains("sound") == true)
  }

  @Test func aTranscodeCountsItAsDamage() throws {
    let result = try transcode("preset=ultrafast&format=mp4", file())
    #expect(result.header("Nalu-Note")?.contains("sound") == true)
    #expect(result.trailer("Nalu-Decode-Errors") == "1")
    #expect(result.trailer("Nalu-Frames-Out") == "45")
  }

  @Test func soundThatIsAllThereIsNotComplainedOf() throws {
    var tags = FLVTags(try ContainerFile.make(.flv))
    tags.addSound(count: 78)
    for format in ["mp4", "fmp4"] {
      let result = try remux("format=\(format)", tags.bytes)
      #expect(result.header("Nalu-Note") == nil)
      #expect(result.answer.trailers.isEmpty)
    }
  }
}
