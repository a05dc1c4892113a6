internal import CFFmpeg

/// What libavformat reads with.
final class DemuxerReader {
  let io: UnsafeMutablePointer<AVIOContext>
  private let source: any DemuxerSource
  private let count: Int
  private var position = 0
  /// Bytes that may still be read.
  private var budget: Int

  /// Bytes that may be read until this is set anew.
  var allowance = Int.max

  private static let bufferSize = 64 << 10

  init(_ source: any DemuxerSource, maxReadFactor: Int) throws(CodecError) {
    self.source = source
    count = source.count
    let (product, overflows) = count.multipliedReportingOverflow(by: maxReadFactor)
    budget = overflows ? .max : max(product, 64 << 20)
    guard let buffer = av_malloc(Self.bufferSize) else {
      throw CodecError(function: "av_malloc", code: -ENOMEM)
    }
    let allocated = avio_alloc_context(
      buffer.assumingMemoryBound(to: UInt8.self), Int32(Self.bufferSize), 0, nil, readBytes, nil,
      seek)
    guard let allocated else {
      av_free(buffer)
      throw CodecError(function: "avio_alloc_context", code: -ENOMEM)
    }
    io = allocated
    // The owner of libavformat's context keeps this object alive.
    io.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
  }

  deinit {
    // libavformat may have put another buffer in place of the first.
    av_free(io.pointee.buffer)
    var pointer: UnsafeMutablePointer<AVIOContext>? = io
    avio_context_free(&pointer)
  }

  /// Called when libavformat's context is gone, so that the reader is still there until then.
  func end() {}

  fileprivate func read(_ buffer: UnsafeMutableBufferPointer<UInt8>) -> Int32 {
    guard position < count else { return nalu_error_end_of_stream }
    guard budget > 0, allowance > 0, !Interruption.isDue else { return -EIO }
    // libavformat may want all of a large structure at once.
    let room = UnsafeMutableBufferPointer(rebasing: buffer[..<min(buffer.count, allowance)])
    var output = OutputSpan(buffer: room, initializedCount: 0)
    let isRead = source.read(at: position, into: &output)
    let taken = output.finalize(for: room)
    guard isRead, taken > 0 else { return -EIO }
    position += taken
    budget -= taken
    allowance -= taken
    return Int32(taken)
  }

  fileprivate func move(to offset: Int64, _ whence: Int32) -> Int64 {
    if whence & AVSEEK_SIZE != 0 { return Int64(count) }
    let base: Int64
    switch whence & ~AVSEEK_FORCE {
    case SEEK_SET: base = 0
    case SEEK_CUR: base = Int64(position)
    case SEEK_END: base = Int64(count)
    default: return Int64(-EINVAL)
    }
    let (target, overflows) = base.addingReportingOverflow(offset)
    guard !overflows, target >= 0 else { return Int64(-EINVAL) }
    position = Int(target)
    return target
  }
}

private let readBytes:
  @convention(c) (UnsafeMutableRawPointer?, UnsafeMutablePointer<UInt8>?, Int32) -> Int32 = {
    opaque, buffer, size in
    guard let opaque, let buffer, size > 0 else { return -EINVAL }
    return Unmanaged<DemuxerReader>.fromOpaque(opaque).takeUnretainedValue()
      .read(UnsafeMutableBufferPointer(start: buffer, count: Int(size)))
  }

private let seek: @convention(c) (UnsafeMutableRawPointer?, Int64, Int32) -> Int64 = {
  opaque, offset, whence in
  guard let opaque else { return Int64(-EINVAL) }
  return Unmanaged<DemuxerReader>.fromOpaque(opaque).takeUnretainedValue()
    .move(to: offset, whence)
}
