import H264
import Platform
import Testing

@testable import NaluService

@Suite struct ParameterSetRecordTests {
  private func units(_ stream: [UInt8]) -> [[UInt8]] { ContainerFilm.units(of: stream) }

  private func encoded(_ query: String) throws -> [UInt8] {
    try encode("width=64&height=48&preset=fast&" + query, movingPictures(64, 48, count: 3)).bytes
  }

  /// A change of profile under the same id: the record holds the first set of each kind.
  @Test(arguments: [("high", "baseline"), ("baseline", "high")])
  func theRecordSaysWhatTheSetInItSays(first: String, second: String) throws {
    let stream = try encoded("profile=\(first)") + encoded("profile=\(second)")
    let result = try remux("format=mp4", stream)
    let entry = try #require(BoxTree(result.bytes)["moov/trak/mdia/minf/stbl/stsd"])
    let start = try #require(entry.range(of: "avcC"))
    let record = (0..<entry.number(start - 8) - 8).map { UInt8(entry.number(start + $0, 1)) }
    let sps = try #require(units(stream).first { $0[0] & 31 == 7 })
    #expect(Array(record[1...3]) == Array(sps[1...3]))
    #expect(Array(record[8..<8 + sps.count]) == sps)
    // High has four bytes more, for chroma format and bit depths.
    let end = 8 + sps.count + 1 + 2 + (try #require(units(stream).first { $0[0] & 31 == 8 })).count
    #expect(record.count == end + (first == "high" ? 4 : 0))
  }

  @Test func severalSetsHaveTheHighestLevelAndTheFlagsOfAll() throws {
    var store = ParameterSetStore()
    for (id, profile, constraints, level) in [
      (0, 66, 0xC0, 30), (1, 77, 0x40, 41), (2, 77, 0x60, 21),
    ] {
      var sequence = StreamBuilder.Sequence()
      sequence.id = id
      sequence.profile = profile
      sequence.constraints = constraints
      sequence.level = level
      let unit = try #require(
        units(StreamBuilder.stream(sequence) { _ in }).first { $0[0] & 31 == 7 })
      let isKept = store.add(unit, keepsFirst: true)
      #expect(isKept)
    }
    let record = try #require(store.configuration)
    #expect(Array(record[1...3]) == [77, 0x40, 41])
    #expect(record[5] & 31 == 3)
  }

  /// Parameter sets that an access unit lacks follow those that it has.
  @Test(arguments: [
    ([9, 7, 5], [9, 7, 8, 5]), ([7, 6, 5], [7, 8, 6, 5]), ([6, 7, 5], [6, 7, 8, 5]),
    ([9, 8, 5], [9, 7, 8, 5]), ([5], [7, 8, 5]), ([9, 6, 5], [9, 7, 8, 6, 5]),
    ([7, 8, 5], [7, 8, 5]),
  ])
  func setsAreInOrder(types: [UInt8], expected: [UInt8]) throws {
    let stream = StreamBuilder.stream(StreamBuilder.Sequence()) { _ in }
    var store = ParameterSetStore()
    for unit in units(stream) { store.add(unit) }
    var builder = SampleBuilder(hasStartCodes: true, placement: .atKeyframes, parameterSets: store)
    let bytes = types.flatMap { type -> [UInt8] in
      let set = units(stream).first { $0[0] & 31 == type }
      return [0, 0, 0, 1] + (set ?? [type | 0x60, 0x88])
    }
    let built = builder.build(bytes, AccessUnitLayout.annexB(bytes.span), isKeyframe: true)
    let sample = try #require(built)
    #expect(units(sample).map { $0[0] & 31 } == expected)
  }
}
