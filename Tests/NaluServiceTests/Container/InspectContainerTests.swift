import NaluService
import Testing

@Suite struct InspectContainerTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let name: String
    let file: [UInt8]
    let format: String
    /// In order of decoding.
    var units = ContainerFilm.small.units
    /// Ticks between pictures, and the first picture's decoding and presentation.
    var step: Int?
    var firstPTS = 0
    var hasDTS = true
    /// NAL units lie in one piece in the file.
    var isWhole = true
    var testDescription: String { name }
  }

  static let cases: [Case] = {
    var late = MP4Builder()
    late.isMovieFirst = false
    late.chunkSize = 1
    late.hasLargeOffsets = true
    var edited = MP4Builder()
    edited.mediaTime = 512
    edited.lengthSize = 2
    var enhanced = FLVBuilder()
    enhanced.isEnhanced = true
    let film = ContainerFilm.small
    let bare = ContainerFilm.sample([film.sps, film.pps] + film.units, lengthSize: 2)
    return [
      Case(name: "avcc", file: bare, format: "avcc", units: [film.sps, film.pps] + film.units),
      Case(name: "mp4", file: MP4Builder().file, format: "mp4", step: 512, firstPTS: 512),
      Case(name: "mp4, moov last", file: late.file, format: "mp4", step: 512, firstPTS: 512),
      Case(name: "mp4, edited", file: edited.file, format: "mp4", step: 512),
      Case(
        name: "mp4, fragmented", file: MP4Builder().fragmented, format: "mp4", step: 512,
        firstPTS: 512),
      Case(name: "flv", file: FLVBuilder().file, format: "flv", step: 40, firstPTS: 40),
      Case(name: "flv, enhanced", file: enhanced.file, format: "flv", step: 40, firstPTS: 40),
    ] + transport + matroska
  }()

  static let transport: [Case] = [
    (188, 184, true), (192, 184, true), (204, 184, true), (188, 1, true), (188, 100, false),
  ].map { size, payload, hasTables in
    var builder = TransportBuilder()
    builder.packetSize = size
    builder.payloadSize = payload
    builder.hasTables = hasTables
    return Case(
      name: "mpegts, \(size), \(payload)", file: builder.file, format: "mpegts",
      units: builder.units, step: 3600, firstPTS: 93_600, isWhole: false)
  }

  static let matroska: [Case] = {
    var builders: [(String, MatroskaBuilder)] = [("plain", MatroskaBuilder())]
    func add(_ name: String, _ change: (inout MatroskaBuilder) -> Void) {
      var builder = MatroskaBuilder()
      change(&builder)
      builders.append((name, builder))
    }
    add("live") { $0.isLive = true }
    add("groups") { $0.hasGroups = true }
    add("void") { $0.hasVoid = true }
    add("xiph") { $0.lacing = .xiph }
    add("ebml") { $0.lacing = .ebml }
    add("stripped") { $0.stripped = 2 }
    add("byte stream") { $0.isByteStream = true }
    return builders.map { name, builder in
      let sets = [builder.film.sps, builder.film.pps]
      return Case(
        name: "matroska, \(name)", file: builder.file, format: "matroska",
        units: builder.isByteStream
          ? builder.film.pictures.flatMap { sets + $0.units } : builder.film.units,
        step: builder.lacing == .none ? 40 : nil, firstPTS: 1040, hasDTS: false)
    }
  }()

  @Test(arguments: cases)
  func everyUnitIsListedWhereItLies(input: Case) throws {
    let json = try report(input.file)
    #expect(json["source"]?["format"]?.text == input.format)
    let listed = try #require(json["nal_units"]).items
    #expect(listed.map { $0["size"]?.int } == input.units.map(\.count))
    for (record, unit) in zip(listed, input.units) {
      let offset = try #require(record["offset"]?.int)
      let count = input.isWhole ? unit.count : 1
      #expect(Array(input.file[offset..<offset + count]) == Array(unit[..<count]))
    }
    #expect(json["access_units"]?.items.count == 5)
    #expect(json["summary"]?["picture_types"]?["B"]?.int == 2)
    #expect(json["findings"] == .array([]))
    #expect(json["sps"]?.items.count == 1)
  }

  @Test(arguments: cases)
  func accessUnitsHaveTheTimesOfTheirSamples(input: Case) throws {
    let units = try #require(try report(input.file)["access_units"]).items
    guard let step = input.step else { return }
    let delays = ContainerFilm.small.pictures.map(\.delay)
    for (index, unit) in units.enumerated() {
      let shown = index + delays[index] - delays[0]
      #expect(unit["pts"]?.int == input.firstPTS + shown * step)
      let decoded = input.firstPTS + (index - delays[0]) * step
      #expect(unit["dts"]?.int == (input.hasDTS ? decoded : nil))
    }
  }

  @Test(arguments: cases, [1, 7, 64])
  func whereTheUploadIsCutMakesNoDifference(input: Case, blockSize: Int) throws {
    for format in InspectSettings.Format.allCases {
      var settings = InspectSettings()
      settings.format = format
      settings.include.insert(.sliceHeaders)
      #expect(
        try inspect(input.file, settings, blockSize: blockSize) == inspect(input.file, settings))
    }
  }

  @Test(arguments: cases)
  func aCutAnywhereIsAProblemOrAReport(input: Case) throws {
    for length in stride(from: 8, to: input.file.count, by: max(5, input.file.count / 150)) {
      do {
        let json = try report(Array(input.file[..<length]))
        #expect(json["source"]?["size"]?.int == length)
      } catch let problem as Problem {
        #expect([.unrecognisedInput, .noParameterSets].contains(problem.code))
      }
    }
  }

  @Test func parameterSetsOfARecordAreReportedAndUsed() throws {
    let json = try report(MP4Builder().file)
    let set = try #require(json["sps"]?.items.first)
    #expect(set["nal_unit"] == .null)
    #expect(set["in_band"]?.bool == false)
    let offset = try #require(set["offset"]?.int)
    #expect(Array(MP4Builder().file[offset...].prefix(4)) == Array(ContainerFilm.small.sps[..<4]))
    let record = try #require(json["source"]?["avcC"])
    #expect(record["configurationVersion"]?.int == 1)
    #expect(record["AVCProfileIndication"]?.int == 77)
    #expect(record["lengthSizeMinusOne"]?.int == 3)
    #expect(record["numOfSequenceParameterSets"]?.int == 1)
    #expect(record["sequenceParameterSetNALUnit"]?.items == [set["hex"]].compactMap { $0 })
    #expect(json["nal_units"]?.items.first?["start_code_size"] == .null)
    #expect(json["nal_units"]?.items.first?["length_size"]?.int == 4)
  }

  @Test func anMP4FileHasItsTrackAndBoxes() throws {
    var builder = MP4Builder()
    builder.mediaTime = 512
    builder.matrix = [0, 0x10000, 0, -0x10000, 0, 0, 0, 0, 0x4000_0000]
    let json = try report(builder.file)
    let track = try #require(json["source"]?["tracks"]?.items.first)
    #expect(track["codec"]?.text == "h264")
    #expect(track["codec_tag"]?.text == "avc1")
    #expect(track["language"]?.text == "eng")
    #expect(track["name"]?.text == "Film")
    #expect(track["rotation"]?.int == 90)
    #expect(track["time_base"]?.text == "1/12800")
    #expect(track["sample_count"]?.int == 5)
    #expect(track["average_frame_rate"]?.text == "25/1")
    #expect(track["edit_list"]?.items.first?["media_time"]?.int == 512)
    #expect(json["source"]?["major_brand"]?.text == "isom")
    #expect(json["summary"]?["duration_seconds"] == .number(0.2))
    let boxes = try #require(json["container"]?["boxes"]).items
    #expect(boxes.map { $0["type"]?.text } == ["ftyp", "moov", "mdat"])
    let movie = try #require(boxes[1]["children"]).items
    #expect(movie.map { $0["type"]?.text } == ["mvhd", "trak"])
    #expect(json["container"]?["truncated"]?.bool == false)
  }

  @Test func anFLVFileHasItsTagsAndMetadata() throws {
    let json = try report(FLVBuilder().file)
    let metadata = try #require(json["source"]?["onMetaData"])
    #expect(metadata["width"]?.int == 64)
    #expect(metadata["times"]?.items == [.number(0), .number(0.5)])
    #expect(metadata["a \"name\""]?.text == "Test")
    let tags = try #require(json["container"]?["tags"]).items
    #expect(tags.map { $0["type"]?.text } == ["script"] + [String](repeating: "video", count: 6))
    #expect(tags[1]["avc_packet_type"]?.text == "sequence_header")
    #expect(tags[3]["composition_time"]?.int == 120)
    #expect(tags[3]["timestamp"]?.int == 40)
    #expect(tags[3]["frame_type"]?.int == 2)
  }

  @Test func aTransportStreamHasItsProgramsAndClock() throws {
    let json = try report(TransportBuilder().file)
    let source = try #require(json["source"])
    let program = try #require(source["programs"]?.items.first)
    #expect(program["program_map_PID"]?.int == 0x20)
    #expect(program["PCR_PID"]?.int == 0x100)
    #expect(program["streams"]?.items.first?["stream_type"]?.int == 0x1B)
    let pid = try #require(source["pids"]?.items.first { $0["pid"]?.int == 0x100 })
    #expect(pid["pes_packet_count"]?.int == 5)
    #expect(pid["continuity_errors"]?.int == 0)
    #expect(pid["pcr"]?["count"]?.int == 5)
    #expect(pid["pcr"]?["first"]?.int == 81_000 * 300)
    #expect(source["pid_guessed"]?.bool == false)
  }

  @Test func aMatroskaFileHasItsTrackAndElements() throws {
    let json = try report(MatroskaBuilder().file)
    let track = try #require(json["source"]?["tracks"]?.items.first)
    #expect(track["codec_tag"]?.text == "V_MPEG4/ISO/AVC")
    #expect(track["language"]?.text == "ger")
    #expect(track["sample_count"]?.int == 5)
    #expect(json["source"]?["doc_type"]?.text == "matroska")
    #expect(json["source"]?["cue_point_count"]?.int == 1)
    let segment = try #require(json["container"]?["elements"]?.items.last)
    #expect(
      segment["children"]?.items.map { $0["name"]?.text } == [
        "Info", "Tracks", "Cluster", "Cluster", "Cluster", "Cues",
      ])
  }

  @Test func blockGroupsSayHowLongAPictureIsShown() throws {
    var builder = MatroskaBuilder()
    builder.hasGroups = true
    let units = try #require(try report(builder.file)["access_units"]).items
    #expect(units.map { $0["duration"]?.int } == [50, 50, 50, 50, 50])
  }

  @Test func lengthsAndParameterSetsCanBeGiven() throws {
    let film = ContainerFilm.small
    let bare = ContainerFilm.sample(film.units, lengthSize: 2)
    #expect(throws: Problem.self) { try report(bare) }
    let json = try report(bare) {
      $0.lengthPrefix.lengthSize = 2
      $0.lengthPrefix.configuration = film.record(lengthSize: 2)
    }
    #expect(json["source"]?["avcC"]?["lengthSizeMinusOne"]?.int == 1)
    #expect(json["summary"]?["width"]?.int == 64)
    #expect(json["nal_units"]?.items.count == 5)
    #expect(json["findings"] == .array([]))
  }

  @Test func lengthsCannotBeGivenForAContainer() {
    let problem = #expect(throws: Problem.self) {
      try report(MP4Builder().file) { $0.lengthPrefix.lengthSize = 4 }
    }
    #expect(problem?.code == .conflictingParameters)
    #expect(problem?.parameter == "nal_length_size")
  }

  @Test func rowsOfAContainerHaveLengthsAndTimes() throws {
    var settings = InspectSettings()
    settings.format = .csv
    let text = String(decoding: try inspect(MP4Builder().file, settings), as: UTF8.self)
    let rows = text.split(separator: "\n").map {
      $0.split(separator: ",", omittingEmptySubsequences: false)
    }
    #expect(rows.count == 6)
    #expect(rows[0].suffix(3) == ["length_size", "pts", "dts"])
    #expect(rows[1].suffix(3) == ["4", "512", "0"])
    #expect(rows[1][2] == "")
  }

  @Test func linesOfAContainerSayTheSameAsTheDocument() throws {
    let all = try lines(MP4Builder().file)
    let boxes = all.filter { $0["kind"]?.text == "box" }
    #expect(boxes.count { $0["depth"]?.int == 0 } == 3)
    #expect(boxes.contains { $0["type"]?.text == "avcC" && $0["depth"]?.int == 7 })
    #expect(all.contains { $0["kind"]?.text == "source" && $0["tracks"]?.items.count == 1 })
    #expect(all.count { $0["kind"]?.text == "access_unit" && $0["pts"] != nil } == 5)
  }

  @Test func theRecordOfABareStreamMustFitItsLengths() {
    let problem = #expect(throws: Problem.self) {
      let text = base64(ContainerFilm.small.record(lengthSize: 2))
      let values = try ParameterValues(
        [("nal_length_size", "4"), ("avcc", text)], table: MediaEndpoint.inspect.parameters)
      _ = try LengthPrefixSettings(values)
    }
    #expect(problem?.code == .conflictingParameters)
  }
}
