import NaluService
import Testing

@Suite struct InspectRecognitionTests {
  private static func problem(_ stream: [UInt8]) -> Problem? {
    for format in InspectSettings.Format.allCases {
      var settings = InspectSettings()
      settings.format = format
      do throws(any Error) {
        _ = try inspect(stream, settings)
        return nil
      } catch {
        guard let problem = error as? Problem, format == .csv else { continue }
        return problem
      }
    }
    return nil
  }

  /// H.265: VPS, SPS, PPS, then slices of type IDR_N_LP, which H.264 would take for a PPS.
  private static let h265: [UInt8] = {
    var builder = StreamBuilder()
    builder.unit(0x40, [0x01, 0x0C, 0x01, 0xFF, 0xFF, 0x01, 0x60])
    builder.unit(0x42, [0x01, 0x01, 0x01, 0x60, 0x11, 0x22])
    builder.unit(0x44, [0x01, 0xC1, 0x72, 0xB4])
    for _ in 0..<20 { builder.unit(0x28, [0x01, 0xAF, 0x1D, 0x20, 0x80, 0x55]) }
    return builder.bytes
  }()

  /// The standard Huffman table of JPEG has 00 00 01 05.
  private static let jpeg: [UInt8] = [
    0xFF, 0xD8, 0xFF, 0xE0, 0, 16, 0x4A, 0x46, 0x49, 0x46, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0,
    0xFF, 0xC4, 0, 0x1F, 0, 0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5,
    6, 7, 8, 9, 10, 11, 0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 0x3F, 0, 0xF7, 0xFA, 0xFF, 0xD9,
  ]

  /// What people send by mistake is called by its name.
  @Test(
    arguments: [
      ([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A], "PNG"), (jpeg, "JPEG"),
      (Array("GIF89a".utf8), "GIF"), ([0x50, 0x4B, 3, 4, 20, 0], "ZIP"),
      (Array("RIFF....AVI LIST".utf8), "AVI"), (Array("ID3\u{4}".utf8), "MP3"),
      ([0xFF, 0xFB, 0x90, 0], "MP3"), (Array("YUV4MPEG2 W16 H16\n".utf8), "Y4M"),
    ] as [([UInt8], String)])
  func namesOtherFiles(start: [UInt8], name: String) {
    let problem = Self.problem(start + [0, 0, 0, 1, 0x67, 1, 2, 3])
    #expect(problem?.code == .unrecognisedInput)
    #expect(problem?.detail.contains(name) == true)
  }

  /// One type of NAL unit that makes sense is enough, whatever SEI says before it.
  @Test func messagesBeforeTheStreamDoNotCount() throws {
    var builder = StreamBuilder()
    for _ in 0..<100 { builder.unit(0x06, [5, 16] + [UInt8](repeating: 0x61, count: 16) + [0x80]) }
    #expect(Self.problem(builder.bytes)?.code == .unrecognisedInput)
    builder.parameterSets()
    #expect(Self.problem(builder.bytes) == nil)
  }

  /// Pictures of MPEG-1 and MPEG-2 with slices of random data, without their sequence header; each
  /// `seed` gives other ones.
  private static func mpeg(_ version: Int, rows: UInt8, seed: UInt64) -> [UInt8] {
    var state = seed
    var bytes: [UInt8] = [0, 0, 1, 0xB8, 8, 0, 0, 0x40]
    for picture in 0..<40 {
      bytes += [0, 0, 1, 0, 0, UInt8(8 * (1 + picture % 3)) | 7, 0xFF, 0xF8]
      if version == 2 { bytes += [0, 0, 1, 0xB5, 0x8F, 0xFF, 0xF3, 0x41, 0x80] }
      for row in 1...rows {
        bytes += [0, 0, 1, row]
        for _ in 0..<60 {
          state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
          bytes.append(UInt8(truncatingIfNeeded: state >> 40) | 1)
        }
      }
    }
    return bytes
  }

  /// Slices that can be read as parameter sets, IDR slices and slices that refer to these.
  private static let disguised: [UInt8] = {
    var builder = StreamBuilder()
    let header: [UInt8] = [0, 0, 1, 0xB3, 0x16, 0x01, 0x20, 0x13, 0, 0, 1, 0xB8, 8, 0, 0, 0x40]
    for picture in 0..<50 {
      builder.raw([0, 0, 1, 0, 0, 0x0F, 0xFF, 0xF8, 0, 0, 1, 0xB5, 0x8F, 0xFF, 0xF3])
      builder.unit(0x07, StreamBuilder.payload(of: builder.sequence))
      builder.pps()
      builder.add(0, frameNum: picture % 16, lsb: 0, reference: false)
      builder.add(2, frameNum: 0, lsb: 0, idr: true) { $0.refIDC = 0 }
    }
    // pps() writes nal_ref_idc 3.
    return header
      + builder.bytes.indices.map { index in
        let isHeader = index >= 3 && builder.bytes[index - 3..<index] == [0, 0, 1]
        return isHeader && builder.bytes[index] == 0x68 ? 0x08 : builder.bytes[index]
      }
  }()

  @Test(arguments: [1, 2], [4, 9, 18, 36, 68] as [UInt8])
  func noOperationTakesOtherVideoForH264(version: Int, rows: UInt8) {
    for seed in 1...8 as ClosedRange<UInt64> {
      expectNotRecognised(Self.mpeg(version, rows: rows, seed: seed))
    }
  }

  @Test func noOperationIsDeceivedBySlicesThatLookLikeH264() {
    expectNotRecognised(Self.disguised)
    expectNotRecognised(Array(Self.disguised.dropFirst(8)))
  }

  private func expectNotRecognised(_ stream: [UInt8]) {
    #expect(Self.problem(stream)?.code == .unrecognisedInput)
    let refusal = #expect(throws: Problem.self) { try decode(stream) }
    #expect(refusal?.code == .unrecognisedInput)
  }

  @Test func otherVideoIsRefusedByName() {
    let beginnings: [[UInt8]] = [
      [0, 0, 1, 0xB3, 0x16, 1, 0x20, 0x13], [0, 0, 1, 0xB0, 1, 0, 0, 1],
      [0, 0, 1, 0, 0, 0, 1, 0x20, 0, 0xC4], [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1],
    ]
    for (beginning, name) in zip(beginnings, ["MPEG-2", "MPEG-4", "MPEG-4", "ELF"]) {
      #expect(Self.problem(beginning)?.detail.contains(name) == true)
      #expect(Self.problem(beginning)?.code == .unrecognisedInput)
    }
  }

  @Test func aStreamAfterOtherDataIsRecognised() throws {
    let json = try report([9, 0, 0, 1, 0xB6, 7, 0, 0, 1, 0, 3] + InspectReportTests.small)
    #expect(json["sps"]?.items.isEmpty == false)
  }

  /// Both operations say the same of every beginning.
  @Test func decodeRecognisesWhatInspectRecognises() {
    let stream = InspectFormTests.rich
    for start in 0..<stream.count {
      let rest = Array(stream[start...].prefix(700))
      var refusal: Problem?
      do throws(Problem) { _ = try decode(rest) } catch { refusal = error }
      let isRefused = refusal?.code == .unrecognisedInput
      #expect(isRefused == (Self.problem(rest)?.code == .unrecognisedInput), "from \(start)")
    }
  }

  static let otherData: [[UInt8]] = [
    [UInt8](repeating: 0, count: 5000), Array("No video at all.".utf8), h265, jpeg,
    [0, 0, 0, 1], [0, 0, 1, 0x67], [0xFF],
  ]

  @Test(arguments: otherData)
  func otherDataIsRefusedInEveryForm(stream: [UInt8]) {
    #expect(Self.problem(stream)?.code == .unrecognisedInput)
  }

  @Test func noDataAtAllIsAnotherProblem() {
    #expect(Self.problem([])?.code == .emptyBody)
  }

  @Test func aProblemNamesH265() {
    #expect(Self.problem(Self.h265)?.detail.contains("H.265") == true)
  }

  @Test func containersAreRefusedByName() {
    var packet: [UInt8] = [0x47, 0x40, 0x11, 0x10] + [UInt8](repeating: 0xFF, count: 184)
    packet.replaceSubrange(10..<18, with: [0, 0, 1, 0x67, 0x4D, 0x40, 0x1E, 0xE8])
    #expect(Self.problem(packet + packet + packet)?.detail.contains("transport") == true)
    #expect(Self.problem([0, 0, 1, 0xBA, 0x44])?.detail.contains("program") == true)
  }

  @Test func parameterSetsAloneAreReported() throws {
    var builder = StreamBuilder()
    builder.sps()
    let json = try report(builder.bytes)
    #expect(json["summary"]?["frame_count"]?.int == 0)
    #expect(json["summary"]?["width"]?.int == 64)
    #expect(json["nal_units"]?.items.first?["access_unit"] == .null)
    builder = StreamBuilder()
    builder.pps()
    #expect(try report(builder.bytes)["pps"]?.items.count == 1)
  }

  @Test func slicesAloneAreReported() throws {
    var builder = StreamBuilder()
    for index in 0..<4 { builder.add(0, frameNum: index, lsb: 2 * index) }
    let json = try report(builder.bytes)
    let units = try #require(json["access_units"]).items
    #expect(units.count == 4)
    #expect(units.allSatisfy { $0["frame_num"] == .null && $0["pic_order_cnt"] == .null })
    #expect(units.allSatisfy { $0["output_index"] == .null })
    #expect(json["summary"]?["frame_count"]?.int == 4)
    #expect(json["nal_units"]?.items.first?["slice"]?.text == "P")
    #expect(json["nal_units"]?.items.first?["slice_qp"] == .null)
  }

  @Test func aStreamThatBeginsAnywhereIsReported() throws {
    let whole = InspectReportTests.small
    for start in 1..<whole.count - 60 {
      let json = try report(Array(whole[start...]))
      #expect(json["source"]?["size"]?.int == whole.count - start)
    }
  }
}
