internal import Platform
internal import Synchronization

/// The room for temporary files that all jobs share, counted against `Limits.maxSpool`.
package final class SpoolDirectory: Sendable {
  package let path: String
  package let capacity: Int
  /// For what need not go to a file.
  let memory: MemoryBudget
  private let used = Atomic<Int>(0)
  /// What this is a share of.
  private let whole: SpoolDirectory?

  package init(path: String, capacity: Int, memory: Int = Limits().maxMemory) {
    self.path = path
    self.capacity = capacity
    self.memory = MemoryBudget(capacity: memory)
    whole = nil
  }

  private init(shareOf whole: SpoolDirectory) {
    path = whole.path
    capacity = whole.capacity - whole.capacity / 4
    memory = whole.memory
    self.whole = whole
  }

  /// The room that one job may take: three quarters, so that others have some whatever it does.
  func share() -> SpoolDirectory { SpoolDirectory(shareOf: self) }

  /// Bytes in temporary files now.
  package var usedBytes: Int { used.load(ordering: .relaxed) }

  fileprivate func reserve(_ bytes: Int) throws(Problem) {
    let now = used.add(bytes, ordering: .relaxed).newValue
    if now > capacity {
      used.subtract(bytes, ordering: .relaxed)
      throw isFull
    }
    do throws(Problem) {
      try whole?.reserve(bytes)
    } catch {
      used.subtract(bytes, ordering: .relaxed)
      throw error
    }
  }

  private var isFull: Problem {
    guard whole != nil else {
      return Problem(
        .insufficientStorage,
        "Temporary data of all jobs would exceed max_spool, \(capacity) bytes; retry later.")
    }
    var problem = Problem(
      .insufficientStorage,
      "Temporary data of the job would exceed three quarters of max_spool, \(capacity) bytes.")
    problem.retryAfter = nil
    return problem
  }

  fileprivate func release(_ bytes: Int) {
    used.subtract(bytes, ordering: .relaxed)
    whole?.release(bytes)
  }
}

/// Bytes that must wait: appended at the end, read anywhere. The first few MiB stay in memory as
/// long as there is some, the rest goes to an unlinked temporary file.
package struct Spool: ~Copyable, Sendable {
  private let directory: SpoolDirectory
  private let memoryCapacity: Int
  private var memory: [UInt8] = []
  private var file: TemporaryFile?
  private var reserved = 0
  /// Bytes appended so far.
  package private(set) var count = 0

  package init(in directory: SpoolDirectory, memoryCapacity: Int = Limits.spoolMemory) {
    self.directory = directory
    self.memoryCapacity = memoryCapacity
  }

  deinit {
    directory.release(reserved)
    directory.memory.release(memory.count)
  }

  /// Appends all of `bytes`; throws `insufficient-storage` when there is no room.
  package mutating func append(_ bytes: Span<UInt8>) throws(Problem) {
    if file == nil, count + bytes.count <= memoryCapacity,
      directory.memory.reserve(bytes.count, for: .spools)
    {
      memory.append(copying: bytes)
      count += bytes.count
      return
    }
    try directory.reserve(bytes.count)
    reserved += bytes.count
    do throws(SystemError) {
      if file == nil { file = try TemporaryFile(in: directory.path) }
      try file?.append(bytes)
    } catch {
      throw Self.cannotBeWritten
    }
    count += bytes.count
  }

  /// Puts all of `bytes` at `offset`, over what is there, and appends what goes beyond the end.
  /// `offset` is not beyond the end.
  package mutating func write(_ bytes: Span<UInt8>, at offset: Int) throws(Problem) {
    precondition(offset <= count)
    var done = 0
    while done < bytes.count, offset + done < memory.count {
      memory[offset + done] = bytes[done]
      done += 1
    }
    let overwritten = max(done, min(bytes.count, count - offset))
    if overwritten > done {
      do throws(SystemError) {
        try file?.write(
          bytes.extracting(done..<overwritten), at: offset + done - memory.count)
      } catch {
        throw Self.cannotBeWritten
      }
    }
    if overwritten < bytes.count { try append(bytes.extracting(overwritten..<bytes.count)) }
  }

  private static var cannotBeWritten: Problem {
    Problem(.insufficientStorage, "Temporary data cannot be written; retry later or elsewhere.")
  }

  private static var cannotBeRead: Problem {
    Problem(.internal, "Temporary data cannot be read back.")
  }

  /// Fills the free room of `output` from `offset` on, as far as there are bytes.
  package borrowing func read(
    at offset: Int, into output: inout OutputSpan<UInt8>
  ) throws(Problem) {
    var position = offset
    if position < memory.count {
      position += output.append(fitting: memory.span.extracting(position..<memory.count))
    }
    guard position < count, !output.isFull else { return }
    let start = output.count
    do throws(SystemError) {
      try file?.read(at: position - memory.count, into: &output)
    } catch {
      throw Self.cannotBeRead
    }
    // The file may have been cut.
    guard output.isFull || output.count - start == count - position else { throw Self.cannotBeRead }
  }
}
