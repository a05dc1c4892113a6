import NaluService
import Testing

@Suite struct InspectFormTests {
  /// Something of everything: SEI, fields, redundant slices, a changed set, damage, zeros.
  static let rich = rich(sliceSize: 5000)

  /// The same with a first slice of that size.
  static func rich(sliceSize: Int) -> [UInt8] {
    var sequence = StreamBuilder.Sequence()
    sequence.isFrameOnly = false
    sequence.timing = (1, 50)
    var builder = StreamBuilder()
    builder.sequence = sequence
    builder.raw([0, 0])
    builder.delimiter()
    builder.parameterSets()
    builder.recoveryPoint(0)
    builder.add(2, frameNum: 0, lsb: 0, idr: true) { $0.size = sliceSize }
    builder.unit(0x06, [5, 20] + Array("0123456789abcdefHi!\0".utf8) + [0x80])
    builder.add(0, frameNum: 1, lsb: 8) { $0.structure = .top }
    builder.add(0, frameNum: 1, lsb: 9) { $0.structure = .bottom }
    builder.add(1, frameNum: 2, lsb: 4, reference: false) { $0.firstMb = 0 }
    builder.add(1, frameNum: 2, lsb: 4, reference: false) { $0.firstMb = 6 }
    builder.raw([0, 0, 0, 0])
    builder.unit(0x0C, [0xFF, 0, 0, 0, 0x80])
    builder.recoveryPoint(3)
    builder.add(0, frameNum: 2, lsb: 12) { $0.memoryManagement = [[1, 0], [5]] }
    builder.sequence.width = 6
    builder.sps()
    builder.unit(0x6E, [0x80, 0, 7, 0x80])
    builder.add(2, frameNum: 0, lsb: 0, idr: true) { $0.idrPicID = 1 }
    builder.raw([0, 0, 1, 0x16, 0, 0, 2, 0, 0, 0, 7, 0, 0, 1])
    builder.unit(0x0A, [])
    builder.raw([0, 0])
    return builder.bytes
  }

  @Test(arguments: InspectSettings.Format.allCases, InspectSettings.KeyframeRule.allCases)
  func theReportIsTheSameForChunksOfAnySize(
    format: InspectSettings.Format, rule: InspectSettings.KeyframeRule
  ) throws {
    var settings = InspectSettings()
    settings.format = format
    settings.keyframeRule = rule
    settings.include = Set(InspectSettings.Section.allCases)
    let whole = try inspect(Self.rich, settings)
    #expect(whole.count > 700)
    for size in [1, 2, 3, 7, 64, 65536] {
      #expect(try inspect(Self.rich, settings, blockSize: size) == whole)
    }
  }

  @Test func linesSayTheSameAsTheDocument() throws {
    let json = try report(Self.rich)
    let all = try lines(Self.rich)
    func objects(_ kind: String) -> [JSON] {
      all.filter { $0["kind"]?.text == kind }.map { line in
        guard case .object(var members) = line else { return line }
        members["kind"] = nil
        return .object(members)
      }
    }
    #expect(objects("nal_unit") == json["nal_units"]?.items)
    #expect(objects("finding") == json["findings"]?.items)
    #expect(objects("gop") == json["gops"]?.items)
    #expect(all.last?["kind"]?.text == "summary")
    #expect(objects("summary") == [json["summary"]].compactMap { $0 })
    #expect(objects("sps").map { $0["hex"] } == json["sps"]?.items.map { $0["hex"] })
    let units = objects("access_unit").sorted { ($0["index"]?.int ?? 0) < ($1["index"]?.int ?? 0) }
    #expect(units == json["access_units"]?.items)
  }

  @Test func linesTellRepeatsOfParameterSets() throws {
    let repeats = try lines(InspectReportTests.small).filter { $0["kind"]?.text == "repeat" }
    #expect(repeats.map { $0["of"]?.text } == ["sps", "pps"])
    #expect(repeats.map { $0["nal_unit"]?.int } == [5, 6])
    #expect(repeats.map { $0["first_nal_unit"]?.int } == [0, 1])
  }

  @Test func rowsHaveACellForEachColumn() throws {
    var settings = InspectSettings()
    settings.format = .csv
    let text = String(decoding: try inspect(InspectReportTests.small, settings), as: UTF8.self)
    let rows = text.split(separator: "\n").map {
      $0.split(separator: ",", omittingEmptySubsequences: false)
    }
    #expect(rows.count == 10)
    #expect(rows.allSatisfy { $0.count == 11 })
    #expect(rows[0].prefix(3) == ["index", "offset", "start_code_size"])
    #expect(
      rows[1].map(String.init) == [
        "0", "4", "4", "\(rows[1][3])", "3", "7", "SPS", "0", "false", "", "",
      ])
    #expect(rows[3].suffix(5) == ["IDR slice", "0", "true", "I", "26"])
  }

  @Test func onlyWantedSectionsAreThere() throws {
    for section in InspectSettings.Section.allCases {
      let json = try report(Self.rich) { $0.include = [section] }
      guard case .object(let members) = json else {
        Issue.record("not an object")
        continue
      }
      let expected: Set<String> =
        switch section {
        case .summary: ["summary"]
        case .parameterSets: ["sps", "pps", "subset_sps", "sps_extensions", "depth_parameter_sets"]
        case .nalUnits, .sliceHeaders, .sei: ["nal_units"]
        case .accessUnits: ["access_units"]
        case .gops: ["gops"]
        case .container: []
        case .findings: ["findings"]
        }
      #expect(Set(members.keys) == expected.union(["source"]))
    }
    let bare = try report(Self.rich) { $0.include = [.nalUnits] }
    #expect(bare["nal_units"]?.items.allSatisfy { $0["sei"] == nil } == true)
  }

  @Test func pagesThroughTheUnitsOfSomeTypes() throws {
    let all = try #require(try report(Self.rich)["nal_units"]).items
    let some = try #require(
      try report(Self.rich) {
        $0.nalUnitTypes = [1]
        $0.first = 1
        $0.limit = 2
      }["nal_units"]
    ).items
    let slices = all.filter { $0["nal_unit_type"]?.int == 1 }
    #expect(slices.count > 3)
    #expect(some == Array(slices[1...2]))
    #expect(try report(Self.rich) { $0.limit = 0 }["nal_units"] == .array([]))
    #expect(try report(Self.rich) { $0.first = .max }["nal_units"] == .array([]))
  }

  @Test func readsHeaderExtensions() throws {
    let units = try #require(try report(Self.rich)["nal_units"]).items
    let prefix = try #require(units.first { $0["nal_unit_type"]?.int == 14 })
    #expect(prefix["nal_unit_header_svc_extension"]?["idr_flag"]?.int == 0)
    #expect(prefix["nal_unit_header_svc_extension"]?["output_flag"]?.int == 1)
  }

  @Test func readsUnitsOfAFewElements() throws {
    var builder = StreamBuilder()
    builder.delimiter()
    builder.parameterSets()
    var partition = BitString()
    for value in [0, 2, 0] { partition.ue(value) }
    partition.u(10, 0)
    partition.u(1, 0)
    partition.se(0)
    partition.ue(5)
    builder.unit(0x22, partition.payload())
    var second = BitString()
    second.ue(5)
    builder.unit(0x23, second.payload())
    builder.unit(0x24, second.payload())
    // A reference of the base layer with store_ref_base_pic_flag and no marking.
    builder.unit(0x2E, [0x80, 0, 7, 0b1001_0000])
    builder.add(2, frameNum: 1, lsb: 2)
    let units = try #require(
      try report(builder.bytes) { $0.include.insert(.sliceHeaders) }["nal_units"]
    ).items
    #expect(units[0]["primary_pic_type"]?.int == 7)
    #expect(units[3]["slice_header"]?["slice_id"]?.int == 5)
    #expect(units[4]["slice_id"]?.int == 5)
    #expect(units[5]["slice_id"]?.int == 5)
    #expect(units[6]["store_ref_base_pic_flag"]?.int == 1)
    let plain = try #require(try report(builder.bytes)["nal_units"]).items
    #expect(plain[4]["slice_id"] == nil)
  }

  @Test func readsSEIMessages() throws {
    let units = try #require(try report(Self.rich)["nal_units"]).items
    let messages = units.flatMap { $0["sei"]?.items ?? [] }
    #expect(
      messages.map { $0["name"]?.text }
        == ["recovery_point", "user_data_unregistered", "recovery_point"])
    #expect(messages[0]["recovery_frame_cnt"]?.int == 0)
  }

  @Test func aReportOfManyUnitsIsRefused() {
    var settings = InspectSettings()
    settings.maxNALUnits = 5
    let problem = #expect(throws: Problem.self) { try inspect(Self.rich, settings) }
    #expect(problem?.code == .tooManyNALUnits)
    #expect(problem?.members == [.init("limit", 5)])
    #expect(problem?.detail.contains("ndjson and csv") == true)
    for format in [InspectSettings.Format.ndjson, .csv] {
      settings.format = format
      #expect(throws: Never.self) { try inspect(Self.rich, settings) }
    }
  }

  @Test func onlyWhatIsListedCountsAgainstTheLimit() throws {
    var settings = InspectSettings()
    settings.maxNALUnits = 2
    settings.include = [.summary, .parameterSets, .findings]
    #expect(throws: Never.self) { try inspect(Self.rich, settings) }
    settings.include = [.summary, .nalUnits]
    settings.limit = 2
    #expect(throws: Never.self) { try inspect(Self.rich, settings) }
    settings.limit = 3
    #expect(throws: Problem.self) { try inspect(Self.rich, settings) }
    settings.nalUnitTypes = [5]
    #expect(throws: Never.self) { try inspect(Self.rich, settings) }
    for section in [InspectSettings.Section.accessUnits, .gops] {
      settings.include = [section]
      let problem = #expect(throws: Problem.self) { try inspect(Self.rich, settings) }
      #expect(problem?.code == .tooManyNALUnits)
    }
  }

  @Test func aSummaryAloneSaysTheSame() throws {
    let whole = try report(Self.rich)
    let alone = try report(Self.rich) { $0.include = [.summary] }
    #expect(alone["summary"] == whole["summary"])
    #expect(alone["summary"] != nil)
  }

  @Test(arguments: [InspectSettings.Section.sei, .sliceHeaders])
  func whatIsWithinNALUnitsListsThem(section: InspectSettings.Section) throws {
    let units = try #require(
      try report(Self.rich) { $0.include = [section] }["nal_units"]
    ).items
    #expect(
      units == (try report(Self.rich) { $0.include = [section, .nalUnits] }["nal_units"])?.items)
    let details = section == .sei ? "sei" : "slice_header"
    #expect(units.contains { $0[details] != nil })
    #expect(try lines(Self.rich) { $0.include = [section] }.contains { $0[details] != nil })
  }
}
