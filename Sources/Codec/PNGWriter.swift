internal import CDeflate
internal import CFFmpeg

/// Writes PNG files (ISO/IEC 15948) several times as fast as libavcodec does, and about as small.
///
/// All rows of an image have the same filter, the best one, which is looked for every few images.
struct PNGWriter: ~Copyable {
  private let compressor: Compressor
  private var buffers = Buffers(rowBytes: 0, rows: 0)
  private var filter = Filter.up
  private let filters: [Filter]
  private var imagesUntilTrial = 0
  private var lastFormat = AV_PIX_FMT_NONE
  /// Of the job for which an image is written.
  private var interruption: Interruption?

  private static let imagesPerTrial = 16
  private static let rowsPerBand = 64
  private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  enum Filter: UInt8, CaseIterable {
    case none, sub, up, average, paeth
  }

  /// - Parameter filters: Those among which the best is taken.
  /// - Throws: `CodecError` when there is no memory.
  init(filters: [Filter] = Filter.allCases) throws(CodecError) {
    compressor = try Compressor()
    self.filters = filters
  }

  /// The file for a picture in RGB24, GBRP, RGB48BE, GRAY8 or GRAY16BE.
  ///
  /// - Throws: `CodecError` in the middle, when the interruption is due.
  mutating func write(
    _ picture: borrowing Frame, until interruption: Interruption? = nil
  ) throws(CodecError) -> [UInt8] {
    self.interruption = interruption
    defer { self.interruption = nil }
    let source = picture.av.pointer
    let layout = Layout(source.pointee)
    prepare(layout, AVPixelFormat(source.pointee.format))
    let rows = rows(of: source, layout)
    if imagesUntilTrial == 0 { try choose(rows, layout) }
    imagesUntilTrial -= 1
    try filterRows(rows, layout, filter)
    let size = try compress(rows: layout.rows)
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

  /// Where the rows of packed pixels lie.
  private struct Rows {
    var first: UnsafePointer<UInt8>
    var stride: Int
  }

  /// The rows of a picture; three planes are packed first.
  private func rows(of source: UnsafeMutablePointer<AVFrame>, _ layout: Layout) -> Rows {
    guard source.pointee.format == AV_PIX_FMT_GBRP.rawValue else {
      return Rows(
        first: source.plane(0).map { UnsafePointer($0) } ?? UnsafePointer(buffers.zeros),
        stride: source.plane(0) == nil ? 0 : source.stride(0))
    }
    source.packPixels(into: buffers.packed, stride: layout.rowBytes)
    return Rows(first: UnsafePointer(buffers.packed), stride: layout.rowBytes)
  }

  private mutating func prepare(_ layout: Layout, _ format: AVPixelFormat) {
    if buffers.rowBytes != layout.rowBytes || buffers.rows != layout.rows {
      buffers = Buffers(rowBytes: layout.rowBytes, rows: layout.rows)
      imagesUntilTrial = 0
    }
    if lastFormat != format { imagesUntilTrial = 0 }
    lastFormat = format
  }

  /// Compresses the image after each filter. A part of the rows would not do: what comes again and
  /// again in a drawn image is often far apart.
  private mutating func choose(_ source: Rows, _ layout: Layout) throws(CodecError) {
    imagesUntilTrial = Self.imagesPerTrial
    var best = Int.max
    for candidate in filters {
      try filterRows(source, layout, candidate)
      let size = try compress(rows: layout.rows)
      if size < best {
        best = size
        filter = candidate
      }
    }
  }

  /// Compresses so many filtered rows; the bytes that takes.
  private func compress(rows: Int) throws(CodecError) -> Int {
    try endIfDue()
    return try compressor.compress(
      buffers.filtered, (buffers.rowBytes + 1) * rows, to: buffers.compressed,
      capacity: buffers.capacity)
  }

  private func filterRows(
    _ source: Rows, _ layout: Layout, _ filter: Filter
  ) throws(CodecError) {
    for row in 0..<layout.rows {
      if row % Self.rowsPerBand == 0 { try endIfDue() }
      filterRow(source, layout, row, filter, to: row)
    }
  }

  private func endIfDue() throws(CodecError) {
    guard interruption?.isDue != true else {
      throw CodecError(function: "PNGWriter.write", code: -ECANCELED)
    }
  }

  /// Writes the filter's number and what it makes of a row (ISO/IEC 15948 clause 9).
  private func filterRow(
    _ source: Rows, _ layout: Layout, _ row: Int, _ filter: Filter, to place: Int
  ) {
    let current = source.first + row * source.stride
    let above = row > 0 ? current - source.stride : UnsafePointer(buffers.zeros)
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
    case .paeth:
      for index in 0..<left { output[index] = current[index] &- above[index] }
      for index in left..<count {
        let (a, b) = (Int16(current[index &- left]), Int16(above[index]))
        let c = Int16(above[index &- left])
        let (toA, toB) = (distance(b, c), distance(a, c))
        let toC = distance(a &+ b, c &+ c)
        let nearest = toA <= toB && toA <= toC ? a : toB <= toC ? b : c
        output[index] = current[index] &- UInt8(truncatingIfNeeded: nearest)
      }
    }
  }

  /// Memory for one image at a time.
  private struct Buffers: ~Copyable {
    let rowBytes: Int
    let rows: Int
    /// Room for what compressing all rows can give.
    let capacity: Int
    let packed: UnsafeMutablePointer<UInt8>
    let filtered: UnsafeMutablePointer<UInt8>
    let compressed: UnsafeMutablePointer<UInt8>
    /// The row above the first.
    let zeros: UnsafeMutablePointer<UInt8>

    init(rowBytes: Int, rows: Int) {
      self.rowBytes = rowBytes
      self.rows = rows
      let count = (rowBytes + 1) * rows
      packed = .allocate(capacity: rowBytes * rows)
      filtered = .allocate(capacity: count)
      capacity = nalu_deflate_bound(count)
      compressed = .allocate(capacity: capacity)
      zeros = .allocate(capacity: rowBytes)
      zeros.initialize(repeating: 0, count: rowBytes)
    }

    deinit {
      packed.deallocate()
      filtered.deallocate()
      compressed.deallocate()
      zeros.deallocate()
    }
  }
}

// SAFETY: the memory belongs to the writer alone.
extension PNGWriter: @unchecked Sendable {}

/// Owns a compressor.
private struct Compressor: ~Copyable {
  private let pointer: OpaquePointer

  init() throws(CodecError) {
    guard let pointer = nalu_deflater_new() else {
      throw CodecError(function: "nalu_deflater_new", code: -ENOMEM)
    }
    self.pointer = pointer
  }

  deinit {
    nalu_deflater_free(pointer)
  }

  /// Compresses `count` bytes into the zlib format; the bytes written.
  func compress(
    _ input: UnsafePointer<UInt8>, _ count: Int, to output: UnsafeMutablePointer<UInt8>,
    capacity: Int
  ) throws(CodecError) -> Int {
    let size = nalu_deflate(pointer, input, count, output, capacity)
    guard size > 0 else { throw CodecError(function: "nalu_deflate", code: -ENOSPC) }
    return size
  }
}

/// Without a trap, so that the compiler can take many at once.
@inline(__always)
private func distance(_ a: Int16, _ b: Int16) -> Int16 {
  max(a &- b, b &- a)
}

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
    let start = count
    append(contentsOf: name.utf8)
    append(contentsOf: content)
    self += bigEndian(
      self[start...].withUnsafeBufferPointer { bytes in
        bytes.baseAddress.map { nalu_crc32(0, $0, bytes.count) } ?? 0
      })
  }
}
