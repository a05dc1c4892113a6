internal import CFFmpeg

/// Writes PNG files (ISO/IEC 15948), several times as fast as libavcodec, and about as small.
///
/// All rows of an image have the same filter, and the compressor takes more or less trouble: what
/// does best on a sample of the rows, tried again every few images.
struct PNGWriter: ~Copyable {
  private var deflater = Deflater()
  private var buffers = Buffers(rowBytes: 0, rows: 0)
  private var filter = Filter.up
  private var effort = Deflater.Effort.fast
  private let efforts: [Deflater.Effort]
  private var imagesUntilTrial = 0
  private var lastFormat = AV_PIX_FMT_NONE

  private static let imagesPerTrial = 16
  private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  enum Filter: UInt8, CaseIterable {
    case none, sub, up, average
  }

  /// - Parameter efforts: Those among which the better is taken.
  init(efforts: [Deflater.Effort] = Deflater.Effort.allCases) {
    self.efforts = efforts
  }

  /// The file for a picture in RGB24, RGB48BE, GRAY8 or GRAY16BE.
  mutating func write(_ picture: borrowing Frame) -> [UInt8] {
    let source = picture.av.pointer
    let layout = Layout(source.pointee)
    prepare(layout, AVPixelFormat(source.pointee.format))
    if imagesUntilTrial == 0 { choose(source, layout) }
    imagesUntilTrial -= 1
    for row in 0..<layout.rows { filterRow(source, layout, row, filter, to: row) }
    let size = deflater.compress(
      buffers.filtered, (layout.rowBytes + 1) * layout.rows, effort, to: buffers.compressed)
    var file: [UInt8] = []
    file.reserveCapacity(size + 256)
    file += Self.signature
    file.appendChunk("IHDR", layout.header)
    for (name, content) in picture.pngDescription { file.appendChunk(name, content) }
    file.appendChunk("IDAT", UnsafeBufferPointer(start: buffers.compressed, count: size))
    file.appendChunk("IEND", [])
    return file
  }

  /// How the samples of a picture lie in a PNG.
  private struct Layout {
    let bytesPerPixel: Int
    let rowBytes: Int
    let rows: Int
    let header: [UInt8]

    init(_ picture: AVFrame) {
      let isGray =
        picture.format == AV_PIX_FMT_GRAY8.rawValue
        || picture.format == AV_PIX_FMT_GRAY16BE.rawValue
      let isDeep =
        picture.format == AV_PIX_FMT_GRAY16BE.rawValue
        || picture.format == AV_PIX_FMT_RGB48BE.rawValue
      bytesPerPixel = (isGray ? 1 : 3) * (isDeep ? 2 : 1)
      rowBytes = bytesPerPixel * Int(picture.width)
      rows = Int(picture.height)
      // Bit depth, colour type, and the only methods there are.
      header =
        bigEndian(UInt32(picture.width)) + bigEndian(UInt32(picture.height)) + [
          isDeep ? 16 : 8, isGray ? 0 : 2, 0, 0, 0,
        ]
    }
  }

  private mutating func prepare(_ layout: Layout, _ format: AVPixelFormat) {
    if buffers.rowBytes != layout.rowBytes || buffers.rows != layout.rows {
      buffers = Buffers(rowBytes: layout.rowBytes, rows: layout.rows)
      imagesUntilTrial = 0
    }
    if lastFormat != format { imagesUntilTrial = 0 }
    lastFormat = format
  }

  /// Compresses an eighth of the rows or more with each filter, and with the best one more thoroughly.
  private mutating func choose(_ source: UnsafeMutablePointer<AVFrame>, _ layout: Layout) {
    imagesUntilTrial = Self.imagesPerTrial
    let rows = max(layout.rows / 8, Self.sampleBytes / layout.rowBytes)
    let bands = min(max(4, rows / Self.bandRows), layout.rows / Self.bandRows)
    guard bands > 0 else { return }
    var best = Int.max
    for candidate in Filter.allCases {
      let size = sampleSize(source, layout, bands, candidate, efforts[0])
      if size < best {
        best = size
        filter = candidate
      }
    }
    effort = efforts[0]
    guard efforts.count > 1 else { return }
    // The time must be worth it.
    if sampleSize(source, layout, bands, filter, .thorough) < best - best / 10 {
      effort = .thorough
    }
  }

  private static let bandRows = 16
  /// Fewer say too little of how often something comes again.
  private static let sampleBytes = 96 << 10

  /// Compressed bytes of bands of rows that lie evenly over the image.
  private mutating func sampleSize(
    _ source: UnsafeMutablePointer<AVFrame>, _ layout: Layout, _ bands: Int, _ filter: Filter,
    _ effort: Deflater.Effort
  ) -> Int {
    var filled = 0
    for band in 0..<bands {
      let first = (layout.rows - Self.bandRows) * band / max(1, bands - 1)
      for row in first..<first + Self.bandRows {
        filterRow(source, layout, row, filter, to: filled)
        filled += 1
      }
    }
    return deflater.compress(
      buffers.filtered, (layout.rowBytes + 1) * filled, effort, to: buffers.compressed)
  }

  /// Writes the filter's number and what it makes of a row (ISO/IEC 15948 clause 9).
  private func filterRow(
    _ source: UnsafeMutablePointer<AVFrame>, _ layout: Layout, _ row: Int, _ filter: Filter,
    to place: Int
  ) {
    guard let plane = source.plane(0) else { return }
    let stride = source.stride(0)
    let current = UnsafePointer(plane + row * stride)
    let above = row > 0 ? UnsafePointer(plane + (row - 1) * stride) : UnsafePointer(buffers.zeros)
    let target = buffers.filtered + place * (layout.rowBytes + 1)
    target[0] = filter.rawValue
    let output = target + 1
    let (count, left) = (layout.rowBytes, layout.bytesPerPixel)
    switch filter {
    case .none:
      output.update(from: current, count: count)
    case .sub:
      for index in 0..<left { output[index] = current[index] }
      for index in left..<count { output[index] = current[index] &- current[index &- left] }
    case .up:
      for index in 0..<count { output[index] = current[index] &- above[index] }
    case .average:
      for index in 0..<left { output[index] = current[index] &- above[index] >> 1 }
      for index in left..<count {
        let sum = UInt16(current[index &- left]) &+ UInt16(above[index])
        output[index] = current[index] &- UInt8(truncatingIfNeeded: sum >> 1)
      }
    }
  }

  /// Memory for one image at a time.
  private struct Buffers: ~Copyable {
    let rowBytes: Int
    let rows: Int
    let filtered: UnsafeMutablePointer<UInt8>
    let compressed: UnsafeMutablePointer<UInt8>
    /// The row above the first.
    let zeros: UnsafeMutablePointer<UInt8>

    init(rowBytes: Int, rows: Int) {
      self.rowBytes = rowBytes
      self.rows = rows
      let count = (rowBytes + 1) * rows
      filtered = .allocate(capacity: count + Deflater.padding)
      compressed = .allocate(capacity: Deflater.capacity(for: count))
      zeros = .allocate(capacity: rowBytes)
      (filtered + count).initialize(repeating: 0, count: Deflater.padding)
      zeros.initialize(repeating: 0, count: rowBytes)
    }

    deinit {
      filtered.deallocate()
      compressed.deallocate()
      zeros.deallocate()
    }
  }
}

// SAFETY: the memory belongs to the writer alone.
extension PNGWriter: @unchecked Sendable {}

private func bigEndian(_ value: UInt32) -> [UInt8] {
  [24, 16, 8, 0].map { UInt8(value >> UInt32($0) & 255) }
}

extension Frame {
  /// The chunks that say what the stream says of its samples and colours.
  fileprivate var pngDescription: [(String, [UInt8])] {
    let picture = av.pointer.pointee
    var chunks: [(String, [UInt8])] = []
    let transfer = picture.color_trc
    if transfer == AVCOL_TRC_SMPTE2084 || transfer == AVCOL_TRC_ARIB_STD_B67 {
      // Neither gamma nor sRGB can say this: primaries, transfer, RGB, full range.
      let codes = [picture.color_primaries.rawValue, transfer.rawValue, 0, 1]
      chunks.append(("cICP", codes.map { UInt8(truncatingIfNeeded: $0) }))
    }
    let isSRGB =
      transfer == AVCOL_TRC_IEC61966_2_1 && picture.color_primaries == AVCOL_PRI_BT709
    if isSRGB {
      chunks.append(("sRGB", [0]))
      chunks.append(("gAMA", bigEndian(45455)))
    }
    if let chromaticities = Self.chromaticities(picture.color_primaries) {
      chunks.append(("cHRM", chromaticities.flatMap { bigEndian($0) }))
    }
    if let ratio = sampleAspectRatio {
      // Pixels per unit, so the wider a pixel the fewer; the unit is unknown.
      chunks.append(
        (
          "pHYs",
          bigEndian(UInt32(ratio.denominator)) + bigEndian(UInt32(ratio.numerator)) + [0]
        ))
    }
    return chunks
  }

  /// x and y of white, red, green and blue in 1/100000 (H.264 table E-3).
  private static func chromaticities(_ primaries: AVColorPrimaries) -> [UInt32]? {
    let d65: [UInt32] = [31270, 32900]
    return switch primaries {
    case AVCOL_PRI_BT709: d65 + [64000, 33000, 30000, 60000, 15000, 6000]
    case AVCOL_PRI_BT470M: [31000, 31600, 67000, 33000, 21000, 71000, 14000, 8000]
    case AVCOL_PRI_BT470BG: d65 + [64000, 33000, 29000, 60000, 15000, 6000]
    case AVCOL_PRI_SMPTE170M, AVCOL_PRI_SMPTE240M:
      d65 + [63000, 34000, 31000, 59500, 15500, 7000]
    case AVCOL_PRI_BT2020: d65 + [70800, 29200, 17000, 79700, 13100, 4600]
    case AVCOL_PRI_SMPTE431: [31400, 35100, 68000, 32000, 26500, 69000, 15000, 6000]
    case AVCOL_PRI_SMPTE432: d65 + [68000, 32000, 26500, 69000, 15000, 6000]
    default: nil
    }
  }
}

extension [UInt8] {
  fileprivate mutating func appendChunk(_ name: String, _ content: [UInt8]) {
    content.withUnsafeBufferPointer { appendChunk(name, $0) }
  }

  /// Length, name, content and checksum (ISO/IEC 15948 clause 5.3).
  fileprivate mutating func appendChunk(_ name: String, _ content: UnsafeBufferPointer<UInt8>) {
    self += bigEndian(UInt32(content.count))
    let letters = Array(name.utf8)
    self += letters
    append(contentsOf: content)
    var sum = CRC32()
    letters.withUnsafeBufferPointer { sum.add($0) }
    sum.add(content)
    self += bigEndian(sum.value)
  }
}

/// The checksum of PNG chunks (ISO/IEC 15948 annex D), eight bytes at a time.
struct CRC32 {
  private var register: UInt32 = 0xFFFF_FFFF

  var value: UInt32 { ~register }

  mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) {
    Self.tables.withUnsafeBufferPointer { tables in
      var register = register
      var index = 0
      while index + 8 <= bytes.count {
        register ^=
          UnsafeRawPointer(bytes.baseAddress.unsafelyUnwrapped)
          .loadUnaligned(fromByteOffset: index, as: UInt32.self).littleEndian
        let low = register
        register =
          tables[0x700 &+ Int(low & 255)] ^ tables[0x600 &+ Int(low >> 8 & 255)]
          ^ tables[0x500 &+ Int(low >> 16 & 255)] ^ tables[0x400 &+ Int(low >> 24)]
          ^ tables[0x300 &+ Int(bytes[index &+ 4])] ^ tables[0x200 &+ Int(bytes[index &+ 5])]
          ^ tables[0x100 &+ Int(bytes[index &+ 6])] ^ tables[Int(bytes[index &+ 7])]
        index &+= 8
      }
      while index < bytes.count {
        register = register >> 8 ^ tables[Int((register ^ UInt32(bytes[index])) & 255)]
        index &+= 1
      }
      self.register = register
    }
  }

  /// Eight tables of 256: what a byte adds with 0 to 7 zero bytes behind it.
  private static let tables: [UInt32] = {
    var tables = [UInt32](repeating: 0, count: 8 * 256)
    for byte in 0..<256 {
      var register = UInt32(byte)
      for _ in 0..<8 { register = register & 1 == 1 ? register >> 1 ^ 0xEDB8_8320 : register >> 1 }
      tables[byte] = register
    }
    for index in 256..<8 * 256 {
      let before = tables[index - 256]
      tables[index] = before >> 8 ^ tables[Int(before & 255)]
    }
    return tables
  }()
}
