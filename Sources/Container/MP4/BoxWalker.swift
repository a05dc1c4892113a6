/// Walks the boxes of a file (ISO/IEC 14496-12 §4.2) that arrives in pieces.
struct BoxWalker: Sendable {
  enum Event {
    case begin(BoxEntry)
    /// The box's content: all of it, or its first bytes where that was asked for.
    case content(BoxEntry, [UInt8])
    case end(BoxEntry)
    case defect(BoxEntry, String)
  }

  /// What is wanted of a box.
  enum Treatment {
    case skip
    /// Walk the boxes in it.
    case enter
    /// Collect its first bytes, at most this many.
    case collect(Int)
  }

  private static let maxDepth = 16

  private var cursor = FileCursor()
  /// Open boxes, outermost first.
  private(set) var stack: [Open] = []
  private var state = State.header
  /// The header so far.
  private var header: [UInt8] = []
  private var content: [UInt8] = []
  private var announced: BoxEntry?

  struct Open: Sendable {
    let entry: BoxEntry
    /// The byte behind it; the largest Int when the file's end ends it.
    let end: Int
  }

  private enum State {
    case header
    case announced
    /// Collecting content up to the byte, of a box that ends at the other.
    case collecting(to: Int, BoxEntry, end: Int)
    case skipping(to: Int)
  }

  /// The file's byte that comes next.
  var position: Int { cursor.position }

  /// The file ends here, though a box does not.
  var isCutOff: Bool {
    if stack.contains(where: { $0.end != .max && position < $0.end }) { return true }
    return switch state {
    case .header, .announced: !header.isEmpty
    case .skipping(let end): end != .max && position < end
    case .collecting(_, _, let end): end != .max && position < end
    }
  }

  /// The file ends in the header of a box.
  var isInHeader: Bool { !header.isEmpty }

  /// Bytes of a box that is being collected.
  var heldBytes: Int { content.count }

  private var limit: Int { stack.last?.end ?? .max }

  /// What comes next in `chunk`, which begins at `position - index`; nil when it is used up. After
  /// `.begin` the caller must ``treat(_:)`` the box.
  mutating func next(in chunk: Span<UInt8>, from index: inout Int) -> Event? {
    while true {
      switch state {
      case .header:
        if header.isEmpty, let open = stack.last, position >= open.end {
          stack.removeLast()
          return .end(open.entry)
        }
        if header.isEmpty, limit - position < 8 {
          // Less than a header: the terminator that QuickTime puts behind user data.
          state = .skipping(to: limit)
          continue
        }
        guard let byte = cursor.next(in: chunk, from: &index) else { return nil }
        header.append(byte)
        if let event = completeHeader() { return event }
      case .announced:
        state = .skipping(to: limit)
      case .skipping(let end):
        _ = cursor.pass(to: end, in: chunk, from: &index)
        guard position >= end else { return nil }
        state = .header
      case .collecting(let end, let box, let boxEnd):
        content.append(copying: chunk.extracting(cursor.pass(to: end, in: chunk, from: &index)))
        guard position >= end else { return nil }
        state = .skipping(to: boxEnd)
        var whole: [UInt8] = []
        swap(&whole, &content)
        return .content(box, whole)
      }
    }
  }

  /// Decides about the box that began.
  mutating func treat(_ treatment: Treatment) {
    guard let box = announced else { return }
    announced = nil
    let end = box.size.map { box.offset.addingClamped($0) } ?? limit
    switch treatment {
    case .enter where stack.count < Self.maxDepth:
      stack.append(Open(entry: box, end: end))
      state = .header
    case .collect(let most):
      content.removeAll(keepingCapacity: true)
      state = .collecting(to: min(end, position.addingClamped(most)), box, end: end)
    default:
      state = .skipping(to: end)
    }
  }

  private mutating func completeHeader() -> Event? {
    guard header.count >= 8 else { return nil }
    let size32 = header.number32(at: 0)
    guard size32 != 1 || header.count == 16 else { return nil }
    let headerSize = header.count
    let type = FourCharacters(header.number32(at: 4))
    let start = position - headerSize
    var size: Int? = size32 == 1 ? header.number64(at: 8) : size32
    header.removeAll(keepingCapacity: true)
    if size == 0 { size = limit == .max ? nil : limit - start }
    var defect: String?
    if let given = size {
      if given < headerSize {
        defect = "The size of the box is less than its header."
        size = limit == .max ? nil : limit - start
      } else if given > limit - start {
        // Even its header may be.
        defect = "The box is larger than the one it is in."
        size = limit - start
      }
    }
    let box = BoxEntry(
      type: type, offset: start, size: size, headerSize: headerSize, depth: stack.count)
    if let defect {
      state = .skipping(to: size.map { start.addingClamped($0) } ?? limit)
      // What it claims to hold may still be there, but where is not known.
      return .defect(box, defect)
    }
    announced = box
    state = .announced
    return .begin(box)
  }
}
