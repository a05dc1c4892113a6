import H264
import Testing

@Suite struct SequenceParameterSetDerivedTests {
  /// chroma_format_idc, separate planes, frame_mbs_only, and the luma samples of one crop offset
  /// (equations 7-19 to 7-22 with table 6-1).
  @Test(
    arguments: [
      (0, false, true, 1, 1), (0, false, false, 1, 2), (1, false, true, 2, 2),
      (1, false, false, 2, 4), (2, false, true, 2, 1), (2, false, false, 2, 2),
      (3, false, true, 1, 1), (3, false, false, 1, 2), (3, true, true, 1, 1),
      (3, true, false, 1, 2),
    ])
  func cropUnitsFollowTheChromaFormat(
    chroma: Int, separate: Bool, frames: Bool, unitX: Int, unitY: Int
  ) throws {
    let set = try SequenceParameterSetFields(
      profile: 244, chromaFormat: chroma, separatePlanes: separate, widthInMbs: 4,
      heightInMapUnits: 4, frameMbsOnly: frames, crop: [1, 2, 3, 4]
    ).parsed
    let height = frames ? 64 : 128
    #expect(set.codedSize == (64, height))
    #expect((set.crop.left, set.crop.right) == (unitX, 2 * unitX))
    #expect((set.crop.top, set.crop.bottom) == (3 * unitY, 4 * unitY))
    let size = try #require(set.displaySize)
    #expect(size == (64 - 3 * unitX, height - 7 * unitY))
    #expect(set.chromaArrayType == (separate ? 0 : chroma))
    #expect(set.chromaFormatName == ["4:0:0", "4:2:0", "4:2:2", "4:4:4"][chroma])
  }

  @Test(arguments: [[0, 160, 0, 0], [80, 80, 0, 0], [0, 0, 0, 120], [0xFFFF_FFFE, 1, 1, 1]])
  func croppingThatLeavesNothingHasNoSize(crop: [Int]) throws {
    #expect(try SequenceParameterSetFields(crop: crop).parsed.displaySize == nil)
  }

  @Test func hugePictureIsReadAndCostsNothing() throws {
    let set = try SequenceParameterSetFields(widthInMbs: 65536, heightInMapUnits: 65536).parsed
    #expect(set.codedSize == (1_048_576, 1_048_576))
    #expect(set.maxDpbFrames == 0)
    let largest = try SequenceParameterSetFields(
      widthInMbs: 1 << 24, heightInMapUnits: 1 << 24, frameMbsOnly: false
    ).parsed
    #expect(largest.codedSize.width * largest.codedSize.height == 1 << 57)
    #expect(throws: SyntaxError.self) {
      try SequenceParameterSetFields(widthInMbs: 1 << 24 + 1).parsed
    }
  }

  /// profile_idc, constraint flags, name.
  @Test(
    arguments: [
      (66, 0, "Baseline"), (66, 0x40, "Constrained Baseline"), (66, 0xC0, "Constrained Baseline"),
      (77, 0x40, "Main"), (88, 0, "Extended"), (100, 0, "High"), (100, 8, "Progressive High"),
      (100, 12, "Constrained High"), (110, 0, "High 10"), (110, 0x10, "High 10 Intra"),
      (122, 0, "High 4:2:2"), (122, 0x10, "High 4:2:2 Intra"), (244, 0, "High 4:4:4 Predictive"),
      (244, 0x10, "High 4:4:4 Intra"), (44, 0x10, "CAVLC 4:4:4 Intra"),
      (83, 0, "Scalable Baseline"),
      (83, 4, "Scalable Constrained Baseline"), (86, 0, "Scalable High"),
      (86, 0x10, "Scalable High Intra"), (118, 0, "Multiview High"), (128, 0, "Stereo High"),
      (134, 0, "MFC High"), (138, 0, "Multiview Depth High"),
      (139, 0, "Enhanced Multiview Depth High"), (99, 0, nil),
    ] as [(Int, Int, String?)])
  func namesProfiles(profile: Int, constraints: Int, name: String?) {
    var set = SequenceParameterSet()
    set.profileIDC = profile
    set.constraintFlags = constraints
    #expect(set.profileName == name)
  }

  /// profile_idc, constraint flags, level_idc, name, and frames of 176x144 that the buffer holds.
  @Test(
    arguments: [
      (66, 0, 10, "1.0", 4), (66, 0x10, 11, "1b", 4), (77, 0x10, 11, "1b", 4),
      (88, 0x10, 11, "1b", 4), (66, 0, 11, "1.1", 9), (100, 0x10, 11, "1.1", 9),
      (100, 0, 9, "1b", 4),
      (100, 0, 13, "1.3", 16), (100, 0, 40, "4.0", 16), (100, 0, 62, "6.2", 16),
      (100, 0, 255, "25.5", nil),
    ] as [(Int, Int, Int, String, Int?)])
  func namesLevels(profile: Int, constraints: Int, level: Int, name: String, frames: Int?) throws {
    let set = try SequenceParameterSetFields(
      profile: profile, constraints: constraints, level: level, widthInMbs: 11, heightInMapUnits: 9
    ).parsed
    #expect(set.levelName == name)
    #expect(set.maxDpbFrames == frames)
  }

  /// Level and size in macroblocks, and MaxDpbFrames by §A.3.1.
  @Test(
    arguments: [
      (13, 20, 15, 7), (30, 45, 36, 5), (31, 80, 45, 5), (40, 120, 68, 4), (41, 120, 68, 4),
      (51, 240, 135, 5), (52, 256, 135, 5),
    ])
  func countsFramesOfTheDecodedPictureBuffer(level: Int, width: Int, height: Int, frames: Int)
    throws
  {
    let set = try SequenceParameterSetFields(
      level: level, widthInMbs: width, heightInMapUnits: height
    ).parsed
    #expect(set.maxDpbFrames == frames)
  }

  @Test func levelsAreInAscendingOrder() {
    for (lower, higher) in zip(Level.all, Level.all.dropFirst()) {
      #expect(lower.maxMbsPerSecond <= higher.maxMbsPerSecond)
      #expect(lower.maxFrameSize <= higher.maxFrameSize)
      #expect(lower.maxDpbMbs <= higher.maxDpbMbs)
      #expect(lower.maxBitRate <= higher.maxBitRate)
    }
  }

  /// aspect_ratio_idc, sar_width, sar_height, and the ratio (table E-1).
  @Test(
    arguments: [
      (0, 0, 0, nil), (1, 0, 0, [1, 1]), (2, 0, 0, [12, 11]), (13, 0, 0, [160, 99]),
      (14, 0, 0, [4, 3]), (16, 0, 0, [2, 1]), (17, 0, 0, nil), (255, 64, 48, [4, 3]),
      (255, 0, 48, nil), (255, 3, 0, nil),
    ] as [(Int, Int, Int, [Int]?)])
  func readsTheSampleAspectRatio(idc: Int, width: Int, height: Int, ratio: [Int]?) throws {
    let set = try SequenceParameterSetFields(vui: { writer in
      writer.u("1")
      writer.u(8, idc)
      if idc == 255 {
        writer.u(16, width)
        writer.u(16, height)
      }
      writer.u("0000 000 0")
    }).parsed
    #expect(set.sampleAspectRatio == ratio.map { Ratio($0[0], $0[1]) })
  }

  /// num_units_in_tick, time_scale, frame rate.
  @Test(
    arguments: [
      (1, 50, [25, 1]), (1001, 60000, [30000, 1001]), (1001, 48000, [24000, 1001]), (0, 50, nil),
      (1, 0, nil), (0xFFFF_FFFF, 0xFFFF_FFFF, [1, 2]),
    ] as [(Int, Int, [Int]?)])
  func computesTheFrameRate(units: Int, scale: Int, rate: [Int]?) throws {
    let (set, issues, _) = try parseSequenceParameterSet(
      SequenceParameterSetFields(vui: { writer in
        writer.u("0000 1")
        writer.u(32, units)
        writer.u(32, scale)
        writer.u("0 00 0 0")
      }).rbsp)
    #expect(set.frameRate == rate.map { Ratio($0[0], $0[1]) })
    #expect(issues.isEmpty == (units > 0 && scale > 0))
  }
}

@Suite struct HostileSequenceParameterSetTests {
  @Test func brokenVUIKeepsTheRestOfTheSet() throws {
    let rbsp = SequenceParameterSetFields(vui: { $0.u("0000 1 0000 0001") }).rbsp
    let (set, issues, record) = try parseSequenceParameterSet(rbsp)
    #expect(set.displaySize?.width == 320)
    #expect(issues.map(\.reason) == [.truncated])
    #expect(issues.first?.element == "num_units_in_tick")
    #expect(record.hasSuffix("timing_info_present_flag:1}"))
  }

  @Test func tooManySchedulesEndTheVUI() throws {
    let rbsp = SequenceParameterSetFields(vui: { writer in
      writer.u("00000 1")
      writer.ue(32)
      writer.u(32, 0)
    }).rbsp
    let (_, issues, _) = try parseSequenceParameterSet(rbsp)
    #expect(issues.map(\.element) == ["cpb_cnt_minus1"])
    #expect(issues.map(\.reason) == [.outOfRange(32)])
  }

  @Test func illegalValuesAreIssuesAndTheRestIsRead() throws {
    let (set, issues, _) = try parseSequenceParameterSet(
      SequenceParameterSetFields(
        constraints: 3, level: 14, chromaFormat: 7, bitDepthLuma: 40, log2MaxFrameNum: 20,
        maxNumRefFrames: 99
      ).rbsp)
    #expect(set.maxNumRefFrames == 99)
    #expect(set.displaySize?.width == 320)
    #expect(
      issues.map(\.element) == [
        "reserved_zero_2bits", "level_idc", "chroma_format_idc", "bit_depth_luma_minus8",
        "bit_depth_chroma_minus8", "log2_max_frame_num_minus4", "max_num_ref_frames",
      ])
  }

  @Test(arguments: [0, 1, 255])
  func offsetsForReferenceFramesAreRead(count: Int) throws {
    let offsets = (0..<count).map { $0 * 1000 - 500 }
    let (set, issues, record) = try parseSequenceParameterSet(
      SequenceParameterSetFields(picOrderCntType: 1, offsetsForRefFrame: offsets).rbsp)
    #expect(issues == [])
    #expect(set.offsetForRefFrame == offsets)
    #expect(set.offsetForNonRefPic == -3)
    #expect(set.offsetForTopToBottomField == 5)
    #expect(record.contains("num_ref_frames_in_pic_order_cnt_cycle:\(count),"))
    #expect(record.contains("offset_for_ref_frame:[") == (count > 0))
  }

  @Test func moreThan255OffsetsAreRefused() {
    let fields = SequenceParameterSetFields(
      picOrderCntType: 1, offsetsForRefFrame: [Int](repeating: 0, count: 256))
    #expect(throws: SyntaxError.self) { try fields.parsed }
  }
}

@Suite struct BitRateFactorTests {
  /// profile_idc, cpbBrVclFactor and cpbBrNalFactor.
  @Test(
    arguments: [
      (66, 1000, 1200), (77, 1000, 1200), (88, 1000, 1200), (100, 1250, 1500), (110, 3000, 3600),
      (122, 4000, 4800), (244, 4000, 4800), (44, 4000, 4800), (83, 1250, 1500), (118, 1250, 1500),
    ])
  func followsTheProfile(profile: Int, vcl: Int, nal: Int) {
    let factor = BitRateFactor(profileIDC: profile)
    #expect((factor.vcl, factor.nal) == (vcl, nal))
  }
}
