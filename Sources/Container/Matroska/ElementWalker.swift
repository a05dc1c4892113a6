/// Walks the elements of a file (RFC 8794) that arrives in pieces.
struct ElementWalker: Sendable {
  struct Element: Equatable, Sendable {
    let id: UInt32
    /// The first byte of its id.
    let offset: Int
    /// The first byte of its content.
    let start: Int
    /// The byte behind it; the largest Int when its size is unknown.
    fileprivate(set) var end: Int
    let depth: Int

    var isUnknownSize: Bool { end == .max }
    var size: Int { end - start }
  }

  enum Event {
    case begin(Element)
    /// All of its content.
    case content(Element, [UInt8])
    /// The bytes of the chunk in that range are of its content; `isLast`: there are no more.
    case piece(Element, Range<Int>, isLast: Bool)
    case end(Element)
    case defect(offset: Int, String)
  }

  enum Treatment {
    case skip
    case enter
    /// Collect the content.
    case collect
    /// Hand on the content as it comes.
    case pieces
  }

  private var cursor = FileCursor()
  /// An element that goes past the end of its segment.
  private(set) var overrun: Int?
  /// Open elements, outermost first.
  private(set) var stack: [Element] = []
  private var state = State.header
  private var header: [UInt8] = []
  private var content: [UInt8] = []
  private var announced: Element?
  private var skipped: Element?

  private enum State {
    case header
    case announced
    case collecting(Element)
    case pieces(Element)
    case skipping(to: Int)
    /// Looking for the id of a cluster.
    case lost
  }

  /// The file's byte that comes next.
  var position: Int { cursor.position }

  /// The file ends here, though an element does not.
  var isCutOff: Bool {
    if stack.contains(where: { !$0.isUnknownSize && position < $0.end }) { return true }
    return switch state {
    case .header, .announced: !header.isEmpty
    case .collecting, .pieces: true
    case .skipping(let end): end != .max && position < end
    case .lost: false
    }
  }

  /// The elements that the file ends in, outermost first.
  var openElements: [Element] {
    switch state {
    case .header, .announced, .lost: stack
    case .collecting(let element), .pieces(let element): stack + [element]
    case .skipping: stack + (skipped.map { [$0] } ?? [])
    }
  }

  private var limit: Int { stack.last?.end ?? .max }

  /// What comes next in `chunk`, which begins at `position - index`; nil when it is used up. After
  /// `.begin` the caller must ``treat(_:)`` the element.
  mutating func next(in chunk: Span<UInt8>, from index: inout Int) -> Event? {
    while true {
      switch state {
      case .header:
        if header.isEmpty, let open = stack.last, position >= open.end {
          stack.removeLast()
          return .end(open)
        }
        guard let byte = cursor.next(in: chunk, from: &index) else { return nil }
        header.append(byte)
        if let event = completeHeader() { return event }
      case .announced:
        treat(.skip)
      case .skipping(let end):
        _ = cursor.pass(to: end, in: chunk, from: &index)
        guard position >= end else { return nil }
        state = .header
      case .collecting(let element):
        content.append(
          copying: chunk.extracting(cursor.pass(to: element.end, in: chunk, from: &index)))
        guard position >= element.end else { return nil }
        state = .header
        var whole: [UInt8] = []
        swap(&whole, &content)
        return .content(element, whole)
      case .pieces(let element):
        guard index < chunk.count || position == element.end else { return nil }
        let range = cursor.pass(to: element.end, in: chunk, from: &index)
        if position == element.end { state = .header }
        return .piece(element, range, isLast: position == element.end)
      case .lost:
        guard let byte = cursor.next(in: chunk, from: &index) else { return nil }
        header.append(byte)
        if header.count > 4 { header.removeFirst() }
        guard header.count == 4, header.number32(at: 0) == Int(ElementID.cluster) else { continue }
        // A cluster begins here, in the segment.
        while stack.count > 1 { stack.removeLast() }
        state = .header
      }
    }
  }

  /// Decides about the element that began.
  mutating func treat(_ treatment: Treatment) {
    guard let element = announced else { return }
    announced = nil
    switch treatment {
    case .enter:
      stack.append(element)
      state = .header
    case .collect where !element.isUnknownSize:
      content.removeAll(keepingCapacity: true)
      state = .collecting(element)
    case .pieces where !element.isUnknownSize:
      state = .pieces(element)
    default:
      skipped = element
      state = .skipping(to: element.isUnknownSize ? limit : element.end)
    }
  }

  private mutating func completeHeader() -> Event? {
    let idSize = header[0].leadingZeroBitCount + 1
    guard idSize <= 4 else { return lose("There is no element where one should be.") }
    guard header.count > idSize else { return nil }
    let sizeSize = header[idSize].leadingZeroBitCount + 1
    guard sizeSize <= 8 else { return lose("The size of an element has more than 8 bytes.") }
    guard header.count == idSize + sizeSize else { return nil }
    var id: UInt32 = 0
    for index in 0..<idSize { id = id << 8 | UInt32(header[index]) }
    var size = 0
    for index in idSize..<idSize + sizeSize { size = size << 8 | Int(header[index]) }
    let mask = 1 << (7 * sizeSize) - 1
    size &= mask
    return begin(id, size: size == mask ? nil : size)
  }

  private mutating func begin(_ id: UInt32, size: Int?) -> Event? {
    let offset = position - header.count
    // Elements of unknown size end where one begins that they cannot have.
    while let open = stack.last, open.isUnknownSize,
      id == ElementID.ebml || id == ElementID.segment
        || open.id != ElementID.segment && ElementID.firstLevel.contains(id)
    {
      stack.removeLast()
    }
    header.removeAll(keepingCapacity: true)
    let end = size.map { position.addingClamped($0) } ?? .max
    if end != .max, end > limit {
      guard stack.count == 1 else {
        skipped = nil
        state = .skipping(to: limit)
        return .defect(offset: offset, "An element is larger than the one it is in.")
      }
      // The segment's size is wrong: the end of the file decides.
      overrun = overrun ?? offset
      stack[0].end = .max
    }
    let element = Element(
      id: id, offset: offset, start: position, end: end, depth: stack.count)
    announced = element
    state = .announced
    return .begin(element)
  }

  private mutating func lose(_ message: String) -> Event {
    let offset = position - header.count
    // The id that is looked for may begin in these.
    header = Array(header.suffix(3))
    state = .lost
    return .defect(offset: offset, message)
  }
}
