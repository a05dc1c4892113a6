import Testing

@testable import NaluService

/// What the content says and what the sender says of it.
@Suite struct InputFormTests {
  private static let units: [[UInt8]] = ContainerFilm.units(
    of: StreamBuilder.stream { stream in
      stream.add(2, frameNum: 0, lsb: 0, idr: true)
      stream.add(0, frameNum: 1, lsb: 2)
      stream.add(0, frameNum: 2, lsb: 4)
    })
  private static let byteStream: [UInt8] = units.flatMap { [0, 0, 0, 1] + $0 }
  private static let shortCodes: [UInt8] = units.flatMap { [0, 0, 1] + $0 }

  private func settings(_ lengthSize: Int, isByRecord: Bool = false) -> LengthPrefixSettings {
    var settings = LengthPrefixSettings()
    settings.lengthSize = lengthSize
    if isByRecord { settings.configuration = ContainerFilm.small.record(lengthSize: lengthSize) }
    return settings
  }

  static let contradictions: [(body: [UInt8], lengthSize: Int)] = [
    (byteStream, 4), (byteStream, 2), (byteStream, 1),
    ([0] + byteStream, 4), (shortCodes, 4),
    (ContainerFilm.sample(units, lengthSize: 4), 2),
    (ContainerFilm.sample(units, lengthSize: 2), 4),
    (MP4Builder().file, 4), (FLVBuilder().file, 4), (TransportBuilder().file, 4),
    (MatroskaBuilder().file, 1), (MatroskaBuilder().file, 4),
  ]

  @Test(arguments: contradictions, [false, true])
  func contradictionsAreRefusedAlikeEverywhere(
    contradiction: (body: [UInt8], lengthSize: Int), isByRecord: Bool
  ) {
    let (body, said) = (
      contradiction.body, settings(contradiction.lengthSize, isByRecord: isByRecord)
    )
    let inspected = #expect(throws: Problem.self) {
      try report(body) { $0.lengthPrefix = said }
    }
    var decoding = DecodeSettings()
    decoding.lengthPrefix = said
    let decoded = #expect(throws: Problem.self) { try decode(body, decoding) }
    #expect(decoded?.code == .conflictingParameters)
    #expect(decoded?.parameter == (isByRecord ? "avcc" : "nal_length_size"))
    #expect(inspected == decoded)
  }

  /// The length of the first unit is 0x123: its field looks like a start code.
  @Test func aLengthThatLooksLikeAStartCodeIsNone() throws {
    var units = Self.units
    units.insert([6, 5, 0xFF, 0x1F] + [UInt8](repeating: 0x55, count: 0x11E) + [0x80], at: 0)
    let body = ContainerFilm.sample(units)
    #expect(Array(body[..<4]) == [0, 0, 1, 0x23])
    let json = try report(body) { $0.lengthPrefix.lengthSize = 4 }
    #expect(json["source"]?["format"]?.text == "avcc")
    #expect(json["nal_units"]?.items.count == units.count)
  }

  /// Without parameter sets nothing tells what they are.
  @Test func bareSlicesPointToTheParameters() {
    let slices = ContainerFilm.sample(ContainerFilm.small.units)
    let unknown = #expect(throws: Problem.self) { try decode(slices) }
    #expect(unknown?.code == .unrecognisedInput)
    #expect(unknown?.detail.contains("nal_length_size or avcc") == true)
    #expect(throws: unknown ?? Problem(.internal, "")) { try report(slices) }
    var settings = DecodeSettings()
    settings.lengthPrefix.lengthSize = 4
    let incomplete = #expect(throws: Problem.self) { try decode(slices, settings) }
    #expect(incomplete?.code == .noParameterSets)
    #expect(incomplete?.detail.contains("avcc") == true)
  }

  @Test(arguments: [0, 1, 2, 5])
  func anEmptyUnitLosesNoReport(place: Int) throws {
    var units = Self.units
    units.insert([], at: place)
    let json = try report(ContainerFilm.sample(units))
    #expect(json["source"]?["format"]?.text == "avcc")
    #expect(json["findings"]?.items.compactMap { $0["code"]?.text } == ["empty-nal-unit"])
    #expect(json["summary"]?["frame_count"]?.int == 3)
  }
}
