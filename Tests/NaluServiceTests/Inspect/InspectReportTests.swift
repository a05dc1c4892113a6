import NaluService
import Testing

@Suite struct InspectReportTests {
  /// I0 P4 B2 | I0 P2: two groups of pictures.
  static let small = StreamBuilder.stream { stream in
    stream.add(2, frameNum: 0, lsb: 0, idr: true)
    stream.add(0, frameNum: 1, lsb: 4)
    stream.add(1, frameNum: 2, lsb: 2, reference: false)
    stream.parameterSets()
    stream.add(2, frameNum: 0, lsb: 0, idr: true) { $0.idrPicID = 1 }
    stream.add(0, frameNum: 1, lsb: 2)
  }

  @Test func listsEveryNALUnitWhereItIs() throws {
    let units = try #require(try report(Self.small)["nal_units"]).items
    #expect(units.map { $0["nal_unit_type"]?.int } == [7, 8, 5, 1, 1, 7, 8, 5, 1])
    #expect(units.map { $0["index"]?.int } == Array(0..<9))
    #expect(units.map { $0["access_unit"]?.int } == [0, 0, 0, 1, 2, 3, 3, 3, 4])
    #expect(units.map { $0["keyframe"]?.bool ?? true }.firstIndex(of: true) == 2)
    #expect(units[0]["name"]?.text == "SPS")
    #expect(units[2]["name"]?.text == "IDR slice")
    #expect(units[2]["slice"]?.text == "I")
    #expect(units[2]["slice_qp"]?.int == 26)
    for unit in units {
      let offset = try #require(unit["offset"]?.int)
      let size = try #require(unit["size"]?.int)
      #expect(unit["start_code_size"]?.int == 4)
      #expect(Array(Self.small[offset - 4..<offset]) == [0, 0, 0, 1])
      let end = offset + size
      #expect(end == Self.small.count || Array(Self.small[end..<end + 4]) == [0, 0, 0, 1])
    }
  }

  @Test func tellsWhatBelongsToAnAccessUnit() throws {
    let json = try report(Self.small)
    let units = try #require(json["access_units"]).items
    #expect(units.map { $0["nal_unit"]?.int } == [0, 3, 4, 5, 8])
    #expect(units.map { $0["nal_unit_count"]?.int } == [3, 1, 1, 3, 1])
    #expect(units.map { $0["picture_type"]?.text } == ["I", "P", "B", "I", "P"])
    #expect(units.map { $0["frame_num"]?.int } == [0, 1, 2, 0, 1])
    #expect(units.map { $0["pic_order_cnt"]?.int } == [0, 4, 2, 0, 2])
    #expect(units.map { $0["output_index"]?.int } == [0, 2, 1, 3, 4])
    #expect(units.map { $0["is_reference"]?.bool } == [true, true, false, true, true])
    #expect(units.map { $0["keyframe"]?.bool } == [true, false, false, true, false])
    #expect(
      units.map { $0["random_access"] } == [.string("idr"), .null, .null, .string("idr"), .null])
    #expect(units[0]["offset"]?.int == 0)
    let sizes = units.compactMap { $0["size"]?.int }
    #expect(sizes.reduce(0, +) == Self.small.count)
  }

  @Test func groupsPicturesFromKeyframeToKeyframe() throws {
    let groups = try #require(try report(Self.small)["gops"]).items
    #expect(groups.map { $0["access_unit"]?.int } == [0, 3])
    #expect(groups.map { $0["length"]?.int } == [3, 2])
    #expect(groups.map { $0["pattern"]?.text } == ["IBP", "IP"])
    #expect(groups.map { $0["closed"]?.bool } == [true, true])
  }

  @Test func reportsAParameterSetOnceWithItsRepeats() throws {
    let json = try report(Self.small)
    let sps = try #require(json["sps"]).items
    #expect(sps.count == 1)
    #expect(sps[0]["nal_unit"]?.int == 0)
    #expect(sps[0]["repeats"]?.int == 1)
    #expect(sps[0]["hex"]?.text?.hasPrefix("674d00") == true)
    #expect(sps[0]["pic_width_in_mbs_minus1"]?.int == 3)
    #expect(sps[0]["derived"]?["coded_width"]?.int == 64)
    #expect(json["pps"]?.items.first?["repeats"]?.int == 1)
    #expect(json["subset_sps"] == .array([]))
  }

  @Test func sumsUp() throws {
    var sequence = StreamBuilder.Sequence()
    sequence.timing = (1, 4)
    let stream = StreamBuilder.stream(sequence) { stream in
      stream.add(2, frameNum: 0, lsb: 0, idr: true) { $0.size = 1000 }
      stream.add(0, frameNum: 1, lsb: 6) { $0.size = 200 }
      stream.add(1, frameNum: 2, lsb: 2, reference: false)
      stream.add(1, frameNum: 2, lsb: 4, reference: false)
    }
    let json = try report(stream)
    let summary = try #require(json["summary"])
    #expect(summary["nal_unit_count"]?.int == 6)
    #expect(summary["access_unit_count"]?.int == 4)
    #expect(summary["frame_count"]?.int == 4)
    #expect(summary["frame_rate"]?.text == "2/1")
    #expect(summary["duration_seconds"] == .number(2))
    #expect(summary["bit_rate"]?.int == 4 * stream.count)
    let sizes = try #require(json["access_units"]).items.compactMap { $0["size"]?.int }
    #expect(summary["peak_bit_rate"]?.int == 8 * (sizes[0] + sizes[1]))
    #expect(summary["codec"]?.text == "avc1.4D001E")
    #expect(summary["profile"]?.text == "Main")
    #expect(summary["entropy_coding"]?.text == "cavlc")
    #expect(summary["scan"]?.text == "progressive")
    #expect(summary["max_b_run"]?.int == 2)
    #expect(
      summary["picture_types"] == .object(["I": .number(1), "P": .number(1), "B": .number(2)]))
    #expect(
      summary["nal_unit_types"]
        == .object(["1": .number(3), "5": .number(1), "7": .number(1), "8": .number(1)]))
    #expect(summary["keyframe_count"]?.int == 1)
    #expect(summary["keyframe_rule"]?.text == "recovery_point")
    #expect(json["source"]?["size"]?.int == stream.count)
  }

  @Test func theMeanBitRateIsThatOfTheWholeInput() throws {
    var sequence = StreamBuilder.Sequence()
    sequence.timing = (1, 50)
    let stream =
      StreamBuilder.stream(sequence) { stream in
        stream.add(2, frameNum: 0, lsb: 0, idr: true)
        stream.raw([UInt8](repeating: 0, count: 500))
        stream.add(0, frameNum: 1, lsb: 2)
      } + [UInt8](repeating: 0, count: 700)
    let json = try report(stream)
    #expect(json["source"]?["trailing_zero_bytes"]?.int == 1200)
    #expect(json["summary"]?["bit_rate"]?.int == stream.count * 8 * 25 / 2)
  }

  @Test func writesTheDecoderConfiguration() throws {
    var sequence = StreamBuilder.Sequence()
    sequence.profile = 100
    let stream = StreamBuilder.stream(sequence) { $0.add(2, frameNum: 0, lsb: 0, idr: true) }
    let json = try report(stream)
    let sps = try #require(json["sps"]?.items.first?["hex"]?.text)
    let pps = try #require(json["pps"]?.items.first?["hex"]?.text)
    func length(_ hex: String) -> String {
      let digits = String(hex.count / 2, radix: 16)
      return String(repeating: "0", count: 4 - digits.count) + digits
    }
    let record = "0164001effe1" + length(sps) + sps + "01" + length(pps) + pps + "fdf8f800"
    let avcc = try #require(json["summary"]?["avcc"]?.text)
    #expect(hex(ofBase64: avcc) == record)
    let sprop = try #require(json["summary"]?["sprop_parameter_sets"]?.text)
    #expect(sprop.split(separator: ",").map { hex(ofBase64: String($0)) } == [sps, pps])
  }

  @Test func readsSliceHeadersWhenAsked() throws {
    let json = try report(Self.small) { $0.include.insert(.sliceHeaders) }
    let header = try #require(json["nal_units"]?.items[3]["slice_header"])
    #expect(header["slice_type"]?.int == 0)
    #expect(header["frame_num"]?.int == 1)
    #expect(header["pic_order_cnt_lsb"]?.int == 4)
    #expect(try report(Self.small)["nal_units"]?.items[3]["slice_header"] == nil)
  }

  @Test func joinsTheFieldsOfAFrame() throws {
    var sequence = StreamBuilder.Sequence()
    sequence.isFrameOnly = false
    let stream = StreamBuilder.stream(sequence) { stream in
      stream.add(2, frameNum: 0, lsb: 0, idr: true) { $0.structure = .top }
      stream.add(0, frameNum: 0, lsb: 1) { $0.structure = .bottom }
      stream.add(0, frameNum: 1, lsb: 2) { $0.structure = .top }
      stream.add(0, frameNum: 1, lsb: 3) { $0.structure = .bottom }
      stream.add(0, frameNum: 2, lsb: 4) { $0.structure = .top }
    }
    let json = try report(stream)
    let units = try #require(json["access_units"]).items
    #expect(units.map { $0["frame_index"]?.int } == [0, 0, 1, 1, 2])
    #expect(units.map { $0["output_index"]?.int } == [0, 0, 1, 1, 2])
    #expect(units.map { $0["keyframe"]?.bool } == [true, false, false, false, false])
    #expect(
      units.map { $0["picture_structure"]?.text }
        == ["top_field", "bottom_field", "top_field", "bottom_field", "top_field"])
    #expect(json["summary"]?["frame_count"]?.int == 3)
    #expect(json["summary"]?["idr_count"]?.int == 1)
    #expect(json["summary"]?["scan"]?.text == "paff")
    #expect(json["summary"]?["picture_types"]?["I"]?.int == 1)
    #expect(json["gops"]?.items.first?["pattern"]?.text == "IPP")
  }

  private func hex(ofBase64 text: String) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    let bits = text.filter { $0 != "=" }.flatMap { character in
      let value = alphabet.firstIndex(of: character) ?? 0
      return (0..<6).map { value >> (5 - $0) & 1 }
    }
    return stride(from: 0, through: bits.count - 8, by: 8).map { start in
      let byte = bits[start..<start + 8].reduce(0) { $0 << 1 | $1 }
      return (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
  }
}
