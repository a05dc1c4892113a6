/// The sample tables of a track (ISO/IEC 14496-12 §8.6 and §8.7), as they are stored: nothing is
/// expanded.
struct SampleTable: Sendable {
  /// `stts`: runs of samples of the same duration.
  var timeToSample: [UInt8] = []
  /// `ctts`: runs of samples of the same composition offset.
  var compositionOffsets: [UInt8] = []
  /// `stss`: numbers of sync samples; nil when all are.
  var syncSamples: [UInt8]?
  /// `stsc`: runs of chunks with the same number of samples.
  var samplesToChunk: [UInt8] = []
  /// `stco` or `co64`.
  var chunkOffsets: [UInt8] = []
  var chunkOffsetsAre64 = false
  /// `stsz` or `stz2`.
  var sizes: [UInt8] = []
  /// Bits of each size in `sizes`.
  var sizeBits = 32
  /// The size of every sample; 0 when `sizes` says.
  var commonSize = 0
  private(set) var sampleCount = 0

  var bytes: Int {
    timeToSample.count + compositionOffsets.count + (syncSamples?.count ?? 0)
      + samplesToChunk.count + chunkOffsets.count + sizes.count
  }

  var chunkCount: Int { chunkOffsets.count / (chunkOffsetsAre64 ? 8 : 4) }

  /// Takes the content of one of the boxes; what is wrong with it.
  mutating func take(_ type: FourCharacters, _ content: [UInt8]) -> String? {
    guard content.count >= 8 else { return "The table is cut off." }
    switch type {
    case "stsz", "stz2": return takeSizes(type, content)
    case "stts": return take(content, entrySize: 8, into: \.timeToSample)
    case "ctts": return take(content, entrySize: 8, into: \.compositionOffsets)
    case "stsc": return take(content, entrySize: 12, into: \.samplesToChunk)
    case "stss":
      var numbers: [UInt8] = []
      let defect = Self.entries(of: content, headerSize: 8, entrySize: 4, into: &numbers)
      syncSamples = numbers
      return defect
    case "stco", "co64":
      chunkOffsetsAre64 = type == "co64"
      return take(content, entrySize: chunkOffsetsAre64 ? 8 : 4, into: \.chunkOffsets)
    default: return nil
    }
  }

  private mutating func take(
    _ content: [UInt8], entrySize: Int, into table: WritableKeyPath<SampleTable, [UInt8]>
  ) -> String? {
    Self.entries(of: content, headerSize: 8, entrySize: entrySize, into: &self[keyPath: table])
  }

  private mutating func takeSizes(_ type: FourCharacters, _ content: [UInt8]) -> String? {
    guard content.count >= 12 else { return "The table is cut off." }
    sampleCount = content.number32(at: 8)
    sizes = []
    if type == "stz2" {
      commonSize = 0
      sizeBits = Int(content[7])
      guard [4, 8, 16].contains(sizeBits) else {
        sampleCount = 0
        return "field_size is \(sizeBits), which is none of 4, 8 and 16."
      }
    } else {
      commonSize = content.number32(at: 4)
      sizeBits = 32
      if commonSize > 0 { return nil }
    }
    sizes = Array(content[12...])
    let there = sizes.count * 8 / sizeBits
    guard there < sampleCount else { return nil }
    sampleCount = there
    return "The table has fewer entries than it says."
  }

  private static func entries(
    of content: [UInt8], headerSize: Int, entrySize: Int, into table: inout [UInt8]
  ) -> String? {
    let said = content.number32(at: 4)
    let there = (content.count - headerSize) / entrySize
    table = Array(content[headerSize..<headerSize + min(said, there) * entrySize])
    return there < said ? "The table has fewer entries than it says." : nil
  }

  /// Bytes of the sample, which must be one of ``sampleCount``.
  func size(of sample: Int) -> Int {
    guard commonSize == 0 else { return commonSize }
    switch sizeBits {
    case 32: return sizes.number32(at: 4 * sample)
    case 16: return Int(sizes[2 * sample]) << 8 | Int(sizes[2 * sample + 1])
    case 8: return Int(sizes[sample])
    default: return Int(sizes[sample / 2] >> (sample % 2 == 0 ? 4 : 0) & 15)
    }
  }

  func offset(ofChunk chunk: Int) -> Int {
    chunkOffsetsAre64 ? chunkOffsets.number64(at: 8 * chunk) : chunkOffsets.number32(at: 4 * chunk)
  }
}

/// Goes through the samples of a table in their order, which is that of decoding.
struct SampleTableCursor: Sendable {
  private let table: SampleTable
  private var sample = 0
  private var chunks: ChunkCursor
  /// Of the chunk: the offset of its next sample, and the samples left.
  private var offset = 0
  private var leftInChunk = 0
  private var dts = 0
  private var durations: RunCursor
  private var compositions: RunCursor
  private var nextSync = 0

  init(_ table: SampleTable) {
    self.table = table
    chunks = ChunkCursor(table)
    durations = RunCursor(table.timeToSample)
    compositions = RunCursor(table.compositionOffsets)
  }

  mutating func next() -> MediaSample? {
    guard sample < table.sampleCount else { return nil }
    while leftInChunk == 0 {
      guard let chunk = chunks.next() else { return nil }
      offset = chunk.offset
      leftInChunk = chunk.samples
    }
    var found = MediaSample(index: sample, offset: offset, size: table.size(of: sample))
    found.description = chunks.description
    found.dts = dts
    found.duration = durations.next()
    // Version 0 says unsigned, but files of that version have negative ones.
    found.compositionOffset = compositions.next().map { Int(Int32(truncatingIfNeeded: $0)) }
    found.isSync = isSync(sample + 1)
    dts = dts.addingClamped(found.duration ?? 0)
    offset = offset.addingClamped(found.size)
    leftInChunk -= 1
    sample += 1
    return found
  }

  private mutating func isSync(_ number: Int) -> Bool {
    guard let numbers = table.syncSamples else { return true }
    while nextSync + 4 <= numbers.count, numbers.number32(at: nextSync) < number { nextSync += 4 }
    return nextSync + 4 <= numbers.count && numbers.number32(at: nextSync) == number
  }
}

/// A sample as its container's tables say.
struct MediaSample: Equatable, Sendable {
  let index: Int
  let offset: Int
  let size: Int
  /// 1 and up: which entry of the sample description.
  var description = 1
  var dts: Int?
  var duration: Int?
  var compositionOffset: Int?
  var isSync = true

  init(index: Int, offset: Int, size: Int) {
    self.index = index
    self.offset = offset
    self.size = size
  }
}

/// Goes through runs of a count and a value, 4 bytes each.
private struct RunCursor: Sendable {
  private let runs: [UInt8]
  private var next4 = 0
  private var left = 0
  private var value = 0

  init(_ runs: [UInt8]) {
    self.runs = runs
  }

  /// The value for the next sample; nil when the runs have ended.
  mutating func next() -> Int? {
    while left == 0 {
      guard next4 + 8 <= runs.count else { return nil }
      left = runs.number32(at: next4)
      value = runs.number32(at: next4 + 4)
      next4 += 8
    }
    left -= 1
    return value
  }
}

/// Goes through the chunks of a track.
struct ChunkCursor: Sendable {
  private let table: SampleTable
  private var chunk = 0
  /// The entry of `stsc` that is in force, in bytes, and the first chunk of the next.
  private var entry = -12
  private var nextFirst = 1
  private var samples = 0
  private(set) var description = 1

  init(_ table: SampleTable) {
    self.table = table
  }

  mutating func next() -> (offset: Int, samples: Int)? {
    guard chunk < table.chunkCount else { return nil }
    chunk += 1
    while chunk >= nextFirst {
      entry += 12
      guard entry + 12 <= table.samplesToChunk.count else {
        guard entry >= 12 else { return nil }
        nextFirst = .max
        break
      }
      samples = table.samplesToChunk.number32(at: entry + 4)
      description = table.samplesToChunk.number32(at: entry + 8)
      nextFirst =
        entry + 24 <= table.samplesToChunk.count
        ? table.samplesToChunk.number32(at: entry + 12) : .max
    }
    return (table.offset(ofChunk: chunk - 1), samples)
  }
}

extension SampleTable {
  /// Ticks of all samples together.
  var duration: Int {
    stride(from: 0, to: timeToSample.count, by: 8).reduce(0) { total, run in
      let count = timeToSample.number32(at: run)
      return total.addingClamped(count.multipliedClamped(timeToSample.number32(at: run + 4)))
    }
  }

  /// There are samples, and they are all coded with the same.
  var hasOneDescription: Bool {
    sampleCount > 0
      && stride(from: 8, to: samplesToChunk.count, by: 12).allSatisfy {
        samplesToChunk.number32(at: $0) == 1
      }
  }

  /// The samples lie in the file in their order, without overlapping, from `first` on.
  func isInOrder(from first: Int) -> Bool {
    var cursor = ChunkCursor(self)
    var sample = 0
    var end = first
    while sample < sampleCount, let chunk = cursor.next() {
      guard chunk.offset >= end else { return false }
      let count = min(chunk.samples, sampleCount - sample)
      end = chunk.offset
      if commonSize > 0 {
        end = end.addingClamped(commonSize.multipliedClamped(count))
      } else {
        for index in sample..<sample + count { end = end.addingClamped(size(of: index)) }
      }
      sample += count
    }
    return true
  }
}
