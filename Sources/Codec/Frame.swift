internal import CFFmpeg
package import Platform

/// A raw picture that libav can read: plane pointers into memory that lives as long as libav
/// holds a reference to it.
package struct Frame: ~Copyable {
  let av: Owned<AVFrame>

  /// An empty frame for libav to fill.
  init() throws(CodecError) {
    av = try Owned(av_frame_alloc(), "av_frame_alloc") { av_frame_free($0) }
  }

  /// A picture with memory of its own, whose samples are not set.
  init(_ format: AVPixelFormat, width: Int, height: Int) throws(CodecError) {
    let av = try Owned(av_frame_alloc(), "av_frame_alloc") { av_frame_free($0) }
    av.pointer.pointee.format = format.rawValue
    av.pointer.pointee.width = Int32(width)
    av.pointer.pointee.height = Int32(height)
    try check(av_frame_get_buffer(av.pointer, 0), "av_frame_get_buffer")
    self.av = av
  }

  /// A picture over the bytes of `block`, without a copy.
  ///
  /// - Parameters:
  ///   - block: Holds a picture in `format`, rows and planes without padding; it is not written
  ///     to from now on.
  ///   - offset: Where in the block the picture begins.
  ///   - format: How the samples lie in the block.
  ///   - width: Luma samples.
  ///   - height: Luma samples.
  /// - Throws: `CodecError`: when `isSampleOutOfRange`, a sample has more bits than `format`, which
  ///   libx264 answers by ending the process.
  package init(
    over block: Block, at offset: Int = 0, format: PixelFormat, width: Int, height: Int
  ) throws(CodecError) {
    let size = format.bytesPerFrame(width: width, height: height)
    precondition(offset >= 0 && block.count - offset >= size)
    let av = try Owned(av_frame_alloc(), "av_frame_alloc") { av_frame_free($0) }
    let frame = av.pointer
    let start = block.baseAddress + offset
    guard format.samplesFit(UnsafeRawBufferPointer(start: start, count: size)) else {
      throw CodecError(function: "Frame", code: -ERANGE)
    }
    let bytes = start.assumingMemoryBound(to: UInt8.self)
    let owner = Unmanaged.passRetained(block)
    let buffer = av_buffer_create(
      bytes, size, releaseBlock, owner.toOpaque(), AV_BUFFER_FLAG_READONLY)
    guard let buffer else {
      owner.release()
      throw CodecError(function: "av_buffer_create", code: -ENOMEM)
    }
    frame.pointee.buf.0 = buffer
    frame.pointee.format = format.libav.rawValue
    frame.pointee.width = Int32(width)
    frame.pointee.height = Int32(height)
    let planes = format.planes(width: width, height: height)
    for (index, plane) in planes.enumerated() {
      // libav wants Cb in plane 1 and Cr in plane 2.
      let place = format.crFirst && index > 0 ? 3 - index : index
      frame.setPlane(place, data: bytes + plane.offset, bytesPerRow: plane.bytesPerRow)
    }
    self.av = av
  }

  /// The same picture once more; the samples are shared.
  package borrowing func shared() throws(CodecError) -> Frame {
    let copy = try Frame()
    try check(av_frame_ref(copy.av.pointer, av.pointer), "av_frame_ref")
    return copy
  }

  package var width: Int { Int(av.pointer.pointee.width) }
  package var height: Int { Int(av.pointer.pointee.height) }
  /// How the samples lie in memory; `nil` for a layout that Nalu has no name for.
  package var format: PixelFormat? {
    PixelFormat(libav: AVPixelFormat(av.pointer.pointee.format))
  }
}

// SAFETY: a frame has one owner at a time, and libav's buffer references are atomic.
extension Frame: @unchecked Sendable {}

/// Called by libav, on any thread, when the last reference to the block is gone.
private let releaseBlock:
  @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?) -> Void = { owner, _ in
    guard let owner else { return }
    Unmanaged<Block>.fromOpaque(owner).release()
  }

extension CodecError {
  /// A raw sample is larger than its bit depth allows.
  package var isSampleOutOfRange: Bool { code == -ERANGE }
}

extension PixelFormat {
  /// No sample of a picture has bits beyond the depth. The low bits of `p010le` are ignored.
  fileprivate func samplesFit(_ picture: UnsafeRawBufferPointer) -> Bool {
    guard bytesPerSample == 2, self != .p010le else { return true }
    let beyond = ~(UInt16(1) << bitDepth - 1)
    let mask = UInt64(beyond.littleEndian) &* 0x0001_0001_0001_0001
    let words = picture.count / 8
    var seen: UInt64 = 0
    for word in 0..<words {
      seen |= picture.loadUnaligned(fromByteOffset: 8 * word, as: UInt64.self)
    }
    for byte in stride(from: 8 * words, to: picture.count - 1, by: 2) {
      seen |= UInt64(picture.loadUnaligned(fromByteOffset: byte, as: UInt16.self))
    }
    return seen & mask == 0
  }
}

extension UnsafeMutablePointer where Pointee == AVFrame {
  /// Points plane `index` (0 to 3) at `data`.
  func setPlane(_ index: Int, data: UnsafeMutablePointer<UInt8>?, bytesPerRow: Int) {
    withUnsafeMutableBytes(of: &pointee.data) { planes in
      planes.bindMemory(to: UnsafeMutablePointer<UInt8>?.self)[index] = data
    }
    withUnsafeMutableBytes(of: &pointee.linesize) { sizes in
      sizes.bindMemory(to: Int32.self)[index] = Int32(bytesPerRow)
    }
  }
}
