/// Writes H.264 streams of I_PCM pictures: whatever samples a test wants come out of a decoder
/// exactly so, and every picture can be decoded alone.
struct PCMStream {
  var profile = 100
  var level = 40
  var chromaFormatIDC = 1
  var bitDepth = 8
  var widthInMbs = 1
  var heightInMbs = 1
  /// In crop units.
  var crop: (left: Int, right: Int, top: Int, bottom: Int)?
  var maxNumRefFrames = 4
  var gapsAllowed = false
  var colour: (primaries: Int, transfer: Int, matrix: Int)?
  var isFullRange: Bool?
  var sampleAspectRatio: (Int, Int)?
  /// num_units_in_tick and time_scale.
  var timing: (Int, Int)?
  var spsID = 0
  var sliceGroups = 1
  var separatePlanes = false
  var constraints = 0

  var width: Int { 16 * widthInMbs }
  var height: Int { 16 * heightInMbs }

  enum Kind: Equatable {
    case idr(id: Int)
    /// An I picture that is no IDR picture.
    case intra
    /// A P picture, whose macroblocks are I_PCM all the same.
    case predicted

    var isIDR: Bool { if case .idr = self { true } else { false } }
  }

  /// A NAL unit with its start code.
  static func unit(_ header: UInt8, _ payload: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = [0, 0, 0, 1, header]
    var zeros = 0
    for byte in payload {
      if zeros >= 2, byte <= 3 {
        bytes.append(3)
        zeros = 0
      }
      bytes.append(byte)
      zeros = byte == 0 ? zeros + 1 : 0
    }
    return bytes
  }

  /// SPS and PPS.
  var parameterSets: [UInt8] { sps + pps }

  var sps: [UInt8] {
    var bits = Bits()
    bits.u(8, profile)
    bits.u(8, constraints)
    bits.u(8, level)
    bits.ue(spsID)
    if profile >= 100 {
      bits.ue(chromaFormatIDC)
      if chromaFormatIDC == 3 { bits.u(1, separatePlanes ? 1 : 0) }
      bits.ue(bitDepth - 8)
      bits.ue(bitDepth - 8)
      bits.u(2, 0)
    }
    bits.ue(4)  // log2_max_frame_num_minus4
    bits.ue(0)  // pic_order_cnt_type
    bits.ue(4)  // log2_max_pic_order_cnt_lsb_minus4
    bits.ue(maxNumRefFrames)
    bits.u(1, gapsAllowed ? 1 : 0)
    bits.ue(widthInMbs - 1)
    bits.ue(heightInMbs - 1)
    bits.u(2, 0b11)  // frame_mbs_only_flag, direct_8x8_inference_flag
    bits.u(1, crop == nil ? 0 : 1)
    if let crop { for side in [crop.left, crop.right, crop.top, crop.bottom] { bits.ue(side) } }
    vui(&bits)
    bits.trailing()
    return Self.unit(0x67, bits.bytes)
  }

  private func vui(_ bits: inout Bits) {
    let isNeeded =
      colour != nil || isFullRange != nil || sampleAspectRatio != nil || timing != nil
    bits.u(1, isNeeded ? 1 : 0)
    guard isNeeded else { return }
    bits.u(1, sampleAspectRatio == nil ? 0 : 1)
    if let sampleAspectRatio {
      bits.u(8, 255)
      bits.u(16, sampleAspectRatio.0)
      bits.u(16, sampleAspectRatio.1)
    }
    bits.u(1, 0)  // overscan_info_present_flag
    bits.u(1, colour != nil || isFullRange != nil ? 1 : 0)
    if colour != nil || isFullRange != nil {
      bits.u(3, 5)
      bits.u(1, isFullRange == true ? 1 : 0)
      bits.u(1, colour == nil ? 0 : 1)
      if let colour {
        bits.u(8, colour.primaries)
        bits.u(8, colour.transfer)
        bits.u(8, colour.matrix)
      }
    }
    bits.u(1, 0)  // chroma_loc_info_present_flag
    bits.u(1, timing == nil ? 0 : 1)
    if let timing {
      bits.u(32, timing.0)
      bits.u(32, timing.1)
      bits.u(1, 1)
    }
    bits.u(4, 0)  // no HRD, no pic_struct, no bitstream_restriction
  }

  var pps: [UInt8] {
    var bits = Bits()
    bits.ue(0)
    bits.ue(spsID)
    bits.u(2, 0)  // CAVLC, no bottom_field_pic_order
    bits.ue(sliceGroups - 1)
    if sliceGroups > 1 {
      bits.ue(0)  // interleaved
      for _ in 0..<sliceGroups { bits.ue(0) }
    }
    bits.ue(0)
    bits.ue(0)
    bits.u(3, 0)
    bits.se(0)
    bits.se(0)
    bits.se(0)
    bits.u(3, 0b100)  // deblocking_filter_control_present_flag
    bits.trailing()
    return Self.unit(0x68, bits.bytes)
  }

  /// A picture of one slice, or of as many as there are in `firstMbs`, whose samples `sample` gives:
  /// plane (0 to 2), column, row.
  func picture(
    _ kind: Kind, frameNum: Int = 0, order: Int = 0, isReference: Bool = true,
    sliceType: Int? = nil, firstMbs: [Int] = [0], _ sample: (Int, Int, Int) -> Int
  ) -> [UInt8] {
    let mbs = widthInMbs * heightInMbs
    var units: [UInt8] = []
    for (index, first) in firstMbs.enumerated() {
      let following = firstMbs.dropFirst(index + 1).first ?? mbs
      let last = following > first ? following : mbs
      units += slice(
        kind, first..<last, frameNum, order, isReference, sliceType, sample)
    }
    return units
  }

  /// A picture whose every sample is `value`.
  func flat(
    _ kind: Kind, frameNum: Int = 0, order: Int = 0, isReference: Bool = true, value: Int
  ) -> [UInt8] {
    picture(kind, frameNum: frameNum, order: order, isReference: isReference) { _, _, _ in value }
  }

  private func slice(
    _ kind: Kind, _ mbs: Range<Int>, _ frameNum: Int, _ order: Int, _ isReference: Bool,
    _ sliceType: Int?, _ sample: (Int, Int, Int) -> Int
  ) -> [UInt8] {
    var bits = Bits()
    bits.ue(mbs.lowerBound)
    bits.ue(sliceType ?? (kind == .predicted ? 5 : 7))
    bits.ue(0)
    bits.u(8, frameNum & 255)
    if case .idr(let id) = kind { bits.ue(id) }
    bits.u(8, order & 255)
    if kind == .predicted { bits.u(2, 0) }  // no override, no list modification
    if isReference { bits.u(kind.isIDR ? 2 : 1, 0) }  // dec_ref_pic_marking
    bits.se(0)
    bits.ue(1)  // no deblocking
    for mb in mbs { macroblock(mb, kind, &bits, sample) }
    bits.trailing()
    let type: UInt8 = kind.isIDR ? 5 : 1
    return Self.unit((isReference ? 0x60 : 0) | type, bits.bytes)
  }

  private func macroblock(
    _ mb: Int, _ kind: Kind, _ bits: inout Bits, _ sample: (Int, Int, Int) -> Int
  ) {
    let (column, row) = (mb % widthInMbs, mb / widthInMbs)
    if kind == .predicted { bits.ue(0) }  // mb_skip_run
    bits.ue(kind == .predicted ? 30 : 25)
    bits.align()
    for y in 0..<16 {
      for x in 0..<16 { bits.u(bitDepth, sample(0, 16 * column + x, 16 * row + y)) }
    }
    let chroma = [0: (0, 0), 1: (8, 8), 2: (8, 16), 3: (16, 16)][chromaFormatIDC] ?? (0, 0)
    for plane in 1...2 where chroma.0 > 0 {
      for y in 0..<chroma.1 {
        for x in 0..<chroma.0 {
          bits.u(bitDepth, sample(plane, chroma.0 * column + x, chroma.1 * row + y))
        }
      }
    }
  }

  /// A recovery point SEI message with that recovery_frame_cnt.
  static func recoveryPoint(_ count: Int) -> [UInt8] {
    var bits = Bits()
    bits.ue(count)
    bits.u(4, 0b1000)
    bits.trailing()
    return message(6, bits.bytes)
  }

  /// A display orientation SEI message: quarter turns anticlockwise.
  static func displayOrientation(quarterTurns: Int, flipsHorizontally: Bool = false) -> [UInt8] {
    var bits = Bits()
    bits.u(1, 0)
    bits.u(1, flipsHorizontally ? 1 : 0)
    bits.u(1, 0)
    bits.u(16, quarterTurns * 16384)
    bits.ue(1)
    bits.u(1, 0)
    bits.trailing()
    return message(47, bits.bytes)
  }

  private static func message(_ type: UInt8, _ payload: [UInt8]) -> [UInt8] {
    unit(0x06, [type, UInt8(payload.count)] + payload + [0x80])
  }

  private struct Bits {
    var bytes: [UInt8] = []
    var free = 0

    mutating func u(_ count: Int, _ value: Int) {
      for bit in (0..<count).reversed() {
        if free == 0 {
          bytes.append(0)
          free = 8
        }
        free -= 1
        bytes[bytes.count - 1] |= UInt8(value >> bit & 1) << UInt8(free)
      }
    }

    mutating func ue(_ value: Int) {
      let length = Int.bitWidth - (value + 1).leadingZeroBitCount
      u(length - 1, 0)
      u(length, value + 1)
    }

    mutating func se(_ value: Int) { ue(value > 0 ? 2 * value - 1 : -2 * value) }

    mutating func align() { free = 0 }

    mutating func trailing() {
      u(1, 1)
      free = 0
    }
  }
}
