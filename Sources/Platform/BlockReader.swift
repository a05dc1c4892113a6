internal import Glibc

/// What a command reads, block by block.
///
/// A regular file is read on a thread of its own, a few blocks ahead, so that copying from the page
/// cache and working on the bytes go on at the same time. Everything else is read when a block is
/// asked for: whoever reads a pipe may have to answer what has arrived before more can come.
package final class BlockReader {
  private let reading: Reading
  private let isAhead: Bool
  private let stop: InputStop?

  /// Starts at the file's position. `stop` ends what is not a regular file.
  package init(_ file: consuming InputFile, until stop: InputStop? = nil) {
    self.stop = stop
    let start = file.position
    reading = Reading(file, start ?? 0)
    isAhead = start != nil && reading.startThread()
  }

  deinit {
    reading.stop()
  }

  /// The next `size` bytes; a block that is not full is the last. `spare` is a block to use again.
  package func next(_ size: Int, spare: Block?) throws(SystemError) -> Block {
    precondition(size > 0)
    if isAhead { return try reading.next(size, spare: spare).get() }
    let block = spare?.capacity == size ? spare ?? Block(capacity: size) : Block(capacity: size)
    block.removeAll()
    try reading.file.fill(block, until: stop)
    return block
  }
}

extension BlockReader {
  /// What the reader and its thread share.
  private final class Reading {
    let file: InputFile
    // SAFETY: all that follows changes only with the mutex held.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    /// Some of it has changed.
    private let changed: UnsafeMutablePointer<pthread_cond_t>

    private var ready: [Result<Block, SystemError>] = []
    private var spares: [Block] = []
    /// Of the blocks to be filled; 0 until the first is asked for.
    private var size = 0
    /// Blocks that are ready at most; one more is being filled.
    private var depth = 1
    /// Where the first block that was not handed out begins, and the next to be filled.
    private var position: Int
    private var readPosition: Int
    /// Grows when what is being read is not wanted any more.
    private var generation = 0
    private var isAtEnd = false
    private var isStopped = false
    // Each side sleeps until there is work for a while: waking up costs as much as a block.
    private var isPaused = false
    private var isAwaited = false

    init(_ file: consuming InputFile, _ start: Int) {
      self.file = file
      position = start
      readPosition = start
      mutex = .allocate(capacity: 1)
      pthread_mutex_init(mutex, nil)
      changed = .allocate(capacity: 1)
      pthread_cond_init(changed, nil)
    }

    deinit {
      pthread_mutex_destroy(mutex)
      mutex.deallocate()
      pthread_cond_destroy(changed)
      changed.deallocate()
    }

    func startThread() -> Bool {
      var attributes = pthread_attr_t()
      pthread_attr_init(&attributes)
      defer { pthread_attr_destroy(&attributes) }
      // Nobody waits for its end: a read from a slow disk shall not keep the process.
      pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
      var thread = pthread_t()
      let context = Unmanaged.passRetained(self)
      let failure = pthread_create(
        &thread, &attributes,
        { context in
          guard let context else { return nil }
          Unmanaged<Reading>.fromOpaque(context).takeRetainedValue().read()
          return nil
        }, context.toOpaque())
      if failure != 0 { context.release() }
      return failure == 0
    }

    func stop() {
      locked {
        isStopped = true
        pthread_cond_broadcast(changed)
      }
    }

    func next(_ size: Int, spare: Block?) -> Result<Block, SystemError> {
      locked {
        if size != self.size { restart(size) }
        if let spare, spare.capacity == size, spares.count <= depth { spares.append(spare) }
        if ready.isEmpty { awaitBlocks() }
        guard !ready.isEmpty else { return .success(Block(capacity: 0)) }
        let result = ready.removeFirst()
        if case .success(let block) = result { position += block.count }
        if isPaused, ready.count <= depth / 2 {
          isPaused = false
          pthread_cond_broadcast(changed)
        }
        return result
      }
    }

    /// Waits for some blocks, or for the last.
    private func awaitBlocks() {
      isAwaited = true
      while ready.count < max(1, depth / 2), !isAtEnd { pthread_cond_wait(changed, mutex) }
      isAwaited = false
    }

    /// Reads anew from what was handed out last, in blocks of another size.
    private func restart(_ size: Int) {
      self.size = size
      // Some megabytes, or one block that is larger.
      depth = max(1, min(8, (2 << 20) / size))
      generation += 1
      readPosition = position
      isAtEnd = false
      isPaused = false
      ready.removeAll()
      spares.removeAll()
      pthread_cond_broadcast(changed)
    }

    /// The thread.
    private func read() {
      while let task = nextTask() {
        let result = Result { () throws(SystemError) in
          try file.fill(task.block, at: task.position)
          return task.block
        }
        locked { deliver(result, task) }
      }
    }

    private struct Task {
      let block: Block
      let position: Int
      let generation: Int
    }

    /// Waits for room; nil when there will be none.
    private func nextTask() -> Task? {
      locked {
        while !isStopped, size == 0 || isAtEnd || isPaused {
          pthread_cond_wait(changed, mutex)
        }
        guard !isStopped else { return nil }
        let block = spares.popLast() ?? Block(capacity: size)
        block.removeAll()
        return Task(block: block, position: readPosition, generation: generation)
      }
    }

    private func deliver(_ result: Result<Block, SystemError>, _ task: Task) {
      guard task.generation == generation else { return }
      readPosition += task.block.count
      if case .success(let block) = result { isAtEnd = !block.isFull } else { isAtEnd = true }
      ready.append(result)
      isPaused = ready.count >= depth
      if isAwaited, isAtEnd || ready.count >= max(1, depth / 2) { pthread_cond_broadcast(changed) }
    }

    private func locked<Value>(_ body: () -> Value) -> Value {
      pthread_mutex_lock(mutex)
      defer { pthread_mutex_unlock(mutex) }
      return body()
    }
  }
}
