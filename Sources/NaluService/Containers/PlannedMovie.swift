internal import Platform

/// An MP4 file that is put together on its way out: what libavformat writes around the samples, and
/// samples that stay in the upload until then.
struct PlannedMovie: ~Copyable, Sendable {
  private let upload: SampleList
  /// Samples of sound, which the upload may not have in one piece.
  private var sound: Spool
  private var pieces: [Piece] = []
  private var sampleBytes = 0
  /// Bytes of memory that the plan takes.
  private(set) var heldBytes: Int
  /// `ftyp`, `free` and the beginning of `mdat`.
  private var head: [UInt8] = []
  /// `moov`, and where it begins as libavformat wrote it.
  private var tail: [UInt8] = []
  private var tailStart = 0

  fileprivate struct Piece {
    var offset: Int
    var size: Int
    var isSound: Bool
  }

  /// - Parameters:
  ///   - upload: Has the samples of video.
  ///   - spoolDirectory: Where those of sound wait.
  init(_ upload: SampleList, _ spoolDirectory: SpoolDirectory) {
    self.upload = upload
    sound = Spool(in: spoolDirectory)
    heldBytes = upload.heldBytes
  }

  /// The next sample is this one.
  mutating func append(_ sample: SampleList.Sample) {
    for piece in upload.pieces(of: sample) {
      append(Piece(offset: piece.offset, size: piece.size, isSound: false))
    }
  }

  /// The next sample is sound.
  mutating func append(sound bytes: Span<UInt8>) throws(Problem) {
    append(Piece(offset: sound.count, size: bytes.count, isSound: true))
    try sound.append(bytes)
  }

  private mutating func append(_ piece: Piece) {
    sampleBytes += piece.size
    if let last = pieces.indices.last, pieces[last].isSound == piece.isSound,
      pieces[last].offset + pieces[last].size == piece.offset
    {
      pieces[last].size += piece.size
    } else {
      pieces.append(piece)
      heldBytes += MemoryLayout<Piece>.stride
    }
  }

  /// Takes what libavformat put out beside the samples.
  mutating func take(_ bytes: Span<UInt8>, at offset: Int) {
    if pieces.isEmpty || offset < head.count {
      Self.put(bytes, at: offset, in: &head)
    } else {
      if tail.isEmpty { tailStart = offset }
      Self.put(bytes, at: offset - tailStart, in: &tail)
    }
  }

  private static func put(_ bytes: Span<UInt8>, at offset: Int, in target: inout [UInt8]) {
    let end = offset + bytes.count
    if end > target.count { target += repeatElement(0, count: end - target.count) }
    for index in bytes.indices { target[offset + index] = bytes[index] }
  }

  /// Nothing follows: the file in the order in which it goes out.
  consuming func finished() throws(Problem) -> Reading {
    guard tailStart == head.count + sampleBytes else {
      throw Problem(.internal, "The samples are not where the index says.")
    }
    let movie = try MovieIndex(head: head, tail: tail, at: tailStart)
    let typeSize = movie.front.count + movie.shift
    return Reading(
      length: movie.length, front: movie.front + head[typeSize...], upload: upload, sound: sound,
      pieces: pieces)
  }

  /// The file, read from its beginning.
  struct Reading: ~Copyable, Sendable {
    let length: Int
    fileprivate let front: [UInt8]
    fileprivate let upload: SampleList
    fileprivate let sound: Spool
    fileprivate let pieces: [Piece]
    private var piece = 0
    /// Bytes of the front, then of the piece, that are out.
    private var position = 0
    private var isInFront = true

    private static let stepSize = 256 << 10

    fileprivate init(
      length: Int, front: [UInt8], upload: SampleList, sound: consuming Spool, pieces: [Piece]
    ) {
      self.length = length
      self.front = front
      self.upload = upload
      self.sound = sound
      self.pieces = pieces
    }

    /// Appends the next bytes; true when they were the last.
    mutating func read(into bytes: inout [UInt8]) throws(Problem) -> Bool {
      var wanted = Self.stepSize
      if isInFront {
        let end = min(front.count, position + wanted)
        bytes += front[position..<end]
        wanted -= end - position
        position = end
        guard position == front.count else { return false }
        isInFront = false
        position = 0
      }
      while wanted > 0, piece < pieces.count {
        let size = min(wanted, pieces[piece].size - position)
        try append(pieces[piece], position, size, to: &bytes)
        wanted -= size
        position += size
        if position == pieces[piece].size {
          piece += 1
          position = 0
        }
      }
      return piece == pieces.count
    }

    private func append(
      _ piece: Piece, _ position: Int, _ size: Int, to bytes: inout [UInt8]
    ) throws(Problem) {
      let before = bytes.count
      let offset = piece.offset + position
      try bytes.append(addingCapacity: size) {
        (output: inout OutputSpan<UInt8>) throws(Problem) in
        if piece.isSound {
          try sound.read(at: offset, into: &output)
        } else {
          _ = upload.read(at: offset, into: &output)
        }
      }
      guard bytes.count == before + size else {
        throw Problem(.internal, "The input cannot be read any more, or has become shorter.")
      }
    }
  }
}
