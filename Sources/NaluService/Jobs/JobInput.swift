internal import Platform

/// The upload as blocks: what has arrived and no step has taken yet, at most two blocks or one
/// piece of what the socket gave beyond them.
struct JobInput: ~Copyable {
  /// The size of the blocks that are begun from now on, in bytes.
  var blockSize: Int
  /// Bytes that have arrived in all.
  private(set) var received = 0
  private(set) var isEnded = false
  private var full = FirstInFirstOut<Piece>()
  private var fullBytes = 0
  private var filling: Block?
  private var isFillingSecond = false
  /// Blocks to fill again, at most `Limits.inputBlocks`.
  private var spares: [Block] = []
  private var isRefusing = false
  private let memory: MemoryBudget
  /// Bytes of the budget that blocks in here have.
  private(set) var reserved = 0

  /// A block, and which part of the upload it is of.
  struct Piece {
    var block: Block
    var isSecond: Bool
  }

  init(blockSize: Int, memory: MemoryBudget) {
    self.blockSize = blockSize
    self.memory = memory
  }

  deinit {
    memory.release(reserved)
  }

  var hasBlock: Bool { !full.isEmpty }

  /// Nothing more is taken before a step takes a block.
  var isFull: Bool { fullBytes >= highMark }

  /// Takes `bytes` if nothing follows from that: they fit into the block that is being filled, and
  /// do not complete it. So it is with nearly all that a socket gives.
  mutating func addQuietly(_ bytes: Span<UInt8>, isSecond: Bool) -> Bool {
    guard let filling, isSecond == isFillingSecond, bytes.count < filling.freeCapacity,
      !isFull, !isRefusing, memory.reserve(bytes.count, for: .uploads)
    else { return false }
    reserved += bytes.count
    received += bytes.count
    filling.append(bytes)
    return true
  }

  /// Takes all of `bytes`, or nothing when enough is waiting already. Throws when there is no memory
  /// for them. `held`: what else the job has of the budget.
  mutating func offer(
    _ bytes: Span<UInt8>, isSecond: Bool = false, besides held: Int = 0
  ) throws(Problem) -> Bool {
    guard !isFull else {
      isRefusing = true
      return false
    }
    guard memory.reserve(bytes.count, for: .uploads) else {
      throw .outOfMemory(memory, need: held + reserved + bytes.count)
    }
    reserved += bytes.count
    received += bytes.count
    if isSecond != isFillingSecond {
      if let block = filling.take(), block.count > 0 { finish(block) }
      isFillingSecond = isSecond
    }
    var position = 0
    while position < bytes.count {
      let block = filling ?? begin()
      position += block.append(bytes.extracting(position..<bytes.count))
      filling = block.isFull ? nil : block
      if block.isFull { finish(block) }
    }
    return true
  }

  /// Nothing more will arrive; the last block may be partly filled.
  mutating func end() {
    guard !isEnded else { return }
    isEnded = true
    spares = []
    if let block = filling.take(), block.count > 0 { finish(block) }
  }

  mutating func takeBlock() -> Piece? {
    guard let piece = full.removeFirst() else { return nil }
    fullBytes -= piece.block.count
    release(piece.block.count)
    return piece
  }

  /// A block that nobody else holds any more is filled again later.
  mutating func recycle(_ block: consuming Block) {
    guard block.capacity == blockSize, !isEnded, spares.count < Limits.inputBlocks else { return }
    var block = block
    guard isKnownUniquelyReferenced(&block) else { return }
    block.removeAll()
    spares.append(block)
  }

  mutating func removeAll() {
    full = FirstInFirstOut()
    fullBytes = 0
    filling = nil
    spares = []
    release(reserved)
  }

  private mutating func release(_ bytes: Int) {
    memory.release(bytes)
    reserved -= bytes
  }

  /// True once after a refusal, when there is room again.
  mutating func takeRoomNotice(isOver: Bool) -> Bool {
    guard isRefusing, isOver || !isFull else { return false }
    isRefusing = false
    return true
  }

  private var highMark: Int { max(Limits.inputBlocks * blockSize, 1 << 16) }

  private mutating func begin() -> Block {
    while let block = spares.popLast() {
      if block.capacity == blockSize { return block }
    }
    return Block(capacity: blockSize)
  }

  private mutating func finish(_ block: Block) {
    full.append(Piece(block: block, isSecond: isFillingSecond))
    fullBytes += block.count
  }
}
