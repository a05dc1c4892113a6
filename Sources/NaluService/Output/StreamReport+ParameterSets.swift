internal import H264
internal import Platform

/// Parameter sets: read, kept in force, and reported once for each content.
extension StreamReport {
  mutating func readParameterSet(
    _ header: NALUnitHeader, _ extent: NALUnitExtent, _ bytes: Span<UInt8>, _ place: UnitPlace
  ) -> InputRecognition.Evidence {
    guard let kind = ParameterSetCatalog.Kind(header.type) else { return .none }
    let content = Array(copying: bytes)
    let arrival = catalog.arrival(of: content)
    if case .copy(let index) = arrival, catalog.isInForce(index) {
      writeRepeat(of: index, place)
      return catalog.entries[index].evidence
    }
    let isCopy = arrival != .new && arrival != .unlisted
    let (id, evidence) = store(kind, bytes, place, notesDefects: !isCopy)
    if let id, catalog.replaces(kind, id: id, content, isOutOfBand: place.index == nil) {
      if place.index != nil, catalog.lastReplacedWasOutOfBand {
        note(
          .warning, .parameterSetDiffers,
          "\(kind.title) \(id) is not the one that the container has.", place)
      } else {
        note(
          .info, .parameterSetChanged, "\(kind.title) \(id) changes its content.", place)
      }
    }
    if bytes.count < extent.size, !isCopy {
      note(.error, .nalUnitTruncated, "The unit is too long for a parameter set.", place)
    }
    var entry = ParameterSetCatalog.Entry(
      kind: kind, unit: place.index, offset: place.offset, content: content)
    entry.id = id
    entry.evidence = evidence
    entry.members = membersOfRecord(kind, id: id)
    switch arrival {
    case .copy(let index):
      writeRepeat(of: index, place)
    case .new:
      let index = catalog.add(entry)
      if kind == .pps, let id, let set = sets.pictureParameterSet(id), set.isGuess {
        guessedPPS[set.sequenceParameterSetID].append(index)
      } else {
        write(entry)
      }
    case .unlisted:
      if missingSets.insert(Int.max).inserted {
        note(
          .warning, .tooManyParameterSets,
          "There are more distinct parameter sets than a report lists.", place)
      }
      write(entry)
    }
    if kind == .sps || kind == .subsetSPS, let id { resolveGuesses(about: id) }
    return evidence
  }

  /// Parses a set into ``record`` and ``sets``. Its id, if that could be read.
  private mutating func store(
    _ kind: ParameterSetCatalog.Kind, _ unit: Span<UInt8>, _ place: UnitPlace,
    notesDefects: Bool
  ) -> (Int?, InputRecognition.Evidence) {
    var payload = takePayload()
    payload.load(unit, headerSize: 1)
    var reader = BitReader(payload.bytes.span, record: takeEmptyRecord())
    var cropped: SequenceParameterSet?
    var result: (Int?, InputRecognition.Evidence) = (nil, .none)
    var failure: SyntaxError?
    do throws(SyntaxError) {
      switch kind {
      case .sps:
        let set = try SequenceParameterSet(parsing: &reader)
        sets.store(set)
        spsVersions[set.id] += 1
        if totals.firstSPS == nil { totals.firstSPS = set }
        result = (set.id, InputRecognition.evidence(of: set, reader.issues))
        cropped = set
      case .pps:
        let known = sets
        let set = try PictureParameterSet(parsing: &reader) {
          known.chromaFormatIDC(ofSequenceParameterSet: $0)
        }
        let evidence = InputRecognition.evidence(
          of: set, reader.issues, payloadBytes: payload.bytes.count, in: known)
        // Not before the last use of `known`, or all sets would be copied.
        sets.store(set)
        result = (set.id, evidence)
      case .subsetSPS:
        let set = try SubsetSequenceParameterSet(parsing: &reader)
        sets.store(set)
        result = (set.data.id, .none)
      case .spsExtension:
        result = (try SupplementalUnits.parseSequenceParameterSetExtension(&reader), .none)
      case .depthParameterSet:
        result = (try DepthSyntax.parseParameterSet(&reader), .none)
      }
    } catch {
      failure = error
    }
    if let taken = reader.takeRecord() { record = taken }
    let issues = reader.issues
    rbsp = payload
    guard notesDefects else { return result }
    let truncation: Finding.Code =
      switch kind {
      case .sps, .subsetSPS, .spsExtension: .spsTruncated
      case .pps: .ppsTruncated
      case .depthParameterSet: .nalUnitTruncated
      }
    for issue in issues { note(issue, whenTruncated: truncation, place, isFatal: false) }
    if let cropped { checkCropping(cropped, place) }
    if let failure { note(failure, whenTruncated: truncation, place) }
    return result
  }

  private mutating func checkCropping(_ set: SequenceParameterSet, _ place: UnitPlace) {
    guard set.displaySize == nil else { return }
    note(
      .error, .cropExceedsPicture, "The cropping rectangle leaves nothing of the picture.", place,
      element: "frame_cropping_flag")
  }

  // MARK: Picture parameter sets that came before their sequence parameter set

  private mutating func resolveGuesses(about spsID: Int) {
    guard !guessedPPS[spsID].isEmpty else { return }
    var waiting: [Int] = []
    swap(&waiting, &guessedPPS[spsID])
    for index in waiting {
      let entry = catalog.entries[index]
      // What has been replaced since stays as it was read.
      if let id = entry.id, catalog.isInForce(index) {
        let place = UnitPlace(index: entry.unit, offset: entry.offset)
        let (_, evidence) = store(.pps, entry.content.span, place, notesDefects: true)
        catalog.complete(at: index, membersOfRecord(.pps, id: id), evidence)
      }
      write(catalog.entries[index])
    }
  }

  /// The sequence parameter set never came.
  mutating func flushGuesses() {
    for index in guessedPPS.joined().sorted() { write(catalog.entries[index]) }
    guessedPPS = [[Int]](repeating: [], count: 32)
  }

  // MARK: Writing

  /// What ``record`` and the set itself say of an entry.
  private func membersOfRecord(_ kind: ParameterSetCatalog.Kind, id: Int?) -> [UInt8] {
    guard settings.include.contains(.parameterSets), settings.format != .csv else { return [] }
    var writer = JSONWriter()
    writer.members(record)
    let set: SequenceParameterSet? =
      switch (kind, id) {
      case (.sps, let id?): sets.sequenceParameterSet(id)
      case (.subsetSPS, let id?): sets.subsetSequenceParameterSet(id)?.data
      default: nil
      }
    if let set { writer.derived(from: set) }
    return writer.bytes
  }

  private mutating func write(_ entry: ParameterSetCatalog.Entry) {
    guard settings.include.contains(.parameterSets) else { return }
    form.line(entry.kind.rawValue) { $0.members(entry, counted: false) }
  }

  private mutating func writeRepeat(of index: Int, _ place: UnitPlace) {
    guard settings.include.contains(.parameterSets) else { return }
    let entry = catalog.entries[index]
    form.line("repeat") {
      $0.member("of", entry.kind.rawValue)
      $0.member("nal_unit", place.index)
      $0.member("first_nal_unit", entry.unit)
    }
  }
}

extension ParameterSetCatalog.Kind {
  fileprivate var title: String {
    switch self {
    case .sps: "Sequence parameter set"
    case .pps: "Picture parameter set"
    case .subsetSPS: "Subset sequence parameter set"
    case .spsExtension: "Sequence parameter set extension"
    case .depthParameterSet: "Depth parameter set"
    }
  }
}

extension JSONWriter {
  /// The members of a parameter set's object; `counted`: with its repeats, which a line that is
  /// written at once does not know.
  mutating func members(_ entry: ParameterSetCatalog.Entry, counted: Bool) {
    member("nal_unit", entry.unit)
    if entry.unit == nil {
      member("in_band", false)
      member("offset", entry.offset)
    }
    if counted { member("repeats", entry.repeats) }
    key("hex")
    hex(entry.content.span)
    raw(entry.members)
  }

  /// What follows from the elements of a sequence parameter set.
  mutating func derived(from set: SequenceParameterSet) {
    key("derived")
    beginObject()
    member("width", set.displaySize?.width)
    member("height", set.displaySize?.height)
    member("coded_width", set.codedSize.width)
    member("coded_height", set.codedSize.height)
    key("crop")
    beginObject()
    let crop = set.crop
    member("left", crop.left)
    member("right", crop.right)
    member("top", crop.top)
    member("bottom", crop.bottom)
    endObject()
    member("chroma_format", set.chromaFormatName)
    member("bit_depth_luma", set.bitDepthLuma)
    member("bit_depth_chroma", set.bitDepthChroma)
    member("sample_aspect_ratio", set.sampleAspectRatio.map { "\($0.numerator):\($0.denominator)" })
    member("frame_rate", set.frameRate.map { "\($0.numerator)/\($0.denominator)" })
    member("codec", set.codecString)
    member("profile", set.profileName)
    member("level", set.levelName)
    member("max_dpb_frames", set.maxDpbFrames)
    endObject()
  }
}
