internal import CFFmpeg

extension Frame {
  /// The picture as it was at the time of its first field.
  ///
  /// The lines of that field stay. A sample of the other field stays too where it fits between the
  /// lines above and below, so that what does not move keeps its sharpness; where it stands out
  /// from both, it is replaced by what lies between them along the likeliest edge.
  ///
  /// - Returns: The picture; a progressive one as it is.
  /// - Throws: `CodecError` when there is no memory.
  package consuming func deinterlaced() throws(CodecError) -> Frame {
    guard isInterlaced else { return self }
    let source = av.pointer
    let result = try Frame()
    let target = result.av.pointer
    target.pointee.format = source.pointee.format
    target.pointee.width = source.pointee.width
    target.pointee.height = source.pointee.height
    try check(av_frame_get_buffer(target, 0), "av_frame_get_buffer")
    try check(av_frame_copy_props(target, source), "av_frame_copy_props")
    target.pointee.interlaced_frame = 0
    let format = AVPixelFormat(source.pointee.format)
    let firstReplaced = isTopFieldFirst ? 1 : 0
    for plane in 0..<3 {
      let bytesPerRow = Int(av_image_get_linesize(format, source.pointee.width, Int32(plane)))
      guard bytesPerRow > 0, let from = source.plane(plane), let to = target.plane(plane) else {
        continue
      }
      let field = Weaving(
        source: UnsafeRawPointer(from), sourceStride: source.stride(plane),
        target: UnsafeMutableRawPointer(to), targetStride: target.stride(plane),
        rows: rows(ofPlane: plane), bytesPerRow: bytesPerRow)
      if bitDepth > 8 {
        field.replaceCombing(
          UInt16.self, firstReplaced: firstReplaced, threshold: 8 << (bitDepth - 8))
      } else {
        field.replaceCombing(UInt8.self, firstReplaced: firstReplaced, threshold: 8)
      }
    }
    return result
  }
}

/// A plane of two fields, and where it goes.
private struct Weaving {
  let source: UnsafeRawPointer
  let sourceStride: Int
  let target: UnsafeMutableRawPointer
  let targetStride: Int
  let rows: Int
  let bytesPerRow: Int

  /// Copies the plane, and replaces what is combed in the lines of the second field: 1, 3, 5, … when
  /// `firstReplaced` is 1, else 0, 2, 4, …. A sample is combed when it exceeds both neighbours, or
  /// falls below both, by more than `threshold`.
  func replaceCombing<Sample: FixedWidthInteger & UnsignedInteger>(
    _: Sample.Type, firstReplaced: Int, threshold: Int
  ) {
    let columns = bytesPerRow / MemoryLayout<Sample>.size
    for row in 0..<rows {
      let from = source + row * sourceStride
      let to = target + row * targetStride
      to.copyMemory(from: from, byteCount: bytesPerRow)
      guard row & 1 == firstReplaced, rows > 1 else { continue }
      let aboveRow = row == 0 ? row + 1 : row - 1
      let belowRow = row == rows - 1 ? row - 1 : row + 1
      let above = (source + aboveRow * sourceStride).assumingMemoryBound(to: Sample.self)
      let below = (source + belowRow * sourceStride).assumingMemoryBound(to: Sample.self)
      let line = from.assumingMemoryBound(to: Sample.self)
      let output = to.assumingMemoryBound(to: Sample.self)
      func excess(_ column: Int) -> Int {
        let value = Int(line[column])
        let (up, down) = (value - Int(above[column]), value - Int(below[column]))
        return up > 0 ? min(up, max(down, 0)) : min(-up, max(-down, 0))
      }
      for column in 0..<columns {
        let (left, right) = (max(column - 1, 0), min(column + 1, columns - 1))
        // A lone sample may be texture; with its neighbours it is not.
        guard excess(left) + excess(column) + excess(right) > 3 * threshold else { continue }
        output[column] = Self.between(above, below, left, column, right)
      }
    }
  }

  /// What lies between two lines, along the direction in which they differ least.
  @inline(__always)
  private static func between<Sample: FixedWidthInteger & UnsignedInteger>(
    _ above: UnsafePointer<Sample>, _ below: UnsafePointer<Sample>, _ left: Int, _ column: Int,
    _ right: Int
  ) -> Sample {
    var pair = (Int(above[column]), Int(below[column]))
    var least = abs(pair.0 - pair.1)
    for slanted in [
      (Int(above[left]), Int(below[right])), (Int(above[right]), Int(below[left])),
    ] where abs(slanted.0 - slanted.1) < least {
      least = abs(slanted.0 - slanted.1)
      pair = slanted
    }
    return Sample(truncatingIfNeeded: (pair.0 + pair.1 + 1) / 2)
  }
}
