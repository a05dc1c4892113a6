import H264
import Platform
import Testing

@testable import NaluService

/// What a report keeps does not grow with what it is given.
@Suite struct InspectBoundsTests {
  /// A P slice header that goes on with ones: commands that modify the reference list, without end.
  private static func endlessCommands(_ size: Int) -> [UInt8] {
    var bits = BitString()
    for value in [0, 0, 0] { bits.ue(value) }
    bits.u(4, 0)
    bits.u(6, 0)
    bits.flag(false)
    for _ in 0..<8 * size { bits.flag(true) }
    return bits.payload()
  }

  private func longestWait(_ stream: [UInt8], _ settings: InspectSettings) throws -> (Int, Int) {
    var report = StreamReport(settings)
    var scanner = StartCodeScanner()
    var position = 0
    var units = 0
    var bytes = 0
    var output: [UInt8] = []
    while let unit = scanner.next(in: stream.span, from: &position) {
      try report.add(unit, scanner.bytes(of: unit, in: stream.span))
      units = max(units, report.held.count + report.waiting.count)
      bytes = max(bytes, report.held.reduce(report.waitingBytes) { $0 + $1.details.count })
      report.form.movePending(to: &output)
      output.removeAll(keepingCapacity: true)
    }
    return (units, bytes)
  }

  @Test(arguments: InspectSettings.KeyframeRule.allCases)
  func unitsThatWaitForTheirAccessUnitAreFewAndSmall(rule: InspectSettings.KeyframeRule) throws {
    var settings = InspectSettings()
    settings.format = .ndjson
    settings.keyframeRule = rule
    settings.include = Set(InspectSettings.Section.allCases)
    // One picture that does not end, then messages that belong to the next.
    let stream = StreamBuilder.stream { stream in
      stream.add(2, frameNum: 0, lsb: 0, idr: true)
      for index in 1...3000 {
        stream.add(2, frameNum: 0, lsb: 0, idr: true) {
          $0.firstMb = index
          $0.size = 0
        }
      }
      for _ in 0..<12_000 { stream.unit(0x06, [5, 16] + Array("0123456789abcdef".utf8) + [0x80]) }
    }
    let (units, bytes) = try longestWait(stream, settings)
    #expect(units <= 2 * StreamReport.maxHeldUnits + 2)
    #expect(bytes <= StreamReport.maxHeldBytes + StreamReport.maxWaitingBytes)
  }

  @Test func aListHasNoMoreModificationsThanEntries() throws {
    func stream(_ size: Int) -> [UInt8] {
      StreamBuilder.stream { stream in
        stream.add(2, frameNum: 0, lsb: 0, idr: true)
        stream.unit(0x01, Self.endlessCommands(size))
      }
    }
    let json = try report(stream(4000)) { $0.include.insert(.sliceHeaders) }
    let findings = try #require(json["findings"]).items
    #expect(
      findings.map { $0["element"]?.text } == [
        "modification_of_pic_nums_idc", "modification_of_pic_nums_idc",
      ])
    #expect(findings.allSatisfy { $0["code"]?.text == "value-out-of-range" })
    #expect(findings.map { $0["severity"]?.text } == ["warning", "error"])
    let header = try #require(json["nal_units"]?.items.last?["slice_header"])
    #expect(header["ref_pic_list_modification"]?["modifications_l0"]?.items.count == 33)
  }

  @Test func aStepEndsWhenThereIsMuchToHandOn() throws {
    let stream = StreamBuilder.stream { stream in
      stream.add(2, frameNum: 0, lsb: 0, idr: true)
      for _ in 0..<20_000 { stream.raw([0, 0, 1, 0x0C, 0x80]) }
    }
    var settings = InspectSettings()
    settings.format = .ndjson
    var operation = InspectOperation(settings, spoolDirectory: .test)
    let block = Block(capacity: stream.count)
    block.append(stream.span)
    try operation.push(block)
    var whole: [UInt8] = []
    var steps = 0
    var output = Output()
    while try operation.step(into: &output) == .again {
      #expect(output.bytes.count < 1_100_000)
      whole += output.bytes
      output.bytes.removeAll()
      steps += 1
    }
    #expect(steps > 2)
    try operation.endOfInput()
    repeat { steps += 1 } while try operation.step(into: &output) != .finished
    whole += output.bytes
    #expect(try inspect(stream, settings, blockSize: 1000) == whole)
  }

  @Test func parameterSetsAreCountedAsMemory() throws {
    var stream = StreamBuilder()
    stream.sps()
    for id in 0..<256 {
      stream.picture.id = id
      stream.pps()
    }
    var report = StreamReport(InspectSettings())
    var scanner = StartCodeScanner()
    var position = 0
    let before = report.heldBytes
    while let unit = scanner.next(in: stream.bytes.span, from: &position) {
      try report.add(unit, scanner.bytes(of: unit, in: stream.bytes.span))
    }
    let content = report.catalog.entries.reduce(0) { $0 + $1.content.count + $1.members.count }
    #expect(report.catalog.entries.count == 256)
    #expect(report.heldBytes - before >= content)
  }

  /// Each waits for its own; none is looked at when another set comes.
  @Test func pictureParameterSetsThatCameFirstAreReadWithTheirSequenceParameterSet() throws {
    var stream = StreamBuilder()
    for id in 0..<8 {
      stream.picture.id = id
      stream.sequence.id = 7 - id
      // With transform_8x8_mode_flag, whose scaling lists depend on chroma_format_idc.
      stream.guessedPPS()
    }
    for id in [3, 3, 5] {
      stream.sequence.id = id
      stream.sequence.level += 1
      stream.sps()
    }
    let ids = try lines(stream.bytes) { $0.include = [.parameterSets] }
      .compactMap { $0["kind"] == .string("pps") ? $0["pic_parameter_set_id"]?.int : nil }
    #expect(ids == [4, 2, 0, 1, 3, 5, 6, 7])
  }
}
