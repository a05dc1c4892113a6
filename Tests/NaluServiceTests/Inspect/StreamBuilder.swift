/// Writes small H.264 streams whose every header element a test can choose.
struct StreamBuilder {
  private(set) var bytes: [UInt8] = []
  var sequence = Sequence()
  var picture = Picture()

  /// What a sequence parameter set says.
  struct Sequence {
    var id = 0
    var profile = 77
    var constraints = 0
    var level = 30
    var log2MaxFrameNum = 4
    var picOrderCntType = 0
    var log2MaxPicOrderCntLsb = 6
    var maxNumRefFrames = 4
    var allowsGaps = false
    /// In macroblocks (map units).
    var width = 4
    var height = 3
    var isFrameOnly = true
    var isMBAFF = false
    /// In crop units.
    var crop: (left: Int, right: Int, top: Int, bottom: Int)?
    /// num_units_in_tick and time_scale.
    var timing: (Int, Int)?
    /// max_num_reorder_frames and max_dec_frame_buffering.
    var restriction: (Int, Int)?
    /// bit_rate_value_minus1 and cpb_size_value_minus1 of a NAL HRD.
    var hrd: (Int, Int)?
  }

  /// What a picture parameter set says.
  struct Picture {
    var id = 0
    var isCABAC = false
    var redundantPicCntPresent = false
  }

  /// What a slice header says.
  struct Slice {
    enum Structure { case frame, top, bottom }

    /// 0 P, 1 B, 2 I, 3 SP, 4 SI.
    var type = 2
    var isIDR = false
    var refIDC = 1
    var firstMb = 0
    var frameNum = 0
    var idrPicID = 0
    var lsb = 0
    var structure = Structure.frame
    var redundantPicCnt = 0
    /// Operations and their operands; nil for the sliding window.
    var memoryManagement: [[Int]]?
    var size = 20
  }

  mutating func unit(_ header: UInt8, _ payload: [UInt8], startCode: [UInt8] = [0, 0, 0, 1]) {
    bytes += startCode
    bytes.append(header)
    var zeros = 0
    for byte in payload {
      if zeros >= 2, byte <= 3 {
        bytes.append(3)
        zeros = 0
      }
      bytes.append(byte)
      zeros = byte == 0 ? zeros + 1 : 0
    }
  }

  mutating func raw(_ more: [UInt8]) {
    bytes += more
  }

  mutating func parameterSets() {
    sps()
    pps()
  }

  mutating func sps() {
    unit(0x67, Self.payload(of: sequence))
  }

  static func payload(of set: Sequence) -> [UInt8] {
    var bits = BitString()
    bits.u(8, set.profile)
    bits.u(8, set.constraints)
    bits.u(8, set.level)
    bits.ue(set.id)
    if set.profile >= 100 {
      for value in [1, 0, 0] { bits.ue(value) }
      bits.u(2, 0)
    }
    bits.ue(set.log2MaxFrameNum - 4)
    bits.ue(set.picOrderCntType)
    if set.picOrderCntType == 0 { bits.ue(set.log2MaxPicOrderCntLsb - 4) }
    bits.ue(set.maxNumRefFrames)
    bits.flag(set.allowsGaps)
    bits.ue(set.width - 1)
    bits.ue(set.height - 1)
    bits.flag(set.isFrameOnly)
    if !set.isFrameOnly { bits.flag(set.isMBAFF) }
    bits.flag(true)
    bits.flag(set.crop != nil)
    if let crop = set.crop {
      for offset in [crop.left, crop.right, crop.top, crop.bottom] { bits.ue(offset) }
    }
    let hasVUI = set.timing != nil || set.restriction != nil || set.hrd != nil
    bits.flag(hasVUI)
    if hasVUI { vui(of: set, &bits) }
    return bits.payload()
  }

  private static func vui(of set: Sequence, _ bits: inout BitString) {
    bits.u(4, 0)
    bits.flag(set.timing != nil)
    if let (units, scale) = set.timing {
      bits.u(32, units)
      bits.u(32, scale)
      bits.flag(true)
    }
    bits.flag(set.hrd != nil)
    if let (rate, size) = set.hrd {
      bits.ue(0)
      bits.u(8, 0)
      bits.ue(rate)
      bits.ue(size)
      bits.flag(false)
      bits.u(20, 0b10111_10111_10111_11000)
    }
    bits.flag(false)
    if set.hrd != nil { bits.flag(false) }
    bits.flag(false)
    bits.flag(set.restriction != nil)
    if let (reorder, buffering) = set.restriction {
      bits.flag(true)
      for value in [0, 0, 10, 10, reorder, buffering] { bits.ue(value) }
    }
  }

  mutating func pps() {
    var bits = BitString()
    bits.ue(picture.id)
    bits.ue(sequence.id)
    bits.flag(picture.isCABAC)
    bits.flag(false)
    for _ in 0..<3 { bits.ue(0) }
    bits.u(3, 0)
    for _ in 0..<3 { bits.se(0) }
    bits.u(2, 0)
    bits.flag(picture.redundantPicCntPresent)
    unit(0x68, bits.payload())
  }

  /// A set whose end depends on the sequence parameter set.
  mutating func guessedPPS() {
    var bits = BitString()
    bits.ue(picture.id)
    bits.ue(sequence.id)
    bits.u(2, 0)
    for _ in 0..<3 { bits.ue(0) }
    bits.u(3, 0)
    for _ in 0..<3 { bits.se(0) }
    bits.u(3, 0)
    bits.flag(true)
    bits.flag(true)
    bits.u(8, 0)
    bits.se(0)
    unit(0x68, bits.payload())
  }

  mutating func delimiter() {
    unit(0x09, [0xF0])
  }

  /// An SEI NAL unit with one recovery point message.
  mutating func recoveryPoint(_ frames: Int) {
    var bits = BitString()
    bits.ue(frames)
    bits.u(4, 0b1000)
    let payload = bits.payload()
    unit(0x06, [6, UInt8(payload.count)] + payload + [0x80])
  }

  mutating func slice(_ slice: Slice) {
    let type: UInt8 = slice.isIDR ? 5 : 1
    unit(
      UInt8(slice.refIDC) << 5 | type, header(slice) + [UInt8](repeating: 0x55, count: slice.size))
  }

  /// The slice header, filled up to a byte; the size of a NAL unit is 1 more than with its data.
  func header(_ slice: Slice) -> [UInt8] {
    var bits = BitString()
    bits.ue(slice.firstMb)
    bits.ue(slice.type)
    bits.ue(picture.id)
    bits.u(sequence.log2MaxFrameNum, slice.frameNum)
    if !sequence.isFrameOnly {
      bits.flag(slice.structure != .frame)
      if slice.structure != .frame { bits.flag(slice.structure == .bottom) }
    }
    if slice.isIDR { bits.ue(slice.idrPicID) }
    if sequence.picOrderCntType == 0 { bits.u(sequence.log2MaxPicOrderCntLsb, slice.lsb) }
    if picture.redundantPicCntPresent { bits.ue(slice.redundantPicCnt) }
    if slice.type == 1 { bits.flag(true) }
    let isInter = slice.type != 2 && slice.type != 4
    if isInter { bits.u(slice.type == 1 ? 3 : 2, 0) }
    if slice.refIDC > 0 { marking(slice, &bits) }
    if picture.isCABAC, isInter { bits.ue(0) }
    bits.se(0)
    return bits.payload()
  }

  private func marking(_ slice: Slice, _ bits: inout BitString) {
    if slice.isIDR {
      bits.u(2, 0)
      return
    }
    bits.flag(slice.memoryManagement != nil)
    guard let commands = slice.memoryManagement else { return }
    for command in commands + [[0]] {
      for value in command { bits.ue(value) }
    }
  }
}
