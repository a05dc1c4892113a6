/// A Huffman code, its first bit least significant, extra bits included where their value is known.
struct DeflateCode {
  var bits: UInt32 = 0
  var length: UInt32 = 0
}

/// The Huffman codes of a block, from how often its symbols occur (RFC 1951 §3.2.5 to §3.2.7).
struct DeflateCodes: ~Copyable {
  private let literals: UnsafeMutablePointer<UInt32>
  private let lengths: UnsafeMutablePointer<UInt32>
  private let distances: UnsafeMutablePointer<UInt32>
  let literalCodes: UnsafeMutablePointer<DeflateCode>
  /// By length less 3, with the extra bits.
  let lengthCodes: UnsafeMutablePointer<DeflateCode>
  /// Without the extra bits.
  let distanceCodes: UnsafeMutablePointer<DeflateCode>
  private(set) var endCode = DeflateCode()
  private var header = Header()
  /// Bits that the block takes.
  private(set) var cost = 0

  private static let endSymbol = 256

  private struct Header {
    var symbolLengths: [UInt8] = []
    var distanceLengths: [UInt8] = []
    /// Run-length coded lengths of both: symbol, extra bits, their number.
    var items: [(symbol: Int, extra: Int, bits: Int)] = []
    var itemLengths: [UInt8] = []
    var itemCount = 0
  }

  init() {
    literals = .allocate(capacity: 256)
    lengths = .allocate(capacity: 256)
    distances = .allocate(capacity: 30)
    literalCodes = .allocate(capacity: 256)
    lengthCodes = .allocate(capacity: 256)
    distanceCodes = .allocate(capacity: 30)
    removeAll()
  }

  deinit {
    literals.deallocate()
    lengths.deallocate()
    distances.deallocate()
    literalCodes.deallocate()
    lengthCodes.deallocate()
    distanceCodes.deallocate()
  }

  /// How often each literal, each length less 3 and each distance symbol occurs: to be counted up.
  var counters:
    (UnsafeMutablePointer<UInt32>, UnsafeMutablePointer<UInt32>, UnsafeMutablePointer<UInt32>)
  { (literals, lengths, distances) }

  mutating func removeAll() {
    literals.initialize(repeating: 0, count: 256)
    lengths.initialize(repeating: 0, count: 256)
    distances.initialize(repeating: 0, count: 30)
  }

  /// Makes the codes.
  mutating func build() {
    var symbols = [UInt32](repeating: 0, count: 286)
    var extraBits = 0
    for literal in 0..<256 { symbols[literal] = literals[literal] }
    symbols[Self.endSymbol] = 1
    for length in 0..<256 where lengths[length] > 0 {
      let symbol = DeflateTables.lengthSymbol(length)
      symbols[257 + symbol] += lengths[length]
      extraBits += Int(lengths[length]) * DeflateTables.lengthExtraBits(symbol)
    }
    let far = (0..<30).map { distances[$0] }
    for symbol in 0..<30 { extraBits += Int(far[symbol]) * DeflateTables.distanceExtraBits(symbol) }
    header.symbolLengths = huffmanLengths(symbols, limit: 15)
    header.distanceLengths = huffmanLengths(far, limit: 15)
    cost = extraBits + 17
    for (count, length) in zip(symbols, header.symbolLengths) { cost += Int(count) * Int(length) }
    for (count, length) in zip(far, header.distanceLengths) { cost += Int(count) * Int(length) }
    describeLengths()
    setCodes()
  }

  private mutating func setCodes() {
    let symbolCodes = huffmanCodes(header.symbolLengths)
    for literal in 0..<256 { literalCodes[literal] = symbolCodes[literal] }
    endCode = symbolCodes[Self.endSymbol]
    for length in 0..<256 {
      let symbol = DeflateTables.lengthSymbol(length)
      var code = symbolCodes[257 + symbol]
      code.bits |= UInt32(length - DeflateTables.lengthBase(symbol)) << code.length
      code.length += UInt32(DeflateTables.lengthExtraBits(symbol))
      lengthCodes[length] = code
    }
    let codes = huffmanCodes(header.distanceLengths)
    for symbol in 0..<30 { distanceCodes[symbol] = codes[symbol] }
  }

  /// Codes the code lengths themselves (RFC 1951 §3.2.7).
  private mutating func describeLengths() {
    let symbolCount = (header.symbolLengths.lastIndex { $0 > 0 } ?? 0) + 1
    let distanceCount = max(1, (header.distanceLengths.lastIndex { $0 > 0 } ?? 0) + 1)
    header.symbolLengths.removeLast(286 - max(257, symbolCount))
    header.distanceLengths.removeLast(30 - distanceCount)
    header.items = Self.runs(header.symbolLengths + header.distanceLengths)
    var counts = [UInt32](repeating: 0, count: 19)
    for item in header.items { counts[item.symbol] += 1 }
    header.itemLengths = huffmanLengths(counts, limit: 7)
    let used = DeflateTables.lengthOrder.lastIndex { header.itemLengths[$0] > 0 } ?? 0
    header.itemCount = max(4, used + 1)
    cost += 3 * header.itemCount
    for item in header.items { cost += Int(header.itemLengths[item.symbol]) + item.bits }
    header.symbolLengths += [UInt8](repeating: 0, count: 286 - header.symbolLengths.count)
    header.distanceLengths += [UInt8](repeating: 0, count: 30 - header.distanceLengths.count)
  }

  private static func runs(_ lengths: [UInt8]) -> [(symbol: Int, extra: Int, bits: Int)] {
    var items: [(symbol: Int, extra: Int, bits: Int)] = []
    var index = 0
    while index < lengths.count {
      let length = lengths[index]
      var run = 1
      while index + run < lengths.count, lengths[index + run] == length { run += 1 }
      index += run
      if length == 0 {
        while run >= 3 {
          let taken = min(run, 138)
          items.append(taken <= 10 ? (17, taken - 3, 3) : (18, taken - 11, 7))
          run -= taken
        }
      } else {
        items.append((Int(length), 0, 0))
        run -= 1
        while run >= 3 {
          let taken = min(run, 6)
          items.append((16, taken - 3, 2))
          run -= taken
        }
      }
      for _ in 0..<run { items.append((Int(length), 0, 0)) }
    }
    return items
  }

  /// Writes the beginning of a block with codes of its own.
  func writeHeader(isLast: Bool, to bits: inout BitWriter) {
    bits.add(isLast ? 1 : 0, 1)
    bits.add(2, 2)
    let symbolCount = max(257, (header.symbolLengths.lastIndex { $0 > 0 } ?? 0) + 1)
    let distanceCount = max(1, (header.distanceLengths.lastIndex { $0 > 0 } ?? 0) + 1)
    bits.add(UInt64(symbolCount - 257), 5)
    bits.add(UInt64(distanceCount - 1), 5)
    bits.add(UInt64(header.itemCount - 4), 4)
    bits.flush()
    for symbol in DeflateTables.lengthOrder[..<header.itemCount] {
      bits.add(UInt64(header.itemLengths[symbol]), 3)
      bits.flush()
    }
    let codes = huffmanCodes(header.itemLengths)
    for item in header.items {
      bits.add(codes[item.symbol])
      bits.add(UInt64(item.extra), item.bits)
      bits.flush()
    }
  }
}

// SAFETY: the memory belongs to the codes alone.
extension DeflateCodes: @unchecked Sendable {}

/// The lengths of optimal prefix codes for symbols that occur so often, none above `limit`.
///
/// A symbol that does not occur has length 0; where only one occurs, its code has one bit.
func huffmanLengths(_ counts: [UInt32], limit: Int) -> [UInt8] {
  var lengths = [UInt8](repeating: 0, count: counts.count)
  let sorted = counts.indices.filter { counts[$0] > 0 }.sorted { counts[$0] < counts[$1] }
  guard sorted.count > 1 else {
    for symbol in sorted { lengths[symbol] = 1 }
    return lengths
  }
  // Leaves by weight, then inner nodes, which come into being in order of weight.
  let leaves = sorted.count
  var weights = sorted.map { UInt64(counts[$0]) }
  var parents = [Int](repeating: 0, count: 2 * leaves - 1)
  var (leaf, inner) = (0, leaves)
  func next() -> Int {
    if leaf < leaves, inner >= weights.count || weights[leaf] <= weights[inner] {
      leaf += 1
      return leaf - 1
    }
    inner += 1
    return inner - 1
  }
  for node in leaves..<2 * leaves - 1 {
    let (first, second) = (next(), next())
    parents[first] = node
    parents[second] = node
    weights.append(weights[first] + weights[second])
  }
  var depths = [Int](repeating: 0, count: 2 * leaves - 1)
  for node in (0..<2 * leaves - 2).reversed() { depths[node] = depths[parents[node]] + 1 }
  var numbers = [Int](repeating: 0, count: max(limit, leaves) + 2)
  for node in 0..<leaves { numbers[depths[node]] += 1 }
  shorten(&numbers, to: limit)
  // The rarest symbols get the longest codes.
  var place = 0
  for length in (1...limit).reversed() {
    for _ in 0..<numbers[length] {
      lengths[sorted[place]] = UInt8(length)
      place += 1
    }
  }
  return lengths
}

/// Changes how many codes there are of each length so that none is longer than `limit`: two leaves
/// that are too deep move up, one to their parent, the other beside a leaf higher up.
private func shorten(_ numbers: inout [Int], to limit: Int) {
  for length in stride(from: numbers.count - 1, to: limit, by: -1) {
    while numbers[length] > 0 {
      var higher = length - 2
      while numbers[higher] == 0 { higher -= 1 }
      numbers[length] -= 2
      numbers[length - 1] += 1
      numbers[higher + 1] += 2
      numbers[higher] -= 1
    }
  }
}

/// The canonical codes of those lengths (RFC 1951 §3.2.2).
func huffmanCodes(_ lengths: [UInt8]) -> [DeflateCode] {
  var numbers = [UInt32](repeating: 0, count: 16)
  for length in lengths where length > 0 { numbers[Int(length)] += 1 }
  var nexts = [UInt32](repeating: 0, count: 16)
  var code: UInt32 = 0
  for length in 1..<16 {
    code = (code + numbers[length - 1]) << 1
    nexts[length] = code
  }
  return lengths.map { length in
    guard length > 0 else { return DeflateCode() }
    let value = nexts[Int(length)]
    nexts[Int(length)] += 1
    return DeflateCode(
      bits: value.reversedBits >> UInt32(32 - Int(length)), length: UInt32(length))
  }
}

extension UInt32 {
  fileprivate var reversedBits: UInt32 {
    var value = self
    var result: UInt32 = 0
    for _ in 0..<32 {
      result = result << 1 | value & 1
      value >>= 1
    }
    return result
  }
}

/// The numbers of RFC 1951 §3.2.5 and §3.2.7.
enum DeflateTables {
  static let lengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]

  /// The symbol, less 257, of a length less 3.
  @inline(__always)
  static func lengthSymbol(_ length: Int) -> Int {
    if length == 255 { return 28 }
    if length < 8 { return length }
    let bits = Int.bitWidth &- 3 &- length.leadingZeroBitCount
    return 4 &* bits &+ length >> bits
  }

  /// The smallest length less 3 of a symbol less 257.
  static func lengthBase(_ symbol: Int) -> Int {
    if symbol == 28 { return 255 }
    return symbol < 8 ? symbol : (4 + symbol & 3) << (symbol / 4 - 1)
  }

  static func lengthExtraBits(_ symbol: Int) -> Int {
    symbol < 8 || symbol == 28 ? 0 : symbol / 4 - 1
  }

  @inline(__always)
  static func distanceSymbol(_ distance: Int) -> Int {
    let place = distance &- 1
    if place < 4 { return place }
    let bits = Int.bitWidth &- 2 &- place.leadingZeroBitCount
    return 2 &* bits &+ place >> bits
  }

  @inline(__always)
  static func distanceBase(_ symbol: Int) -> Int {
    symbol < 4 ? symbol &+ 1 : (2 &+ symbol & 1) << (symbol >> 1 &- 1) &+ 1
  }

  @inline(__always)
  static func distanceExtraBits(_ symbol: Int) -> Int {
    symbol < 4 ? 0 : symbol >> 1 &- 1
  }
}
