/// Tells where the bytes of a stream that was cut into packets lie in the upload.
struct StreamMap: Sendable {
  fileprivate struct Piece: Sendable {
    let stream: Int
    let upload: Int
  }

  /// In ascending order.
  private var pieces: [Piece] = []

  /// The stream's byte `stream` and those after it are at `upload`.
  mutating func append(stream: Int, upload: Int) {
    pieces.append(Piece(stream: stream, upload: upload))
  }

  /// Where the stream's byte is.
  func place(of stream: Int) -> Int {
    let index = pieces.partition(where: stream)
    guard index > 0 else { return stream }
    let piece = pieces[index - 1]
    return piece.upload + stream - piece.stream
  }

  /// Forgets everything between the bytes around `kept` and those from `next` on.
  mutating func forget(keeping kept: Int?, from next: Int) {
    // A start code may be in the packet before.
    let tail = max(0, pieces.partition(where: max(0, next - 16)) - 1)
    guard let kept, kept < next - 8 else {
      pieces.removeFirst(min(tail, pieces.count))
      return
    }
    let first = max(0, pieces.partition(where: max(0, kept - 8)) - 1)
    let last = pieces.partition(where: kept)
    if last < tail { pieces.removeSubrange(last..<tail) }
    pieces.removeFirst(first)
  }
}

extension [StreamMap.Piece] {
  /// How many of the pieces begin at `stream` or before.
  fileprivate func partition(where stream: Int) -> Int {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle].stream <= stream { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
