/// One step of a parse, in syntax order: enough to print a structure without knowing it.
package enum SyntaxEvent: Equatable, Sendable {
  /// An element and its value; inside an array the name repeats the array's.
  case number(String, Int)
  case text(String, String)
  /// A turn of a loop that skipped the element.
  case null(String)
  /// Opens a structure; its members follow, up to the matching `end`.
  case object(String)
  /// Opens a list; its items follow, up to the matching `end`.
  case array(String)
  case end
}

/// What a ``BitReader`` read, under the names of the standard.
///
/// A structure that clause 7.3 calls becomes an object. A loop becomes arrays, one for each element
/// in it, so that `x[i]` of the standard is item `i` of the array `x`: an element that a turn
/// skipped is null there, and an element that every turn skipped is absent.
///
/// A few bits of hostile data can be an element, so a record that has ``limit`` of them takes no
/// more, and ``isFull`` says so.
package struct SyntaxRecord: Equatable, Sendable {
  /// The longest legal structure, an explicit slice group map, has 139 264 elements.
  package static let limit = 1 << 18

  package private(set) var events: [SyntaxEvent] = []
  /// Events so far, at most: also those that a loop still holds back.
  private var count = 0
  /// Structures begun since the record was full.
  private var unrecordedDepth = 0
  /// Objects and arrays open outside of any loop.
  private var openDirectly = 0
  /// The outermost loop, and everything opened inside it, innermost last.
  private var scopes: [Scope] = []

  package init() {}

  /// It takes more memory than structures usually do.
  package var isLarge: Bool { events.capacity > 4096 }

  /// Forgets everything but the memory.
  package mutating func removeAll() {
    events.removeAll(keepingCapacity: true)
    scopes.removeAll(keepingCapacity: true)
    count = 0
    unrecordedDepth = 0
    openDirectly = 0
  }

  package var isFull: Bool { count >= Self.limit }

  package mutating func add(_ name: String, _ value: Int) {
    guard !isFull else { return }
    count += 1
    if let last = scopes.indices.last {
      scopes[last].add(name, CollectionOfOne(.number(name, value)))
    } else {
      events.append(.number(name, value))
    }
  }

  package mutating func add(_ name: String, _ text: String) {
    guard !isFull else { return }
    count += 1
    deliver(name, [.text(name, text)])
  }

  package mutating func beginObject(_ name: String) {
    begin(.object(name), name)
  }

  /// Begins a list whose items have no name of their own; `end()` ends it.
  package mutating func beginArray(_ name: String) {
    begin(.array(name), name)
  }

  package mutating func beginLoop(from first: Int = 0) {
    guard !isFull else {
      unrecordedDepth += 1
      return
    }
    scopes.append(Scope(name: "", opening: nil, turn: first))
  }

  /// Ends one turn of the innermost loop.
  package mutating func nextTurn() {
    guard !isFull, let last = scopes.indices.last else { return }
    scopes[last].turn += 1
    // A null may be due for each.
    count += scopes[last].columns.count
  }

  /// Ends the innermost object, array or loop.
  package mutating func end() {
    guard unrecordedDepth == 0 else {
      unrecordedDepth -= 1
      return
    }
    guard let scope = scopes.popLast() else {
      if openDirectly > 0 {
        openDirectly -= 1
        events.append(.end)
      }
      return
    }
    if let opening = scope.opening {
      deliver(scope.name, [opening] + scope.events + [.end])
      return
    }
    // After a failure the unfinished turn counts too.
    let turns = scope.columns.reduce(scope.turn) { max($0, $1.count) }
    for var column in scope.columns {
      column.pad(to: turns)
      deliver(column.name, [.array(column.name)] + column.events + [.end])
    }
  }

  /// How many objects, arrays and loops are open.
  var depth: Int { openDirectly + scopes.count + unrecordedDepth }

  /// Ends what a failed parse left open beyond `depth`.
  mutating func end(to depth: Int) {
    while self.depth > depth { end() }
  }

  private mutating func begin(_ opening: SyntaxEvent, _ name: String) {
    guard !isFull else {
      unrecordedDepth += 1
      return
    }
    // Its end counts too.
    count += 2
    if scopes.isEmpty {
      events.append(opening)
      openDirectly += 1
    } else {
      scopes.append(Scope(name: name, opening: opening, turn: 0))
    }
  }

  private mutating func deliver(_ name: String, _ item: [SyntaxEvent]) {
    if let last = scopes.indices.last {
      scopes[last].add(name, item)
    } else {
      events += item
    }
  }
}

extension SyntaxRecord {
  /// An open loop, or an object or array inside one.
  private struct Scope: Equatable {
    let name: String
    /// Nil for a loop.
    let opening: SyntaxEvent?
    var turn: Int
    var events: [SyntaxEvent] = []
    var columns: [Column] = []

    init(name: String, opening: SyntaxEvent?, turn: Int) {
      self.name = name
      self.opening = opening
      self.turn = turn
    }

    mutating func add(_ name: String, _ item: some Collection<SyntaxEvent>) {
      guard opening == nil else {
        events += item
        return
      }
      let index = columns.firstIndex { $0.name == name } ?? columns.endIndex
      if index == columns.endIndex { columns.append(Column(name: name)) }
      columns[index].pad(to: turn)
      columns[index].events += item
      columns[index].count += 1
    }
  }

  /// One element of a loop: its values in the turns so far.
  private struct Column: Equatable {
    let name: String
    var events: [SyntaxEvent] = []
    var count = 0

    init(name: String) {
      self.name = name
    }

    mutating func pad(to turn: Int) {
      while count < turn {
        events.append(.null(name))
        count += 1
      }
    }
  }
}
