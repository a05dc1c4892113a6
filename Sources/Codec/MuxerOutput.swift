internal import CFFmpeg

/// Catches what libavformat writes.
final class MuxerOutput {
  /// Bytes that lie next to each other in the container.
  struct Piece {
    var offset: Int
    var bytes: [UInt8]
  }

  private(set) var io: Owned<AVIOContext>
  var pieces: [Piece] = []
  private var position = 0
  private var size = 0
  /// Where the bytes lie that are put out by whoever has them: only their place is kept.
  var passed: UnsafePointer<UInt8>?

  private static let bufferSize: Int32 = 1 << 18

  /// - Parameters:
  ///   - isSeekable: Bytes that were put out may be changed.
  ///   - passesSamples: Samples come by their own address, not through the buffer.
  /// - Throws: `CodecError` when there is no memory.
  init(isSeekable: Bool, passesSamples: Bool) throws(CodecError) {
    let buffer = av_malloc(Int(MuxerOutput.bufferSize))
    io = try Owned(
      avio_alloc_context(
        buffer?.assumingMemoryBound(to: UInt8.self), MuxerOutput.bufferSize, 1, nil, nil,
        writeOutput, isSeekable ? seekOutput : nil),
      "avio_alloc_context"
    ) { pointer in
      // libavformat may have put another buffer in the place of the first.
      av_free(pointer.pointee?.pointee.buffer)
      avio_context_free(pointer)
    }
    io.pointer.pointee.direct = passesSamples ? 1 : 0
    io.pointer.pointee.seekable = isSeekable ? AVIO_SEEKABLE_NORMAL : 0
    io.pointer.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
  }

  fileprivate func write(_ bytes: UnsafeBufferPointer<UInt8>) {
    defer {
      position += bytes.count
      size = max(size, position)
    }
    if let passed, bytes.baseAddress == passed { return }
    if let last = pieces.indices.last,
      pieces[last].offset + pieces[last].bytes.count == position
    {
      pieces[last].bytes.append(contentsOf: bytes)
    } else {
      pieces.append(Piece(offset: position, bytes: Array(bytes)))
    }
  }

  fileprivate func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
    if whence & AVSEEK_SIZE != 0 { return Int64(size) }
    let base = whence == SEEK_CUR ? position : whence == SEEK_END ? size : 0
    let (target, overflow) = base.addingReportingOverflow(Int(offset))
    guard !overflow, (0...size).contains(target) else { return Int64(-EINVAL) }
    position = target
    return Int64(target)
  }
}

// SAFETY: the opaque pointer is the MuxerOutput whose context makes the call, and which owns it.
private let writeOutput:
  @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?, Int32) -> Int32 = {
    opaque, bytes, count in
    guard let opaque, count > 0 else { return 0 }
    Unmanaged<MuxerOutput>.fromOpaque(opaque).takeUnretainedValue()
      .write(UnsafeBufferPointer(start: bytes, count: Int(count)))
    return count
  }

private let seekOutput: @convention(c) (UnsafeMutableRawPointer?, Int64, Int32) -> Int64 = {
  opaque, offset, whence in
  guard let opaque else { return Int64(-EINVAL) }
  return Unmanaged<MuxerOutput>.fromOpaque(opaque).takeUnretainedValue().seek(offset, whence)
}
