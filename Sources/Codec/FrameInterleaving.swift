internal import CFFmpeg

extension Frame {
  /// The picture with Cb and Cr alternating in one plane instead of a plane for each.
  ///
  /// - Parameter format: The semi-planar layout of 8 bits whose chroma is sampled as that of this
  ///   picture, which is planar.
  /// - Returns: A new picture with the properties of this one.
  /// - Throws: `CodecError` when there is no memory.
  borrowing func chromaInterleaved(as format: PixelFormat) throws(CodecError) -> Frame {
    let source = av.pointer
    let result = try Frame()
    let target = result.av.pointer
    target.pointee.format = format.libav.rawValue
    target.pointee.width = source.pointee.width
    target.pointee.height = source.pointee.height
    try check(av_frame_get_buffer(target, 0), "av_frame_get_buffer")
    try check(av_frame_copy_props(target, source), "av_frame_copy_props")
    guard let luma = source.plane(0), let cb = source.plane(1), let cr = source.plane(2),
      let lumaTarget = target.plane(0), let chromaTarget = target.plane(1)
    else { throw CodecError(function: "av_frame_get_buffer", code: -EINVAL) }
    for row in 0..<height {
      (lumaTarget + row * target.stride(0)).update(
        from: luma + row * source.stride(0), count: width)
    }
    let columns = format.chroma.halvesWidth ? (width + 1) / 2 : width
    for row in 0..<rows(ofPlane: 1) {
      let cbRow = cb + row * source.stride(1)
      let crRow = cr + row * source.stride(2)
      let chromaRow = chromaTarget + row * target.stride(1)
      for column in 0..<columns {
        chromaRow[2 * column] = cbRow[column]
        chromaRow[2 * column + 1] = crRow[column]
      }
    }
    return result
  }
}
