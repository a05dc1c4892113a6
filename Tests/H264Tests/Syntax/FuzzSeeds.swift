import Glibc
import H264
import Testing

/// Where `Fuzz/run` wants the case tables as files.
private let seedFolder = getenv("NALU_FUZZ_SEEDS").map { String(cString: $0) }

@Suite struct FuzzSeeds {
  private let sequence = SequenceParameterSetFields(profile: 77, frameMbsOnly: false).rbsp
  private let subset = BitWriter { writer in
    SequenceParameterSetFields(profile: 83, picOrderCntType: 2).writeData(&writer)
    writer.u("1 10 1 01 1 1 0 0 0")
    writer.trailingBits()
  }.rbsp
  private let picture = PictureParameterSetFields(
    cabac: true, weightedPred: true, weightedBipred: 1, deblockingControl: true,
    redundantPictures: true
  ).rbsp
  private let slice = BitWriter { writer in
    writer.ue(0, 1, 0)
    for index in 0..<600 { writer.u(1, index % 3 == 0 ? 1 : 0) }
  }.rbsp
  private let sliceHeaders: [[UInt8]] = [
    [0x65], [0x41], [0x42], [0x74, 0x80, 0, 7], [0x74, 0x40, 0, 0x47], [0x75, 0x80, 1],
  ]

  /// The slice group tables, each in a picture parameter set.
  private var sliceGroups: [[UInt8]] {
    PictureParameterSetTests.sliceGroups.map { bits, _, _ in
      PictureParameterSetFields(
        sliceGroupCount: 3,
        sliceGroups: { writer in
          for bit in bits.bits { writer.u(1, Int(bit)) }
        }
      ).rbsp
    }
  }

  /// Inputs of ScanFuzz.
  private func scanSeeds() -> [[UInt8]] {
    let streams =
      StartCodeScannerTests.streams.map(\.0) + StartCodeScannerTests.violations.map(\.0)
    return streams.enumerated().map { index, stream in [UInt8(index), UInt8(7 * index)] + stream }
  }

  /// Inputs of SyntaxFuzz.
  private func syntaxSeeds() -> [[UInt8]] {
    func piece(_ bytes: [UInt8]) -> [UInt8] { [UInt8(bytes.count)] + bytes }
    var seeds = SequenceParameterSetCase.all.map { [0] + payload($0.hex) }
    seeds.append([1] + subset)
    seeds += sliceGroups.map { [2] + $0 }
    seeds += sliceHeaders.map { header in
      [3] + piece(sequence) + piece(subset) + piece(picture) + piece(header) + slice
    }
    for (type, body, _) in SEIMessageTests.payloads {
      seeds.append(
        [4] + piece(payload(SequenceParameterSetCase.all[6].hex)) + seiPayload([(type, body)]))
    }
    return seeds
  }

  /// Inputs of ReportFuzz: whole streams, with everything asked for, in each form by turns.
  private func reportSeeds() -> [[UInt8]] {
    let sets = unit([0x67], sequence) + unit([0x6F], subset) + unit([0x68], picture)
    var streams = SequenceParameterSetCase.all.map { set in
      [0, 0, 0, 1] + bytes(set.hex) + unit([0x68], picture) + unit([0x65], slice)
    }
    streams += sliceGroups.map { unit([0x67], sequence) + unit([0x68], $0) + unit([0x65], slice) }
    streams += sliceHeaders.map { sets + unit([0x65], slice) + unit($0, slice) }
    streams += SEIMessageTests.payloads.map { type, body, _ in
      [0, 0, 0, 1] + bytes(SequenceParameterSetCase.all[6].hex) + unit([0x68], picture)
        + unit([0x06], seiPayload([(type, body)])) + unit([0x65], slice)
    }
    return streams.enumerated().map { index, stream in
      [UInt8(index % 9), 0xFF, 0, 0, 0, 0, UInt8(index % 8), UInt8(truncatingIfNeeded: index)]
        + stream
    }
  }

  /// A NAL unit with its start code and emulation prevention.
  private func unit(_ header: [UInt8], _ rbsp: [UInt8]) -> [UInt8] {
    var unit: [UInt8] = [0, 0, 1] + header
    var zeros = 0
    for byte in rbsp {
      if zeros >= 2, byte <= 3 {
        unit.append(3)
        zeros = 0
      }
      unit.append(byte)
      zeros = byte == 0 ? zeros + 1 : 0
    }
    return unit
  }

  @Test(.enabled(if: seedFolder != nil, "Fuzz/run asks for it"))
  func writesFuzzSeeds() throws {
    let folder = try #require(seedFolder)
    for (target, seeds) in [
      ("ScanFuzz", scanSeeds()), ("SyntaxFuzz", syntaxSeeds()), ("ReportFuzz", reportSeeds()),
    ] {
      mkdir("\(folder)/\(target)", 0o755)
      for (index, seed) in seeds.enumerated() {
        let file = try #require(fopen("\(folder)/\(target)/\(index)", "wb"))
        #expect(fwrite(seed, 1, seed.count, file) == seed.count)
        fclose(file)
      }
    }
  }
}
