/// Fragments (ISO/IEC 14496-12 §8.8).
extension MP4Reader {
  /// A `moof` while it is read.
  struct Fragment: Sendable {
    var offset = 0
    /// Where the data of the last `traf` ended.
    var end = 0
    // Of the `traf` in progress.
    var track = 0
    var base = 0
    var following = 0
    var defaults = FragmentDefaults()
  }

  /// The samples of a track so far, those of its tables first.
  struct FragmentTotals: Sendable {
    var samples: Int
    /// When the next sample is decoded.
    var time: Int
    private var first: Int?

    init(samples: Int, time: Int) {
      self.samples = samples
      self.time = time
      if samples > 0 { first = 0 }
    }

    /// Ticks from the first sample to the end of the last.
    var duration: Int? { first.map { time.subtractingClamped($0) } }

    mutating func add(_ run: FragmentRun, until end: Int) {
      if first == nil, run.count > 0 { first = run.dts }
      samples = samples.addingClamped(run.count)
      time = end
    }
  }

  mutating func readExtends(_ content: [UInt8]) {
    file.isFragmented = true
    var fields = ByteFields(content)
    fields.skip(4)
    let track = fields.number(4)
    let values = FragmentDefaults(
      description: fields.number(4), duration: fields.number(4), size: fields.number(4),
      flags: fields.number(4))
    guard !fields.isShort, defaults.count < limits.maxTracks else { return }
    defaults[track] = values
  }

  mutating func readFragmentHeader(_ content: [UInt8]) {
    var fields = ByteFields(content)
    let flags = fields.number(4) & 0xFF_FFFF
    fragment.track = fields.number(4)
    var values = defaults[fragment.track] ?? FragmentDefaults()
    // default-base-is-moof
    fragment.base = flags & 0x20000 != 0 ? fragment.offset : fragment.end
    if flags & 1 != 0 { fragment.base = fields.number(8) }
    if flags & 2 != 0 { values.description = fields.number(4) }
    if flags & 8 != 0 { values.duration = fields.number(4) }
    if flags & 0x10 != 0 { values.size = fields.number(4) }
    if flags & 0x20 != 0 { values.flags = fields.number(4) }
    fragment.defaults = values
    fragment.following = fragment.base
  }

  mutating func readRun<Sink: ContainerSink>(
    _ box: BoxEntry, _ content: [UInt8], _ sink: inout Sink
  ) {
    let run = FragmentRun(
      content, firstIndex: totals[fragment.track]?.samples ?? 0,
      dts: totals[fragment.track]?.time ?? 0, base: fragment.base,
      following: fragment.following, fragment.defaults)
    guard let run else {
      sink.note(
        ContainerFinding(.error, .damaged, "The run of samples makes no sense.", at: box.offset))
      return
    }
    if run.isCut(content) {
      sink.note(
        ContainerFinding(
          .error, .damaged, "The run has fewer samples than it says.", at: box.offset))
    }
    let (end, time) = run.totals()
    fragment.following = end
    fragment.end = end
    totals[fragment.track]?.add(run, until: time)
    guard let reported, reported.track.id == fragment.track else { return }
    queue.append(run)
  }
}
