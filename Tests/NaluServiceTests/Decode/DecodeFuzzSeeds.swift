import Glibc
import Testing

@testable import NaluService

/// Where `Fuzz/run` wants streams as files.
private let seedFolder = getenv("NALU_FUZZ_SEEDS").map { String(cString: $0) }

@Suite struct DecodeFuzzSeeds {
  /// Small streams of different kinds; with every fifth value of the byte that chooses the settings.
  private func streams() throws -> [[UInt8]] {
    var streams: [[UInt8]] = []
    for (profile, chroma, depth) in [(66, 1, 8), (100, 0, 8), (122, 2, 10), (244, 3, 14)] {
      let format = PCMStream(
        profile: profile, chromaFormatIDC: chroma, bitDepth: depth, widthInMbs: 2)
      var bytes = format.parameterSets + format.flat(.idr(id: 0), value: 60)
      bytes += PCMStream.recoveryPoint(0)
      bytes += format.flat(.intra, frameNum: 1, order: 4, value: 70)
      bytes += format.flat(.predicted, frameNum: 2, order: 2, isReference: false, value: 80)
      streams.append(bytes)
    }
    for interlacing in [EncodeSettings.Interlacing.no, .tff] {
      var settings = EncodeSettings()
      settings.width = 64
      settings.height = 48
      settings.gop = 4
      settings.interlacing = interlacing
      settings.slices = 2
      streams.append(try encoded(frames: 9, settings))
    }
    return streams
  }

  /// The same pictures in every container, with sound in one; they are taken apart by both targets.
  private func files() throws -> [[UInt8]] {
    var files: [[UInt8]] = []
    for format in ContainerFile.formats {
      files.append(try ContainerFile.make(format, frames: 6))
    }
    var tags = FLVTags(try ContainerFile.make(.flv, frames: 6))
    tags.addSound(count: 10)
    return files + [tags.bytes]
  }

  private func write(_ inputs: [[UInt8]], to name: String) throws {
    let folder = try #require(seedFolder) + "/\(name)"
    mkdir(folder, 0o755)
    for (index, input) in inputs.enumerated() {
      for choice in stride(from: 0, to: 256, by: 15) {
        let seed = [UInt8(choice)] + input
        let file = try #require(fopen("\(folder)/\(index)-\(choice)", "wb"))
        #expect(fwrite(seed, 1, seed.count, file) == seed.count)
        fclose(file)
      }
    }
  }

  @Test(.enabled(if: seedFolder != nil, "Fuzz/run asks for it"))
  func writesFuzzSeedsOfDecode() throws {
    try write(streams() + files(), to: "DecodeFuzz")
    try write(files(), to: "TranscodeFuzz")
  }
}
