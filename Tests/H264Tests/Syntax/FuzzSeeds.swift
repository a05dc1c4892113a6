import Glibc
import H264
import Testing

/// Where `Fuzz/run` wants the case tables as files.
private let seedFolder = getenv("NALU_FUZZ_SEEDS").map { String(cString: $0) }

@Suite struct FuzzSeeds {
  /// The inputs of SyntaxFuzz that the case tables give.
  private func syntaxSeeds() -> [[UInt8]] {
    let fields = SequenceParameterSetFields(profile: 77, frameMbsOnly: false)
    let sequence = fields.rbsp
    let subset = BitWriter { writer in
      SequenceParameterSetFields(profile: 83, picOrderCntType: 2).writeData(&writer)
      writer.u("1 10 1 01 1 1 0 0 0")
      writer.trailingBits()
    }.rbsp
    let picture = PictureParameterSetFields(
      cabac: true, weightedPred: true, weightedBipred: 1, deblockingControl: true,
      redundantPictures: true
    ).rbsp
    let slice = BitWriter { writer in
      writer.ue(0, 1, 0)
      for index in 0..<600 { writer.u(1, index % 3 == 0 ? 1 : 0) }
    }.rbsp
    func piece(_ bytes: [UInt8]) -> [UInt8] { [UInt8(bytes.count)] + bytes }

    var seeds = SequenceParameterSetCase.all.map { [0] + payload($0.hex) }
    seeds.append([1] + subset)
    for (bits, _, _) in PictureParameterSetTests.sliceGroups {
      let fields = PictureParameterSetFields(
        sliceGroupCount: 3,
        sliceGroups: { writer in
          for bit in bits.bits { writer.u(1, Int(bit)) }
        })
      seeds.append([2] + fields.rbsp)
    }
    for unit in [
      [0x65], [0x41], [0x42], [0x74, 0x80, 0, 7], [0x74, 0x40, 0, 0x47], [0x75, 0x80, 1],
    ] {
      seeds.append(
        [3] + piece(sequence) + piece(subset) + piece(picture) + piece(unit.map { UInt8($0) })
          + slice)
    }
    for (type, body, _) in SEIMessageTests.payloads {
      seeds.append(
        [4] + piece(payload(SequenceParameterSetCase.all[6].hex)) + seiPayload([(type, body)]))
    }
    return seeds
  }

  @Test(.enabled(if: seedFolder != nil, "Fuzz/run asks for it"))
  func writesFuzzSeeds() throws {
    let folder = try #require(seedFolder) + "/SyntaxFuzz"
    mkdir(folder, 0o755)
    for (index, seed) in syntaxSeeds().enumerated() {
      let file = try #require(fopen("\(folder)/\(index)", "wb"))
      #expect(fwrite(seed, 1, seed.count, file) == seed.count)
      fclose(file)
    }
  }
}
