internal import CFFmpeg
internal import Platform

/// What a decoder says of a picture.
extension Frame {
  /// The number that its access unit was sent with.
  package var number: Int { Int(av.pointer.pointee.pts) }

  /// Parts of it were missing or damaged, and are a guess.
  package var isDamaged: Bool { av.pointer.pointee.decode_error_flags != 0 }

  package var isKeyframe: Bool { av.pointer.pointee.key_frame != 0 }

  package var isInterlaced: Bool { av.pointer.pointee.interlaced_frame != 0 }
  package var isTopFieldFirst: Bool { av.pointer.pointee.top_field_first != 0 }

  /// Luma runs over all values, not from 16 to 235 (of 8 bits).
  package var isFullRange: Bool { ColorCoding(of: self).isFullRange }

  /// matrix_coefficients (H.264 table E-5), if they are such that no conversion to RGB is known:
  /// neither a weighted sum of R, G and B, nor R, G and B themselves, nor unspecified.
  package var unknownMatrix: Int? {
    switch av.pointer.pointee.colorspace {
    case AVCOL_SPC_YCGCO, AVCOL_SPC_BT2020_CL, AVCOL_SPC_SMPTE2085, AVCOL_SPC_CHROMA_DERIVED_NCL,
      AVCOL_SPC_CHROMA_DERIVED_CL, AVCOL_SPC_ICTCP:
      Int(av.pointer.pointee.colorspace.rawValue)
    default:
      nil
    }
  }

  /// Where the chroma samples of 4:2:0 lie.
  package var chromaLocation: ChromaLocation {
    switch av.pointer.pointee.chroma_location {
    case AVCHROMA_LOC_CENTER: .center
    case AVCHROMA_LOC_TOPLEFT: .topLeft
    default: .left
    }
  }

  /// libav's name for the sample layout: `yuv420p`, `gbrp`. Full-range twins (`yuvj420p`) are
  /// named like the others.
  package var formatName: String {
    if let format { return format.rawValue }
    guard let name = av_get_pix_fmt_name(AVPixelFormat(av.pointer.pointee.format)) else {
      return "unknown"
    }
    return String(cString: name)
  }

  /// Bits of a sample that mean something, of the layouts without a name of ours too.
  package var bitDepth: Int {
    let format = AVPixelFormat(av.pointer.pointee.format)
    guard let description = av_pix_fmt_desc_get(format) else { return 8 }
    return Int(description.pointee.comp.0.depth)
  }

  /// Chroma has as many samples as luma.
  var chromaIsFull: Bool {
    let format = AVPixelFormat(av.pointer.pointee.format)
    guard let description = av_pix_fmt_desc_get(format) else { return false }
    return description.pointee.log2_chroma_w == 0 && description.pointee.log2_chroma_h == 0
  }

  /// Width of a sample relative to its height; `nil` when the stream does not say.
  package var sampleAspectRatio: Rational? {
    let ratio = av.pointer.pointee.sample_aspect_ratio
    guard ratio.num > 0, ratio.den > 0 else { return nil }
    return Rational(Int(ratio.num), Int(ratio.den))
  }

  /// States another shape of the samples; `nil`: unknown.
  package mutating func setSampleAspectRatio(_ ratio: Rational?) {
    av.pointer.pointee.sample_aspect_ratio = (ratio ?? Rational(0)).libav
  }

  /// Bytes of the samples without padding.
  package var sampleBytes: Int {
    let size = av_image_get_buffer_size(
      AVPixelFormat(av.pointer.pointee.format), av.pointer.pointee.width,
      av.pointer.pointee.height, 1)
    return max(0, Int(size))
  }

  /// Appends the samples: planes one after the other, rows without padding.
  ///
  /// - Parameters:
  ///   - bytes: Grows by `sampleBytes`.
  ///   - crFirst: The Cr plane comes before the Cb plane.
  package func appendSamples(to bytes: inout [UInt8], crFirst: Bool = false) {
    bytes.reserveCapacity(bytes.count + sampleBytes)
    for plane in Self.planes(crFirst: crFirst) {
      forEachRun(ofPlane: plane) { bytes.append(contentsOf: $0) }
    }
  }

  /// The MD5 of what `appendSamples` appends, in lower-case hexadecimal.
  package func samplesMD5(crFirst: Bool = false) throws(CodecError) -> String {
    guard let context = av_md5_alloc() else {
      throw CodecError(function: "av_md5_alloc", code: -ENOMEM)
    }
    defer { av_free(UnsafeMutableRawPointer(context)) }
    av_md5_init(context)
    for plane in Self.planes(crFirst: crFirst) {
      forEachRun(ofPlane: plane) { av_md5_update(context, $0.baseAddress, $0.count) }
    }
    let digest = [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
      av_md5_final(context, buffer.baseAddress)
      count = 16
    }
    let digits = Array("0123456789abcdef".utf8)
    let text = digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return String(decoding: text, as: UTF8.self)
  }

  private static func planes(crFirst: Bool) -> [Int] { crFirst ? [0, 2, 1, 3] : [0, 1, 2, 3] }

  /// Chroma planes may have fewer rows than the picture.
  func rows(ofPlane plane: Int) -> Int {
    let rows = Int(av.pointer.pointee.height)
    let format = AVPixelFormat(av.pointer.pointee.format)
    guard plane == 1 || plane == 2, let description = av_pix_fmt_desc_get(format) else {
      return rows
    }
    return -(-rows >> Int(description.pointee.log2_chroma_h))
  }

  /// Visits the bytes of a plane in order: row by row, or all at once when no padding lies between.
  private func forEachRun(ofPlane plane: Int, _ visit: (UnsafeBufferPointer<UInt8>) -> Void) {
    let picture = av.pointer
    let format = AVPixelFormat(picture.pointee.format)
    let bytesPerRow = Int(av_image_get_linesize(format, picture.pointee.width, Int32(plane)))
    guard bytesPerRow > 0, let first = picture.plane(plane) else { return }
    let rows = rows(ofPlane: plane)
    let stride = picture.stride(plane)
    if stride == bytesPerRow {
      visit(UnsafeBufferPointer(start: first, count: bytesPerRow * rows))
      return
    }
    for row in 0..<rows {
      visit(UnsafeBufferPointer(start: first + row * stride, count: bytesPerRow))
    }
  }
}

extension UnsafeMutablePointer where Pointee == AVFrame {
  /// Where plane `index` (0 to 3) starts.
  func plane(_ index: Int) -> UnsafeMutablePointer<UInt8>? {
    withUnsafeBytes(of: &pointee.data) { planes in
      planes.bindMemory(to: UnsafeMutablePointer<UInt8>?.self)[index]
    }
  }

  /// Bytes from one row of plane `index` to the next.
  func stride(_ index: Int) -> Int {
    withUnsafeBytes(of: &pointee.linesize) { sizes in
      Int(sizes.bindMemory(to: Int32.self)[index])
    }
  }
}
