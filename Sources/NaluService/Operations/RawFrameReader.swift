internal import Codec
internal import Platform

/// Cuts an upload of raw video, headerless or Y4M, into pictures. Blocks may have any size.
struct RawFrameReader: Sendable {
  /// A picture's bytes within a block.
  struct RawFrame {
    var block: Block
    var offset: Int
  }

  /// `nil` until a Y4M header has been read.
  private(set) var video: RawVideo?
  let isY4M: Bool
  /// The source was stopped, in the middle of a picture perhaps.
  var isStopped = false
  private let notY4M: Problem
  private let isPrompt: Bool
  private let limits: Limits
  private var place: Place
  private var block: Block?
  private var position = 0
  /// The header line that is being read.
  private var line: [UInt8] = []
  /// The first bytes of headerless video, until they are known not to be Y4M.
  private var beginning: [UInt8] = []
  /// The picture that is being put together from several blocks.
  private var partial: Block?
  private var framesRead = 0

  private enum Place {
    case streamHeader, frameHeader, samples
  }

  private static let longestLine = 1024
  private static let smallBlock = 4096

  /// - Parameters:
  ///   - video: What headerless video is; `nil` when a Y4M header must say it.
  ///   - problem: What to say of a body without a Y4M header where there must be one.
  ///   - isPrompt: Ask for blocks that end with a picture, however small.
  ///   - limits: Bounds the size that a Y4M header may state.
  init(_ video: RawVideo?, ifNotY4M problem: Problem, isPrompt: Bool, limits: Limits) {
    self.video = video
    notY4M = problem
    self.isPrompt = isPrompt
    self.limits = limits
    isY4M = video == nil
    place = isY4M ? .streamHeader : .samples
  }

  /// Bytes of the next block that suit best: headerless pictures come one a block, and so do those
  /// of Y4M with their header once the reader is in step.
  var blockSize: Int {
    guard let frameSize = video?.frameSize else { return isPrompt ? 64 : Self.smallBlock }
    guard isY4M else { return frameSize }
    let record = Y4MHeader.frameMagic.count + 1 + frameSize
    switch place {
    case .streamHeader, .frameHeader: return record
    case .samples:
      let missing = frameSize - (partial?.count ?? 0)
      return isPrompt || missing >= Self.smallBlock ? missing : missing + record
    }
  }

  /// Takes the next block; the one before has been used up.
  mutating func push(_ next: Block) throws(Problem) {
    block = next
    position = 0
    if !isY4M { try refuseMagic(next) }
  }

  /// Whether bytes of the last block are left.
  var hasMore: Bool { block != nil }

  /// The next picture, or nil when that takes another block.
  mutating func next() throws(Problem) -> RawFrame? {
    while let current = block {
      guard position < current.count else {
        block = nil
        return nil
      }
      switch place {
      case .streamHeader:
        guard let header = try readLine(current, "stream") else { continue }
        let stated = try Y4MHeader(header).video
        try stated.check(limits)
        video = stated
        place = .frameHeader
      case .frameHeader:
        guard let header = try readLine(current, "frame") else { continue }
        try checkFrameHeader(header)
        place = .samples
      case .samples:
        if let frame = readSamples(current) { return frame }
      }
    }
    return nil
  }

  private mutating func readSamples(_ current: Block) -> RawFrame? {
    guard let frameSize = video?.frameSize else { return nil }
    let frame: RawFrame
    if partial == nil, current.count - position >= frameSize {
      frame = RawFrame(block: current, offset: position)
      position += frameSize
    } else {
      let target = partial ?? Block(capacity: frameSize)
      position += target.append(current.span.extracting(position..<current.count))
      partial = target.isFull ? nil : target
      guard target.isFull else { return nil }
      frame = RawFrame(block: target, offset: 0)
    }
    if position == current.count { block = nil }
    framesRead += 1
    if isY4M { place = .frameHeader }
    return frame
  }

  /// A line without its newline once it is complete.
  private mutating func readLine(_ current: Block, _ kind: String) throws(Problem) -> [UInt8]? {
    let bytes = current.span
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if byte == UInt8(ascii: "\n") {
        defer { line = [] }
        if place == .streamHeader, !line.starts(with: Y4MHeader.magic) { throw notY4M }
        return line
      }
      line.append(byte)
      if place == .streamHeader, line.count == Y4MHeader.magic.count, line != Y4MHeader.magic {
        throw notY4M
      }
      guard line.count <= Self.longestLine else {
        throw Problem(
          .unrecognisedInput,
          "The Y4M \(kind) header is longer than \(Self.longestLine) bytes.")
      }
    }
    return nil
  }

  private func checkFrameHeader(_ header: [UInt8]) throws(Problem) {
    let magic = Y4MHeader.frameMagic
    guard header.starts(with: magic),
      header.count == magic.count || header[magic.count] == UInt8(ascii: " ")
    else {
      throw Problem(
        .unrecognisedInput,
        "Y4M frame \(framesRead) does not begin with FRAME.", members: [.init("frame", framesRead)])
    }
  }

  private mutating func refuseMagic(_ next: Block) throws(Problem) {
    guard beginning.count < Y4MHeader.magic.count else { return }
    let bytes = next.span
    let wanted = min(bytes.count, Y4MHeader.magic.count - beginning.count)
    for index in 0..<wanted { beginning.append(bytes[index]) }
    if beginning == Y4MHeader.magic {
      throw Problem(
        .conflictingParameters,
        "The body is Y4M, whose header gives the size and format; leave width, height and "
          + "pix_fmt out.", parameter: "width")
    }
  }

  /// Checks at the end of input that nothing is left over.
  func checkEnd() throws(Problem) {
    if isStopped, framesRead > 0 { return }
    switch place {
    case .streamHeader:
      guard !line.isEmpty else {
        throw Problem(.emptyBody, "The body has no bytes; frames were expected.")
      }
      guard line.starts(with: Y4MHeader.magic) || Y4MHeader.magic.starts(with: line) else {
        throw notY4M
      }
      throw Problem(
        .partialFrame, "The body ends within the Y4M header, after \(line.count) bytes.",
        members: [.init("remainder", line.count)])
    case .frameHeader:
      guard line.isEmpty else {
        throw partialProblem(
          "\(framesRead) frames are followed by \(line.count) bytes of a Y4M frame header",
          line.count)
      }
      guard framesRead > 0 else {
        throw Problem(.emptyBody, "The Y4M header is followed by no frame.")
      }
    case .samples:
      let remainder = partial?.count ?? 0
      if isY4M {
        throw partialProblem(
          "\(Self.frames(framesRead)) of Y4M \(framesRead == 1 ? "is" : "are") followed by "
            + "\(remainder) of the next frame's \(video?.frameSize ?? 0) bytes", remainder)
      }
      if remainder > 0, let video {
        throw Self.partialFrame(framesRead * video.frameSize + remainder, of: video)
      }
      guard framesRead > 0 else {
        throw Problem(.emptyBody, "The body has no bytes; frames were expected.")
      }
    }
  }

  private func partialProblem(_ detail: String, _ remainder: Int) -> Problem {
    Problem(
      .partialFrame, detail,
      members: [
        .init("frame_size", video?.frameSize ?? 0), .init("remainder", remainder),
      ])
  }

  /// The problem of headerless video of `length` bytes, which is no whole number of frames.
  static func partialFrame(_ length: Int, of video: RawVideo) -> Problem {
    let (whole, remainder) = length.quotientAndRemainder(dividingBy: video.frameSize)
    return Problem(
      .partialFrame,
      "\(length) bytes are \(frames(whole)) of \(video.frameSize) bytes and a remainder of "
        + "\(remainder) bytes",
      members: [.init("frame_size", video.frameSize), .init("remainder", remainder)])
  }

  private static func frames(_ count: Int) -> String { count == 1 ? "1 frame" : "\(count) frames" }
}
