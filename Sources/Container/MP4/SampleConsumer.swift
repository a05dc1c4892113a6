internal import H264

/// Hands the bytes of samples, which lie anywhere in a file, to the sink as NAL units.
struct SampleConsumer: Sendable {
  private var units: LengthPrefixedUnits
  private var configurations: [(record: AVCConfigurationRecord, offset: Int)?] = []
  private var shift = 0
  private var description = 1
  private var sample: MediaSample?
  /// Bytes of the sample that are read.
  private var read = 0
  /// Bytes of all samples read out of order: more than the file has are overlapping ones.
  private var randomBytes = 0
  /// Of a file whose samples are read out of order.
  private var fileSize = Int.max
  /// Where the samples end that were read in order.
  private var passed = 0
  /// The most bytes of one sample that were there.
  private(set) var largest = 0
  private var lastWindowEnd = 0
  /// Bytes that were asked for out of order, whatever they held.
  private var rereadBytes = 0
  /// Samples of no bytes so far.
  private var emptySamples = 0

  private static let maxEmptySamples = 1 << 18
  private static let maxRereadFactor = 8
  private static let maxPassedSamples = 1 << 24

  init(search: StartCodeScanner.Search?) {
    units = LengthPrefixedUnits(lengthSize: 4, search: search)
  }

  /// The samples of a track follow, whose times are to be shifted.
  mutating func begin(
    _ configurations: [(record: AVCConfigurationRecord, offset: Int)?], shift: Int
  ) {
    self.configurations = configurations
    self.shift = shift
  }

  /// Tells the sink the configuration that the track begins with.
  mutating func announce<Sink: ContainerSink>(into sink: inout Sink) throws(Sink.Failure) {
    guard let configuration = configurations.first ?? nil else { return }
    units.lengthSize = configuration.record.lengthSize
    try sink.take(configuration.record, at: configuration.offset)
  }

  /// Reads the samples that lie in `chunk`, which is at `base` in the file.
  ///
  /// Until the first that lies behind it or, `isRandom`, before it; others before it are lost.
  mutating func consume<Sink: ContainerSink>(
    _ chunk: Span<UInt8>, at base: Int, _ queue: inout SampleQueue, isRandom: Bool,
    into sink: inout Sink
  ) throws(Sink.Failure) {
    let end = base + chunk.count
    // Samples may lie over each other: then the rest is left for another time.
    var bytesLeft = isRandom ? 2 * chunk.count : .max
    while bytesLeft > 0, let current = try next(&queue, &sink) {
      let place = current.offset.addingClamped(read)
      if place < base || place < passed && !isRandom, current.size > 0 {
        if isRandom { return }
        sink.note(
          ContainerFinding(
            .error, .sampleOutsideFile,
            "Sample \(current.index) lies before its description, or overlaps with the one before:"
              + " it cannot be read.", at: current.offset))
        sample = nil
        queue.dropRun()
        continue
      }
      if place >= end, current.size > 0 { return }
      if isRandom, randomBytes > fileSize { return }
      if read == 0, !begin(current, &queue, &sink) { return }
      let count = min(current.size - read, end - place)
      if count > 0 {
        let piece = chunk.extracting(place - base..<place - base + count)
        try units.read(piece, at: place, into: &sink)
        bytesLeft -= count
        if isRandom { randomBytes += count } else { passed = place + count }
      }
      read += max(0, count)
      largest = max(largest, read)
      if read == current.size {
        try units.end(at: place, into: &sink)
        sample = nil
      }
    }
  }

  /// Where the next sample of a file of `size` bytes is, when it is out of order.
  mutating func wanted(_ queue: inout SampleQueue, of size: Int) -> Range<Int>? {
    fileSize = size
    if sample == nil {
      sample = queue.next()
      read = 0
    }
    guard let current = sample, randomBytes <= size,
      rereadBytes <= size.multipliedClamped(Self.maxRereadFactor).addingClamped(1 << 20)
    else { return nil }
    let first = current.offset.addingClamped(read)
    guard first < size else { return nil }
    // Next to the last one there will be more of them.
    let isNear = first >= lastWindowEnd && first - lastWindowEnd < 64 << 10
    let least = isNear ? 256 << 10 : 4 << 10
    let end = min(size, first.addingClamped(max(least, min(current.size - read, 256 << 10))))
    lastWindowEnd = end
    rereadBytes += end - first
    return first..<end
  }

  private mutating func next<Sink: ContainerSink>(
    _ queue: inout SampleQueue, _ sink: inout Sink
  ) throws(Sink.Failure) -> MediaSample? {
    if sample == nil {
      sample = queue.next()
      read = 0
    }
    guard let sample, read == 0, sample.description != description else { return sample }
    description = sample.description
    let index = description - 1
    if configurations.indices.contains(index), let configuration = configurations[index] {
      units.lengthSize = configuration.record.lengthSize
      sink.note(
        ContainerFinding(
          .info, .configurationChanged,
          "Sample description \(description) is in force from sample \(sample.index) on.",
          at: sample.offset))
      try sink.take(configuration.record, at: configuration.offset)
    }
    return sample
  }

  /// False when the samples are given up, because too many have no bytes.
  private mutating func begin<Sink: ContainerSink>(
    _ current: MediaSample, _ queue: inout SampleQueue, _ sink: inout Sink
  ) -> Bool {
    if current.size == 0 { emptySamples += 1 }
    guard emptySamples <= Self.maxEmptySamples else {
      sink.note(
        ContainerFinding(
          .warning, .limit,
          "More than \(Self.maxEmptySamples) samples have no bytes. Sample \(current.index) and those"
            + " after it are not read.", at: current.offset))
      sample = nil
      queue = SampleQueue()
      emptySamples = 0
      return false
    }
    var begun = Sample(
      index: current.index, offset: current.offset, streamOffset: units.streamOffset)
    begun.dts = current.dts?.addingClamped(shift)
    begun.pts = begun.dts?.addingClamped(current.compositionOffset ?? 0)
    begun.duration = current.duration
    begun.isSync = current.isSync
    sink.take(begun)
    units.begin(size: current.size)
    return true
  }

  /// Passes over the samples that lie in `range` of the file, up to one that does not.
  mutating func dropPresent<Sink: ContainerSink>(
    _ queue: inout SampleQueue, in range: Range<Int>, into sink: inout Sink
  ) throws(Sink.Failure) {
    var count = 0
    while let current = try next(&queue, &sink), current.offset >= range.lowerBound,
      current.offset.addingClamped(current.size) <= range.upperBound
    {
      sample = nil
      largest = max(largest, current.size)
      count += 1
      if count > Self.maxPassedSamples { queue = SampleQueue() }
    }
  }

  /// No more of the file comes, which has `fileSize` bytes.
  mutating func finish<Sink: ContainerSink>(
    _ queue: inout SampleQueue, fileSize: Int, into sink: inout Sink
  ) throws(Sink.Failure) {
    guard let missing = try next(&queue, &sink) else { return }
    let isInside = missing.offset.addingClamped(missing.size) <= fileSize
    let reason =
      !isInside
      ? "does not lie within the file: it and those after it are not read whole"
      : randomBytes > fileSize
        ? "overlaps with others: they have more bytes than the file, and the rest is not read"
        : "does not lie in the media, or too far from the others: it and those after it are not read"
    sink.note(
      ContainerFinding(
        .error, .sampleOutsideFile, "Sample \(missing.index) \(reason).", at: missing.offset))
    if read > 0 { try units.end(at: fileSize, into: &sink) }
  }
}
