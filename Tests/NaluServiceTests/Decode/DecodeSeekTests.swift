import Codec
import Testing

@testable import NaluService

/// A frame is the same whether everything before it was decoded or only what it needs.
@Suite struct DecodeSeekTests {
  enum Kind: CaseIterable {
    case closed, open, refresh, pyramid, fields, baseline

    var settings: EncodeSettings {
      var settings = EncodeSettings()
      settings.width = 64
      settings.height = 48
      settings.gop = 10
      switch self {
      case .closed: settings.bframes = 2
      case .open:
        settings.openGOP = true
        settings.bframes = 2
      case .refresh:
        settings.intraRefresh = true
        settings.bframes = 0
      case .pyramid: settings.bframes = 5
      case .fields: settings.interlacing = .tff
      case .baseline: settings.profile = .baseline
      }
      return settings
    }
  }

  /// The lines of frames, without the header.
  private func lines(_ stream: [UInt8], _ frames: String) throws -> [Substring] {
    let decoded = try decode(
      stream, decodeSettings(["format": "framemd5", "frames": .init(frames)]))
    return String(decoding: decoded.bytes, as: UTF8.self).split(separator: "\n")
      .filter { !$0.hasPrefix("#") }
  }

  @Test(arguments: Kind.allCases)
  func aSelectionGivesTheFramesOfTheWhole(kind: Kind) throws {
    let stream = try encoded(frames: 45, kind.settings)
    let whole = try lines(stream, "all")
    #expect(whole.count == 45)
    #expect(Set(whole.map { $0.suffix(32) }).count > 30)
    for number in [0, 1, 9, 10, 11, 13, 19, 20, 22, 30, 40, 41, 43] {
      #expect(try lines(stream, "\(number)") == [whole[number]])
    }
    #expect(try lines(stream, "last") == [whole[44]])
    #expect(try lines(stream, "every:7") == stride(from: 0, to: 45, by: 7).map { whole[$0] })
    #expect(try lines(stream, "3,8-12,31,44") == [3, 8, 9, 10, 11, 12, 31, 44].map { whole[$0] })
    #expect(try lines(stream, "t:0.52") == [whole[13]])
    let keyframes = try lines(stream, "keyframes")
    #expect(keyframes.allSatisfy(whole.contains))
    #expect(keyframes.first == whole[0])
    #expect(keyframes.count == (kind == .refresh ? 1 : 5))
  }

  /// Of a long stream, only what is needed is decoded.
  @Test func keyframesAloneAreDecodedForKeyframes() throws {
    let stream = try encoded(frames: 45, Kind.closed.settings)
    // All but the keyframes are damaged beyond recognition.
    var damaged = stream
    for unit in NALUnits(stream).units where stream[unit.lowerBound] & 31 == 1 {
      for index in unit.dropFirst(12) { damaged[index] = 0xFF }
    }
    #expect(try lines(damaged, "keyframes") == lines(stream, "keyframes"))
    let decoded = try decode(damaged, decodeSettings(["format": "yuv", "frames": "keyframes"]))
    #expect(decoded.trailer("Nalu-Decode-Errors") == "0")
  }
}

/// The NAL units of a stream, by the simplest search there is.
private struct NALUnits {
  var units: [Range<Int>] = []

  init(_ stream: [UInt8]) {
    var starts: [Int] = []
    for index in 2..<stream.count - 1
    where stream[index] == 1 && stream[index - 1] == 0 && stream[index - 2] == 0 {
      starts.append(index + 1)
    }
    for (start, next) in zip(starts, starts.dropFirst() + [stream.count + 4]) {
      units.append(start..<next - 4)
    }
  }
}
