package import Platform

/// Something Nalu can do to a stream of bytes: a small state machine that is advanced in bounded
/// steps and knows nothing of HTTP, files, threads or locks.
///
/// Whoever runs it (a job of the work queue, the command line, a test) repeats: while `step`
/// answers `.again`, step; on `.needsInput` push the next block, or call `endOfInput` once when
/// there is none. Only one thread touches an operation at a time.
package protocol Operation: ~Copyable, Sendable {
  /// Bytes per block of upload: one raw frame for an encode, 256 KiB for a scan. Every block but
  /// the last of its part is full. May change after a push (a Y4M header has been read).
  var blockSize: Int { get }

  /// From the next step on the operation holds a codec, and needs a slot out of `Limits.jobs`. Looked
  /// at after every step.
  var isExpensive: Bool { get }

  /// A step on a picture is likely to be slow, by what is known now. Looked at after every step.
  var isLarge: Bool { get }

  /// Bytes that the codec takes at most, about; `.max` when that is not known, or matters to nobody
  /// because the codec never waits for input. Looked at after every step.
  var codecBytes: Int { get }

  /// Bytes that the operation keeps in memory of what grows with its input; not what belongs to
  /// a codec. Looked at after every step.
  var heldBytes: Int { get }

  /// Takes a block; called only after `step` answered `.needsInput` (or first of all).
  ///
  /// Cheap: the work is done in `step`. The operation may keep the block.
  mutating func push(_ block: Block) throws(Problem)

  /// Takes a block of the second part of the upload, as `push`; only where the endpoint has one.
  mutating func pushSecond(_ block: Block) throws(Problem)

  /// No block follows.
  mutating func endOfInput() throws(Problem)

  /// No block follows, because somebody stopped the source: what is incomplete at the end does not
  /// count.
  mutating func endOfStoppedInput() throws(Problem)

  /// Does one bounded piece of work (a frame, one packet of a flush, an access unit, one block of
  /// scanning) and appends what it produced.
  mutating func step(into output: inout Output) throws(Problem) -> Step
}

extension Operation where Self: ~Copyable {
  package mutating func endOfStoppedInput() throws(Problem) { try endOfInput() }
  package var isLarge: Bool { false }
  package var codecBytes: Int { .max }
  package var heldBytes: Int { 0 }
  package mutating func pushSecond(_ block: Block) throws(Problem) {}
}

/// What a step left to do.
package enum Step: Equatable, Sendable {
  /// There is more work that needs no input.
  case again
  /// Nothing can be done before the next block or the end of input.
  case needsInput
  /// The result is complete.
  case finished
}

/// What a step hands on: bytes of the result, and what is to be said of them in headers.
package struct Output: ~Copyable {
  /// Bytes that the step appended.
  package var bytes: [UInt8] = []
  /// How the result is announced. Set before the first byte, or with it; `answer.headers` may
  /// still grow until the answer starts, and `answer.trailers` until the end.
  package var answer = Answer()
  /// Frames and bytes, for the log and the metrics.
  package var counters = Counters()
  /// Jobs that hold a codec now, this one among them: what a step opens gets its share of the
  /// threads. The runner sets it.
  package var codecsInUse = 1

  package init() {}
}

/// The header of a result, as an operation sees it.
package struct Answer: Equatable, Sendable {
  /// When the answer may begin.
  package enum Start: Equatable, Sendable {
    /// Once the result is complete: it then has a `Content-Length`, and all headers are final.
    case whenComplete
    /// As soon as the upload has ended and there are bytes; later counts become trailers.
    case whenReady
  }

  package var contentType = "application/octet-stream"
  package var start = Start.whenComplete
  /// Bytes of the whole result, where that is known before it is complete: the answer then begins
  /// with a `Content-Length`, and all headers are final.
  package var length: Int?
  /// `Nalu-…` response headers in order.
  package var headers: [Field] = []
  /// Counts that are known only at the end: trailers when the answer is streamed, headers when
  /// it is not. `trailerNames` announces them in `Trailer`.
  package var trailers: [Field] = []
  package var trailerNames: [String] = []

  /// A header or trailer field.
  package struct Field: Equatable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  package init() {}
}

/// What an operation counted.
package struct Counters: Equatable, Sendable {
  package var framesIn = 0
  package var framesOut = 0
  package var decodeErrors = 0

  package init() {}
}
