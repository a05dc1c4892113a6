internal import Platform

/// The result on its way to the reader. What is produced while it cannot be read (libmicrohttpd is
/// half duplex: not before the upload has ended) goes to a spool; from then on it waits in memory,
/// and above the output mark the job waits for its reader. What memory has no room for goes to a
/// temporary file.
struct JobOutput: ~Copyable {
  /// A result of fewer bytes is not begun before it is complete, so that it has a length.
  static let streamThreshold = 1 << 16

  /// The first part of the result; absent while a worker appends to it.
  private var spool: Spool?
  private var spooledBytes = 0
  private var isSpoolOut = false
  var answer = Answer()
  var counters = Counters()
  /// Bytes produced so far.
  private(set) var length = 0
  /// The reader found nothing and waits to be told.
  var readerWaits = false
  private var spoolPosition = 0
  private var pending = FirstInFirstOut<[UInt8]>()
  private var pendingBytes = 0
  private var pendingPosition = 0
  /// What follows the pending bytes when the job does not wait for its reader any more.
  private var overflow: Spool?
  private var overflowPosition = 0
  private let directory: SpoolDirectory

  init(in directory: SpoolDirectory) {
    self.directory = directory
    spool = Spool(in: directory)
  }

  deinit {
    directory.memory.release(pendingBytes)
  }

  /// Whether what is produced now can be read as it comes.
  func isStreaming(after input: borrowing JobInput) -> Bool {
    input.isEnded && answer.start == .whenReady
  }

  /// The job has to wait for its reader.
  var isAboveMark: Bool { pendingBytes + unreadOverflow >= Limits.outputMark && !neverWaits }

  /// The job does not wait for its reader any more: what is above the mark goes to a file.
  var neverWaits = false

  var isReadable: Bool {
    !isSpoolOut && (spoolPosition < spooledBytes || pendingBytes > 0 || unreadOverflow > 0)
  }

  private var unreadOverflow: Int { overflowBytes - overflowPosition }
  private var overflowBytes = 0

  /// Hands the spool to a worker.
  mutating func takeSpool() -> Spool? {
    isSpoolOut = spool != nil
    return spool.take()
  }

  mutating func putBack(_ spool: consuming Spool) {
    spooledBytes = spool.count
    self.spool = consume spool
    isSpoolOut = false
  }

  /// Counts what a step produced and, unless it went to the spool, keeps it for the reader.
  mutating func append(_ bytes: [UInt8], spooled: Int) throws(Problem) {
    length += bytes.count + spooled
    guard !bytes.isEmpty else { return }
    let staysInMemory =
      unreadOverflow == 0 && pendingBytes < Limits.outputMark
      && directory.memory.reserve(bytes.count, for: .results)
    guard staysInMemory else { return try appendToFile(bytes) }
    pending.append(bytes)
    pendingBytes += bytes.count
  }

  private mutating func appendToFile(_ bytes: [UInt8]) throws(Problem) {
    if unreadOverflow == 0 {
      overflow = Spool(in: directory, memoryCapacity: 0)
      overflowPosition = 0
      overflowBytes = 0
    }
    try overflow?.append(bytes.span)
    overflowBytes += bytes.count
  }

  /// Moves bytes into the free room of `output`; none when there are none, or not yet.
  mutating func read(into output: inout OutputSpan<UInt8>) throws(Problem) {
    guard isReadable else { return }
    if spoolPosition < spooledBytes {
      let before = output.count
      try spool?.read(at: spoolPosition, into: &output)
      spoolPosition += output.count - before
      guard spoolPosition == spooledBytes else { return }
      spool = nil
    }
    while !output.isFull, let chunk = pending.first {
      let rest = chunk.span.extracting(pendingPosition..<chunk.count)
      let taken = output.append(fitting: rest)
      pendingPosition += taken
      pendingBytes -= taken
      directory.memory.release(taken)
      if pendingPosition == chunk.count {
        _ = pending.removeFirst()
        pendingPosition = 0
      }
    }
    if !output.isFull, unreadOverflow > 0 {
      let before = output.count
      try overflow?.read(at: overflowPosition, into: &output)
      overflowPosition += output.count - before
      if unreadOverflow == 0 { overflow = nil }
    }
  }

  mutating func removeAll() {
    spool = nil
    overflow = nil
    overflowPosition = overflowBytes
    pending = FirstInFirstOut()
    directory.memory.release(pendingBytes)
    pendingBytes = 0
    pendingPosition = 0
  }
}
