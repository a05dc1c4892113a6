internal import CFFmpeg

/// A set-up libswscale context.
struct Scaler: ~Copyable {
  /// One side of a conversion.
  struct Picture: Equatable {
    var format: AVPixelFormat
    var coding: ColorCoding
    var width: Int32
    var height: Int32
    /// Where the first chroma line of 4:2:0 lies, in 1/256 of a line below the first luma line.
    var chromaLine: Int64 = 128
  }

  struct Plan: Equatable {
    var from: Picture
    var to: Picture
    /// libswscale's `SWS_…` flags.
    var flags: Int32
  }

  let plan: Plan
  private let context: OpaquePointer

  init(_ plan: Plan) throws(CodecError) {
    guard let context = sws_alloc_context() else {
      throw CodecError(function: "sws_alloc_context", code: -ENOMEM)
    }
    do throws(CodecError) {
      try Scaler.set(up: context, plan)
    } catch {
      sws_freeContext(context)
      throw error
    }
    self.plan = plan
    self.context = context
  }

  deinit {
    sws_freeContext(context)
  }

  borrowing func scale(
    _ frame: borrowing Frame, into result: borrowing Frame
  ) throws(CodecError) {
    try check(
      sws_scale_frame(context, result.av.pointer, frame.av.pointer), "sws_scale_frame")
  }

  private static func set(up context: OpaquePointer, _ plan: Plan) throws(CodecError) {
    let options: [(String, Int64)] = [
      ("srcw", Int64(plan.from.width)), ("srch", Int64(plan.from.height)),
      ("src_format", Int64(plan.from.format.rawValue)),
      ("dstw", Int64(plan.to.width)), ("dsth", Int64(plan.to.height)),
      ("dst_format", Int64(plan.to.format.rawValue)),
      ("sws_flags", Int64(plan.flags)),
      ("src_range", plan.from.coding.isFullRange ? 1 : 0),
      ("dst_range", plan.to.coding.isFullRange ? 1 : 0),
      ("src_v_chr_pos", plan.from.format.halvesChromaHeight ? plan.from.chromaLine : -513),
      ("dst_v_chr_pos", plan.to.format.halvesChromaHeight ? plan.to.chromaLine : -513),
    ]
    for (name, value) in options {
      try check(
        av_opt_set_int(UnsafeMutableRawPointer(context), name, value, 0), "av_opt_set_int")
    }
    try check(sws_init_context(context, nil, nil), "sws_init_context")
    // Answers -1 where there is no matrix to set up, such as from gray to gray.
    _ = sws_setColorspaceDetails(
      context, sws_getCoefficients(plan.from.coding.matrix), plan.from.coding.isFullRange ? 1 : 0,
      sws_getCoefficients(plan.to.coding.matrix), plan.to.coding.isFullRange ? 1 : 0,
      0, 1 << 16, 1 << 16)
  }
}
