/// Compresses into the zlib format (RFC 1950 and 1951), made for filtered image rows. Each block has
/// its own Huffman codes.
struct Deflater: ~Copyable {
  enum Effort: CaseIterable {
    /// A match is looked for at one place, the last with the same four bytes: right for natural
    /// images, in which there are few.
    case fast
    /// At several places, of three bytes and more, and one byte later too: for drawn images.
    case thorough
  }

  /// Where each value of the hash was seen last.
  private let heads: UnsafeMutablePointer<Int32>
  /// By the lowest bits of a place: the place before with the same hash.
  private let previous: UnsafeMutablePointer<Int32>
  private let tokens: UnsafeMutablePointer<UInt32>
  private var codes = DeflateCodes()

  private static let hashBits = 15
  private static let blockTokens = 1 << 16
  private static let window = 1 << 15
  private static let longestMatch = 258
  /// Places that `thorough` looks at.
  private static let probes = 12
  /// A match of this length is not improved on.
  private static let goodMatch = 64
  /// Three bytes from farther away take more bits than the bytes themselves.
  private static let shortMatchWindow = 1 << 12
  /// Bytes behind the input that may be read.
  static let padding = 8

  init() {
    heads = .allocate(capacity: 1 << Self.hashBits)
    previous = .allocate(capacity: Self.window)
    tokens = .allocate(capacity: Self.blockTokens + 64)
  }

  deinit {
    heads.deallocate()
    previous.deallocate()
    tokens.deallocate()
  }

  /// Room that the compressed form of `count` bytes needs at most.
  static func capacity(for count: Int) -> Int { count + count / 1024 + 4096 }

  /// Compresses `count` bytes into `output`, which has room for `capacity(for: count)`; the bytes
  /// written.
  ///
  /// `padding` bytes behind the input must be readable; their values do not matter.
  mutating func compress(
    _ input: UnsafePointer<UInt8>, _ count: Int, _ effort: Effort,
    to output: UnsafeMutablePointer<UInt8>
  ) -> Int {
    precondition(count > 0 && count < 1 << 31)
    heads.initialize(repeating: Int32.min / 2, count: 1 << Self.hashBits)
    var bits = BitWriter(output)
    // Deflate with a window of 32 KiB, made by a fast algorithm.
    bits.add(0x0178, 16)
    bits.flush()
    var position = 0
    while position < count {
      codes.removeAll()
      let start = position
      let tokenCount =
        effort == .fast
        ? tokenize(input, count, from: &position)
        : tokenizeThoroughly(input, count, from: &position)
      codes.build()
      let isLast = position == count
      if codes.cost > 8 * (position - start) {
        Self.store(input + start, position - start, isLast: isLast, to: &bits)
      } else {
        codes.writeHeader(isLast: isLast, to: &bits)
        write(tokenCount, to: &bits)
      }
    }
    bits.align()
    let sum = adler32(input, count)
    for shift in [24, 16, 8, 0] { bits.add(UInt64(sum >> UInt32(shift) & 255), 8) }
    bits.flush()
    return bits.place - output
  }

  /// Turns bytes into literals and matches until the block is full; how many there are.
  private mutating func tokenize(
    _ input: UnsafePointer<UInt8>, _ count: Int, from position: inout Int
  ) -> Int {
    let (heads, tokens) = (heads, tokens)
    let (literals, lengths, distances) = codes.counters
    let base = UnsafeRawPointer(input)
    var index = position
    var token = 0
    var misses = 0
    // The last bytes are literals: a match is compared eight bytes at a time.
    let end = count - Self.padding
    while index < end, token < Self.blockTokens {
      let word = base.loadUnaligned(fromByteOffset: index, as: UInt32.self)
      let hash = Self.hash(word)
      let candidate = Int(heads[hash])
      heads[hash] = Int32(truncatingIfNeeded: index)
      let distance = index &- candidate
      if distance <= Self.window,
        base.loadUnaligned(fromByteOffset: candidate, as: UInt32.self) == word
      {
        let most = min(Self.longestMatch, count &- index)
        let length = Self.matchLength(base, candidate, index, most)
        lengths[length &- 3] &+= 1
        distances[DeflateTables.distanceSymbol(distance)] &+= 1
        tokens[token] = 1 << 31 | UInt32(length &- 3) << 16 | UInt32(distance &- 1)
        token &+= 1
        index &+= length
        misses = 0
        if index < end {
          let last = base.loadUnaligned(fromByteOffset: index &- 1, as: UInt32.self)
          heads[Self.hash(last)] = Int32(truncatingIfNeeded: index &- 1)
        }
        continue
      }
      // Where nothing was found for long, fewer places are looked at.
      let run = min(1 &+ misses >> 6, 16, end &- index, Self.blockTokens &- token)
      misses &+= 1
      for offset in 0..<run {
        let byte = input[index &+ offset]
        literals[Int(byte)] &+= 1
        tokens[token &+ offset] = UInt32(byte)
      }
      token &+= run
      index &+= run
    }
    position = index
    appendLastLiterals(input, count, &position, &token)
    return token
  }

  /// The bytes at the end of the input, behind which nothing may be compared.
  private func appendLastLiterals(
    _ input: UnsafePointer<UInt8>, _ count: Int, _ position: inout Int, _ token: inout Int
  ) {
    while position < count, position >= count - Self.padding, token < Self.blockTokens + 64 {
      let byte = input[position]
      codes.counters.0[Int(byte)] &+= 1
      tokens[token] = UInt32(byte)
      token &+= 1
      position &+= 1
    }
  }

  /// Like `tokenize`, but looks at several places, and whether a longer match begins a byte later.
  private mutating func tokenizeThoroughly(
    _ input: UnsafePointer<UInt8>, _ count: Int, from position: inout Int
  ) -> Int {
    let (literals, lengths, distances) = codes.counters
    let base = UnsafeRawPointer(input)
    var index = position
    var token = 0
    let end = count - Self.padding
    var found = (length: 0, distance: 0)
    var isFound = false
    while index < end, token < Self.blockTokens {
      if !isFound { found = match(base, index, count) }
      isFound = false
      if found.length >= 3, found.length < Self.goodMatch, index &+ 1 < end {
        let later = match(base, index &+ 1, count)
        if later.length > found.length {
          found.length = 0
          isFound = true
        }
        if isFound {
          literals[Int(input[index])] &+= 1
          tokens[token] = UInt32(input[index])
          token &+= 1
          index &+= 1
          found = later
          continue
        }
        // What was entered for the later place stays right.
        enter(base, from: index &+ 2, to: min(index &+ found.length, end))
      } else if found.length >= 3 {
        enter(base, from: index &+ 1, to: min(index &+ found.length, end))
      }
      if found.length < 3 {
        literals[Int(input[index])] &+= 1
        tokens[token] = UInt32(input[index])
        index &+= 1
      } else {
        lengths[found.length &- 3] &+= 1
        distances[DeflateTables.distanceSymbol(found.distance)] &+= 1
        tokens[token] =
          1 << 31 | UInt32(found.length &- 3) << 16 | UInt32(found.distance &- 1)
        index &+= found.length
      }
      token &+= 1
    }
    position = index
    appendLastLiterals(input, count, &position, &token)
    return token
  }

  /// The longest match for the bytes at `index` among the last places with the same three bytes;
  /// enters the place.
  private func match(
    _ base: UnsafeRawPointer, _ index: Int, _ count: Int
  ) -> (length: Int, distance: Int) {
    let word = base.loadUnaligned(fromByteOffset: index, as: UInt32.self).littleEndian
    let hash = Self.hash(word << 8)
    var candidate = Int(heads[hash])
    previous[index & (Self.window - 1)] = heads[hash]
    heads[hash] = Int32(truncatingIfNeeded: index)
    let most = min(Self.longestMatch, count &- index)
    var best = (length: 2, distance: 0)
    for _ in 0..<Self.probes {
      let distance = index &- candidate
      // 0: the place was entered already, by a look ahead just before a block ended.
      guard distance > 0, distance < Self.window else { break }
      let difference =
        base.loadUnaligned(fromByteOffset: candidate, as: UInt32.self).littleEndian ^ word
      if difference << 8 == 0 {
        let length =
          difference == 0 ? Self.matchLength(base, candidate, index, most) : 3
        if length > best.length, length > 3 || distance <= Self.shortMatchWindow {
          best = (length, distance)
          if length >= Self.goodMatch { break }
        }
      }
      let earlier = Int(previous[candidate & (Self.window - 1)])
      guard earlier < candidate else { break }
      candidate = earlier
    }
    return best.length < 3 ? (0, 0) : best
  }

  /// Enters the places inside a match.
  private func enter(_ base: UnsafeRawPointer, from first: Int, to last: Int) {
    var index = first
    while index < last {
      let word = base.loadUnaligned(fromByteOffset: index, as: UInt32.self).littleEndian
      let hash = Self.hash(word << 8)
      previous[index & (Self.window - 1)] = heads[hash]
      heads[hash] = Int32(truncatingIfNeeded: index)
      index &+= 1
    }
  }

  @inline(__always)
  private static func hash(_ word: UInt32) -> Int {
    Int((word &* 0x9E37_79B1) >> UInt32(32 - hashBits))
  }

  /// Bytes that are equal from both places on, 4 of which are known to be, at most `most`.
  @inline(__always)
  private static func matchLength(
    _ base: UnsafeRawPointer, _ first: Int, _ second: Int, _ most: Int
  ) -> Int {
    var length = 4
    while length < most {
      let difference =
        base.loadUnaligned(fromByteOffset: first &+ length, as: UInt64.self)
        ^ base.loadUnaligned(fromByteOffset: second &+ length, as: UInt64.self)
      if difference != 0 {
        return min(most, length &+ difference.littleEndian.trailingZeroBitCount / 8)
      }
      length &+= 8
    }
    return most
  }

  private func write(_ count: Int, to bits: inout BitWriter) {
    let literals = codes.literalCodes
    let lengths = codes.lengthCodes
    let distances = codes.distanceCodes
    for index in 0..<count {
      let token = tokens[index]
      if token < 256 {
        bits.add(literals[Int(token)])
      } else {
        let distance = Int(token & 0x7FFF) &+ 1
        bits.add(lengths[Int(token >> 16 & 0xFF)])
        let symbol = DeflateTables.distanceSymbol(distance)
        bits.add(distances[symbol])
        bits.add(
          UInt64(distance &- DeflateTables.distanceBase(symbol)),
          DeflateTables.distanceExtraBits(symbol))
      }
      bits.flush()
    }
    bits.add(codes.endCode)
    bits.flush()
  }

  /// Writes bytes as they are (RFC 1951 §3.2.4).
  private static func store(
    _ bytes: UnsafePointer<UInt8>, _ count: Int, isLast: Bool, to bits: inout BitWriter
  ) {
    var done = 0
    while done < count {
      let size = min(count - done, 65535)
      bits.add(isLast && done + size == count ? 1 : 0, 3)
      bits.align()
      bits.add(UInt64(size), 16)
      bits.add(UInt64(~UInt16(size)), 16)
      bits.flush()
      bits.place.update(from: bytes + done, count: size)
      bits.place += size
      done += size
    }
  }
}

// SAFETY: the memory belongs to the deflater alone.
extension Deflater: @unchecked Sendable {}

/// Writes bits, the least significant first.
struct BitWriter {
  /// Where the next whole byte goes.
  var place: UnsafeMutablePointer<UInt8>
  private var buffer: UInt64 = 0
  private var count: UInt64 = 0

  init(_ place: UnsafeMutablePointer<UInt8>) {
    self.place = place
  }

  /// Adds up to 57 bits between two flushes.
  @inline(__always)
  mutating func add(_ value: UInt64, _ bits: Int) {
    buffer |= value &<< count
    count &+= UInt64(truncatingIfNeeded: bits)
  }

  @inline(__always)
  mutating func add(_ code: DeflateCode) {
    buffer |= UInt64(code.bits) &<< count
    count &+= UInt64(code.length)
  }

  /// Hands on whole bytes; writes up to seven bytes behind them.
  @inline(__always)
  mutating func flush() {
    UnsafeMutableRawPointer(place).storeBytes(of: buffer.littleEndian, as: UInt64.self)
    let bytes = count &>> 3
    place += Int(bytes)
    buffer &>>= bytes &* 8
    count &= 7
  }

  /// Fills the byte up with zeros.
  mutating func align() {
    flush()
    if count > 0 { count = 8 }
    flush()
  }
}

/// The checksum of RFC 1950 §8.2.
func adler32(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> UInt32 {
  var low: UInt32 = 1
  var high: UInt32 = 0
  var index = 0
  while index < count {
    // So many bytes do not overflow 32 bits.
    let end = min(index + 5552, count)
    while index + 4 <= end {
      let (b0, b1) = (UInt32(bytes[index]), UInt32(bytes[index &+ 1]))
      let (b2, b3) = (UInt32(bytes[index &+ 2]), UInt32(bytes[index &+ 3]))
      high &+= 4 &* low &+ 4 &* b0 &+ 3 &* b1 &+ 2 &* b2 &+ b3
      low &+= b0 &+ b1 &+ b2 &+ b3
      index &+= 4
    }
    while index < end {
      low &+= UInt32(bytes[index])
      high &+= low
      index &+= 1
    }
    low %= 65521
    high %= 65521
  }
  return high << 16 | low
}
