internal import CFFmpeg

/// One of the eight ways in which a picture can be laid on the table.
package struct Orientation: Equatable, Sendable {
  /// Clockwise quarter turns, 0 to 3, after the flip.
  package let quarterTurns: Int
  /// Left and right are exchanged first.
  package let isFlipped: Bool

  package static let upright = Orientation(quarterTurns: 0, isFlipped: false)

  package init(quarterTurns: Int, isFlipped: Bool) {
    self.quarterTurns = quarterTurns & 3
    self.isFlipped = isFlipped
  }

  /// Width and height are exchanged.
  package var swapsAxes: Bool { quarterTurns & 1 == 1 }

  /// The upper field becomes the lower.
  package var flipsLines: Bool { !swapsAxes && quarterTurns == 2 }

  /// The nine numbers of a display matrix, as in `Track.displayMatrix`.
  package var displayMatrix: [Int32] {
    let turns: [(a: Int32, b: Int32, c: Int32, d: Int32)] = [
      (1, 0, 0, 1), (0, 1, -1, 0), (-1, 0, 0, -1), (0, -1, 1, 0),
    ]
    var (a, b, c, d) = turns[quarterTurns]
    if isFlipped { (a, b) = (-a, -b) }
    let one: Int32 = 1 << 16
    return [a * one, b * one, 0, c * one, d * one, 0, 0, 0, 1 << 30]
  }

  /// From the linear part of a display matrix: x' = a·x + c·y, y' = b·x + d·y. `nil` when that is
  /// no turn by a multiple of 90 degrees.
  init?(a: Int32, b: Int32, c: Int32, d: Int32) {
    switch (a.signum(), b.signum(), c.signum(), d.signum()) {
    case (1, 0, 0, 1): self.init(quarterTurns: 0, isFlipped: false)
    case (0, 1, -1, 0): self.init(quarterTurns: 1, isFlipped: false)
    case (-1, 0, 0, -1): self.init(quarterTurns: 2, isFlipped: false)
    case (0, -1, 1, 0): self.init(quarterTurns: 3, isFlipped: false)
    case (-1, 0, 0, 1): self.init(quarterTurns: 0, isFlipped: true)
    case (0, -1, -1, 0): self.init(quarterTurns: 1, isFlipped: true)
    case (1, 0, 0, -1): self.init(quarterTurns: 2, isFlipped: true)
    case (0, 1, 1, 0): self.init(quarterTurns: 3, isFlipped: true)
    default: return nil
    }
  }
}

extension Frame {
  /// How the stream asks for the picture to be shown (display_orientation SEI, H.264 §D.2.27);
  /// `nil` when it does not. Turns by other than multiples of 90 degrees count as none.
  package var orientation: Orientation? {
    guard let side = av_frame_get_side_data(av.pointer, AV_FRAME_DATA_DISPLAYMATRIX),
      side.pointee.size >= 9 * MemoryLayout<Int32>.size
    else { return nil }
    return side.pointee.data.withMemoryRebound(to: Int32.self, capacity: 9) { matrix in
      Orientation(a: matrix[0], b: matrix[1], c: matrix[3], d: matrix[4]) ?? .upright
    }
  }

  /// The picture laid as `orientation` says. Chroma that is subsampled in one direction only would
  /// be so in the other after a quarter turn, for which there are no layouts: such pictures must be
  /// converted before.
  package consuming func turned(_ orientation: Orientation) throws(CodecError) -> Frame {
    if orientation == .upright { return self }
    let result = try Frame()
    let source = av.pointer
    let target = result.av.pointer
    try check(av_frame_copy_props(target, source), "av_frame_copy_props")
    let format = AVPixelFormat(source.pointee.format)
    target.pointee.format = source.pointee.format
    target.pointee.width =
      orientation.swapsAxes ? source.pointee.height : source.pointee.width
    target.pointee.height =
      orientation.swapsAxes ? source.pointee.width : source.pointee.height
    try check(av_frame_get_buffer(target, 0), "av_frame_get_buffer")
    for plane in 0..<4 {
      guard let from = source.plane(plane), let to = target.plane(plane) else { break }
      let bytesPerPixel = Frame.bytesPerPixel(format, plane: plane)
      let bytesPerRow = Int(av_image_get_linesize(format, target.pointee.width, Int32(plane)))
      orientation.copyPixels(
        from: from, stride: source.stride(plane), to: to, stride: target.stride(plane),
        bytesPerPixel: bytesPerPixel, width: bytesPerRow / bytesPerPixel,
        height: result.rows(ofPlane: plane))
    }
    return result
  }

  private static func bytesPerPixel(_ format: AVPixelFormat, plane: Int) -> Int {
    let isChroma = plane == 1 || plane == 2
    let halvings = isChroma ? av_pix_fmt_desc_get(format)?.pointee.log2_chroma_w ?? 0 : 0
    return max(1, Int(av_image_get_linesize(format, 16, Int32(plane))) / (16 >> Int(halvings)))
  }
}

extension Orientation {
  /// Fills a target of `width` by `height` pixels.
  fileprivate func copyPixels(
    from source: UnsafePointer<UInt8>, stride sourceStride: Int,
    to target: UnsafeMutablePointer<UInt8>, stride targetStride: Int,
    bytesPerPixel: Int, width: Int, height: Int
  ) {
    let sourceWidth = swapsAxes ? height : width
    // Where the target's first pixel comes from, and what a step right or down means there.
    let mirror = isFlipped ? -1 : 1
    let (right, down): ((x: Int, y: Int), (x: Int, y: Int)) =
      switch quarterTurns {
      case 0: ((mirror, 0), (0, 1))
      case 1: ((0, -1), (mirror, 0))
      case 2: ((-mirror, 0), (0, -1))
      default: ((0, 1), (-mirror, 0))
      }
    let firstX = right.x + down.x < 0 ? sourceWidth - 1 : 0
    let firstY = right.y + down.y < 0 ? (swapsAxes ? width : height) - 1 : 0
    let stepRight = right.x * bytesPerPixel + right.y * sourceStride
    for row in 0..<height {
      let x = firstX + row * down.x
      let y = firstY + row * down.y
      var from = source + y * sourceStride + x * bytesPerPixel
      var to = target + row * targetStride
      for _ in 0..<width {
        for byte in 0..<bytesPerPixel { to[byte] = from[byte] }
        from += stepRight
        to += bytesPerPixel
      }
    }
  }
}
