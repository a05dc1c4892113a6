/// A level: one line of table A-1.
package struct Level: Equatable, Sendable {
  /// `1.0` to `6.2`, and `1b`.
  package var name: String
  /// The level_idc that signals it; 9 for level 1b.
  package var idc: Int
  /// MaxMBPS: macroblocks per second.
  package var maxMbsPerSecond: Int
  /// MaxFS: macroblocks per frame.
  package var maxFrameSize: Int
  /// MaxDpbMbs: macroblocks in the decoded picture buffer.
  package var maxDpbMbs: Int
  /// MaxBR, in units of ``BitRateFactor``.
  package var maxBitRate: Int
  /// MaxCPB, in units of ``BitRateFactor``.
  package var maxCpbSize: Int
  /// MaxVmvR: vertical motion vectors lie in -maxVerticalMv to maxVerticalMv - 0.25 luma samples.
  package var maxVerticalMv: Int
  /// MinCR.
  package var minCompressionRatio: Int

  private init(
    _ name: String, _ idc: Int, _ maxMbsPerSecond: Int, _ maxFrameSize: Int, _ maxDpbMbs: Int,
    _ maxBitRate: Int, _ maxCpbSize: Int, _ maxVerticalMv: Int, _ minCompressionRatio: Int
  ) {
    self.name = name
    self.idc = idc
    self.maxMbsPerSecond = maxMbsPerSecond
    self.maxFrameSize = maxFrameSize
    self.maxDpbMbs = maxDpbMbs
    self.maxBitRate = maxBitRate
    self.maxCpbSize = maxCpbSize
    self.maxVerticalMv = maxVerticalMv
    self.minCompressionRatio = minCompressionRatio
  }

  package static let level1b = Level("1b", 9, 1485, 99, 396, 128, 350, 64, 2)

  /// Table A-1, lowest level first.
  package static let all = [
    Level("1.0", 10, 1485, 99, 396, 64, 175, 64, 2),
    level1b,
    Level("1.1", 11, 3000, 396, 900, 192, 500, 128, 2),
    Level("1.2", 12, 6000, 396, 2376, 384, 1000, 128, 2),
    Level("1.3", 13, 11880, 396, 2376, 768, 2000, 128, 2),
    Level("2.0", 20, 11880, 396, 2376, 2000, 2000, 128, 2),
    Level("2.1", 21, 19800, 792, 4752, 4000, 4000, 256, 2),
    Level("2.2", 22, 20250, 1620, 8100, 4000, 4000, 256, 2),
    Level("3.0", 30, 40500, 1620, 8100, 10000, 10000, 256, 2),
    Level("3.1", 31, 108_000, 3600, 18000, 14000, 14000, 512, 4),
    Level("3.2", 32, 216_000, 5120, 20480, 20000, 20000, 512, 4),
    Level("4.0", 40, 245_760, 8192, 32768, 20000, 25000, 512, 4),
    Level("4.1", 41, 245_760, 8192, 32768, 50000, 62500, 512, 2),
    Level("4.2", 42, 522_240, 8704, 34816, 50000, 62500, 512, 2),
    Level("5.0", 50, 589_824, 22080, 110_400, 135_000, 135_000, 512, 2),
    Level("5.1", 51, 983_040, 36864, 184_320, 240_000, 240_000, 512, 2),
    Level("5.2", 52, 2_073_600, 36864, 184_320, 240_000, 240_000, 512, 2),
    Level("6.0", 60, 4_177_920, 139_264, 696_320, 240_000, 240_000, 8192, 2),
    Level("6.1", 61, 8_355_840, 139_264, 696_320, 480_000, 480_000, 8192, 2),
    Level("6.2", 62, 16_711_680, 139_264, 696_320, 800_000, 800_000, 8192, 2),
  ]

  /// MaxDpbFrames for frames of this size (H.264 §A.3.1 item h).
  package func maxDpbFrames(frameSizeInMbs: Int) -> Int {
    min(maxDpbMbs / max(frameSizeInMbs, 1), 16)
  }
}

/// What MaxBR and MaxCPB are counted in, in bits (and bits per second): cpbBrVclFactor and
/// cpbBrNalFactor (tables A-2 and F-17; 1000 and 1200 for the profiles of §A.3.1).
package struct BitRateFactor: Equatable, Sendable {
  package var vcl: Int
  package var nal: Int

  package init(profileIDC: Int) {
    (vcl, nal) =
      switch profileIDC {
      case 100, 83, 86, 118, 128, 134, 135, 138, 139: (1250, 1500)
      case 110: (3000, 3600)
      case 122, 244, 44: (4000, 4800)
      default: (1000, 1200)
      }
  }
}
