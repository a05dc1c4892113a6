import NaluService
import Testing

/// Table A-1: what a stream may ask of a decoder of its level.
@Suite struct InspectLevelTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var element: String?
    var message: String
    var lowest: String
    var change: @Sendable (inout StreamBuilder.Sequence) -> Void

    init(
      _ element: String?, _ message: String, lowest: String,
      _ change: @escaping @Sendable (inout StreamBuilder.Sequence) -> Void
    ) {
      self.element = element
      self.message = message
      self.lowest = lowest
      self.change = change
    }

    var testDescription: String { message }
  }

  /// Level 1 allows 99 macroblocks in a frame, 1485 in a second, 396 in the decoded picture buffer,
  /// 64 kbit/s and a coded picture buffer of 175 kbit, of which a NAL unit stream may have 1.2 times
  /// as much.
  static let cases = [
    Case("pic_width_in_mbs_minus1", "A frame has 110 macroblocks", lowest: "1.1") {
      $0.width = 11
      $0.height = 10
      $0.maxNumRefFrames = 3
    },
    Case("pic_width_in_mbs_minus1", "One side of a frame has 29 macroblocks", lowest: "1.1") {
      $0.width = 29
      $0.height = 2
    },
    Case("pic_height_in_map_units_minus1", "One side of a frame has 30", lowest: "1.1") {
      $0.width = 2
      $0.height = 30
    },
    Case("time_scale", "There are 2970 macroblocks per second", lowest: "1.1") {
      $0.width = 11
      $0.height = 9
      $0.timing = (1, 60)
    },
    Case("max_num_ref_frames", "The decoded picture buffer needs 5 frames", lowest: "1.1") {
      $0.width = 11
      $0.height = 9
      $0.maxNumRefFrames = 5
    },
    Case("max_dec_frame_buffering", "The decoded picture buffer needs 6 frames", lowest: "1.1") {
      $0.width = 11
      $0.height = 9
      $0.restriction = (0, 6)
    },
    Case("bit_rate_value_minus1", "The HRD parameters allow 128000 bits", lowest: "1b") {
      $0.hrd = (128_000 / 64 - 1, 0)
    },
    Case("cpb_size_value_minus1", "The coded picture buffer has 400000 bits", lowest: "1b") {
      $0.hrd = (0, 400_000 / 16 - 1)
    },
  ]

  private func levelFindings(
    _ change: (inout StreamBuilder.Sequence) -> Void, sliceSize: Int = 20
  ) throws -> (findings: [JSON], summary: JSON?) {
    var sequence = StreamBuilder.Sequence()
    sequence.level = 10
    change(&sequence)
    let stream = StreamBuilder.stream(sequence) { stream in
      stream.add(2, frameNum: 0, lsb: 0, idr: true) { $0.size = sliceSize }
    }
    let json = try report(stream)
    let findings = try #require(json["findings"]).items
    return (findings.filter { $0["code"]?.text == "level-exceeded" }, json["summary"])
  }

  @Test(arguments: cases)
  func moreThanTheLevelAllowsIsFound(example: Case) throws {
    let (findings, summary) = try levelFindings(example.change)
    let finding = try #require(findings.first)
    #expect(findings.count == 1)
    #expect(finding["severity"]?.text == "error")
    #expect(finding["element"]?.text == example.element)
    let message = try #require(finding["message"]?.text)
    #expect(message.hasPrefix(example.message))
    #expect(message.hasSuffix("of level 1.0; level \(example.lowest) would do."))
    #expect(summary?["level"]?.text == "1.0")
    #expect(summary?["lowest_level"]?.text == example.lowest)
    // The level that would do, does.
    let level = try #require(["1b": 9, "1.1": 11][example.lowest])
    let (others, _) = try levelFindings { sequence in
      example.change(&sequence)
      sequence.level = level
      if level == 9 { sequence.profile = 100 }
    }
    #expect(others.isEmpty)
  }

  @Test func moreBitsThanTheLevelAllowsAreFoundWhenTheStreamHasEnded() throws {
    // A buffer of 210 000 bits and 76 800 bits per second at most, in a 25th of a second.
    let (findings, summary) = try levelFindings({ $0.timing = (1, 50) }, sliceSize: 30_000)
    let finding = try #require(findings.first)
    #expect(findings.count == 1)
    #expect(finding["element"] == .null)
    #expect(finding["nal_unit"] == .null)
    #expect(finding["message"]?.text?.contains("bits per second were measured") == true)
    #expect(summary?["lowest_level"]?.text == "1b")
    #expect(try levelFindings({ $0.timing = (1, 50) }, sliceSize: 26_000).findings.isEmpty)
  }

  @Test func anythingBeyondAllLevelsIsSaidToBe() throws {
    let (findings, summary) = try levelFindings {
      $0.width = 4000
      $0.height = 4000
      $0.maxNumRefFrames = 0
    }
    #expect(findings.count == 3)
    #expect(findings.allSatisfy { $0["message"]?.text?.hasSuffix("no level allows it.") == true })
    #expect(summary?["lowest_level"] == .null)
  }
}
