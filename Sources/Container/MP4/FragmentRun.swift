/// What `trex` or `tfhd` say of samples that a run does not describe (ISO/IEC 14496-12 §8.8.3, §8.8.7).
struct FragmentDefaults: Equatable, Sendable {
  var description = 1
  var duration = 0
  var size = 0
  var flags = 0
}

/// The samples of a `trun` (ISO/IEC 14496-12 §8.8.8), as they are stored.
struct FragmentRun: Sendable {
  let firstIndex: Int
  let count: Int
  /// The first byte of the first sample in the file.
  let offset: Int
  private let flags: Int
  private let defaults: FragmentDefaults
  private let firstFlags: Int?
  let entries: [UInt8]
  private let entrySize: Int

  // How far it is read.
  private(set) var read = 0
  private var nextOffset: Int
  private(set) var dts: Int

  /// Reads the box; nil when it says nothing that can be used.
  init?(
    _ content: [UInt8], firstIndex: Int, dts: Int, base: Int, following: Int,
    _ defaults: FragmentDefaults
  ) {
    var fields = ByteFields(content)
    flags = fields.number(4) & 0xFF_FFFF
    let said = fields.number(4)
    let offset = flags & 1 != 0 ? base.addingClamped(fields.signed32()) : following
    firstFlags = flags & 4 != 0 ? fields.number(4) : nil
    guard !fields.isShort, offset >= 0 else { return nil }
    entrySize = 4 * (flags >> 8 & 15).nonzeroBitCount
    entries = Array(content[fields.position...])
    count = entrySize > 0 ? min(said, entries.count / entrySize) : said
    self.offset = offset
    self.firstIndex = firstIndex
    self.defaults = defaults
    self.dts = dts
    nextOffset = offset
    // Samples of no bytes, without an end.
    guard entrySize > 0 || defaults.size > 0 || count == 0 else { return nil }
  }

  /// The run is shorter than it says.
  func isCut(_ content: [UInt8]) -> Bool {
    content.count >= 8 && count < content.number32(at: 4)
  }

  mutating func next() -> MediaSample? {
    guard read < count else { return nil }
    var place = read * entrySize
    func field(_ flag: Int) -> Int? {
      guard flags & flag != 0 else { return nil }
      defer { place += 4 }
      return entries.number32(at: place)
    }
    let duration = field(0x100) ?? defaults.duration
    let size = field(0x200) ?? defaults.size
    let sampleFlags = field(0x400)
    let composition = field(0x800)
    var found = MediaSample(index: firstIndex + read, offset: nextOffset, size: size)
    found.description = defaults.description
    found.dts = dts
    found.duration = duration
    found.compositionOffset = composition.map { Int(Int32(truncatingIfNeeded: $0)) }
    let first = read == 0 ? firstFlags : nil
    // sample_is_non_sync_sample
    found.isSync = (first ?? sampleFlags ?? defaults.flags) & 0x10000 == 0
    dts = dts.addingClamped(duration)
    nextOffset = nextOffset.addingClamped(size)
    read += 1
    return found
  }

  /// Where its data ends, and its time.
  func totals() -> (end: Int, dts: Int) {
    var end = offset
    var time = dts
    if flags & 0x200 == 0 { end = end.addingClamped(defaults.size.multipliedClamped(count)) }
    if flags & 0x100 == 0 { time = time.addingClamped(defaults.duration.multipliedClamped(count)) }
    guard flags & 0x300 != 0 else { return (end, time) }
    for index in 0..<count {
      var place = index * entrySize
      if flags & 0x100 != 0 {
        time = time.addingClamped(entries.number32(at: place))
        place += 4
      }
      if flags & 0x200 != 0 { end = end.addingClamped(entries.number32(at: place)) }
    }
    return (end, time)
  }
}

/// The samples of a track that are known and have not been read: those of its tables, then those of
/// its fragments.
struct SampleQueue: Sendable {
  private var table: SampleTableCursor?
  private var runs: [FragmentRun] = []
  private var firstRun = 0
  private var tableBytes = 0
  private var runBytes = 0

  var bytes: Int { runBytes + (table == nil ? 0 : tableBytes) }

  mutating func append(_ table: SampleTable) {
    tableBytes = table.bytes
    self.table = SampleTableCursor(table)
  }

  mutating func append(_ run: FragmentRun) {
    runBytes += run.entries.count + 64
    runs.append(run)
  }

  mutating func next() -> MediaSample? {
    if let sample = table?.next() { return sample }
    table = nil
    while firstRun < runs.count {
      if let sample = runs[firstRun].next() { return sample }
      dropRun()
    }
    return nil
  }

  /// Passes over the rest of the run, or of the table, that the last sample is from.
  mutating func dropRun() {
    guard table == nil else {
      table = nil
      return
    }
    guard firstRun < runs.count else { return }
    runBytes -= runs[firstRun].entries.count + 64
    firstRun += 1
    if firstRun >= 64, firstRun * 2 >= runs.count {
      runs.removeFirst(firstRun)
      firstRun = 0
    }
  }
}
