/// A `trak` while it is read.
struct MovieTrack: Sendable {
  var track: ContainerTrack
  var table = SampleTable()
  var description: SampleDescription?
  var timeScale = 0
  /// Samples, as `stsz` says, also of a track whose tables are not kept.
  var sampleCount: Int?
  /// Where its edit list is.
  private var editListOffset: Int?

  init(id: Int) {
    track = ContainerTrack(id: id)
  }

  var isH264: Bool { description?.isH264 ?? false }

  mutating func readTrackHeader(_ content: [UInt8]) {
    var fields = ByteFields(content)
    let version = fields.number(1)
    track.isEnabled = fields.number(3) & 1 != 0
    fields.skip(version == 1 ? 16 : 8)
    track.id = fields.number(4)
    fields.skip(4)
    fields.skip(version == 1 ? 8 : 4)
    fields.skip(16)
    let matrix = (0..<9).map { _ in fields.signed32() }
    let width = fields.number(4)
    let height = fields.number(4)
    guard !fields.isShort else { return }
    track.matrix = matrix
    track.rotation = Self.rotation(matrix)
    track.displayWidth = Double(width) / 65536
    track.displayHeight = Double(height) / 65536
  }

  /// Degrees clockwise; nil for a matrix that is no turn by a right angle.
  private static func rotation(_ matrix: [Int]) -> Int? {
    let turns = [(1, 0, 0, 1), (0, 1, -1, 0), (-1, 0, 0, -1), (0, -1, 1, 0)]
    let signs = (
      matrix[0].signum(), matrix[1].signum(), matrix[3].signum(), matrix[4].signum()
    )
    return turns.firstIndex { $0 == signs }.map { 90 * $0 }
  }

  mutating func readMediaHeader(_ content: [UInt8]) {
    var fields = ByteFields(content)
    let version = fields.number(1)
    fields.skip(3)
    fields.skip(version == 1 ? 16 : 8)
    let scale = fields.number(4)
    let duration = fields.number(version == 1 ? 8 : 4)
    let language = fields.number(2)
    guard !fields.isShort else { return }
    timeScale = scale
    if scale > 0 { track.timeBase = Fraction(1, scale) }
    let isUnknown = duration == (version == 1 ? Int.max : 0xFFFF_FFFF)
    track.duration = isUnknown || duration == 0 ? nil : duration
    // Three letters of five bits; QuickTime has its own numbers below 0x400.
    if language >= 0x400, language != 0x7FFF {
      let letters = [10, 5, 0].map { UInt8(0x60 + (language >> $0 & 31)) }
      track.language = containerText(letters)
    }
  }

  mutating func readHandler(_ content: [UInt8]) {
    var fields = ByteFields(content)
    fields.skip(8)
    let handler = FourCharacters(fields.number(4))
    fields.skip(12)
    switch handler {
    case "vide": track.kind = .video
    case "soun": track.kind = .audio
    case "subt", "text", "sbtl", "clcp": track.kind = .subtitle
    default: track.kind = .data
    }
    var name = fields.take(min(fields.left, 255))
    // QuickTime has the length in front.
    if let count = name.first, Int(count) == name.count - 1 { name.removeFirst() }
    let text = containerText(name)
    track.name = text.isEmpty ? nil : text
  }

  private static let maxEdits = 1024

  mutating func readEditList(_ content: [UInt8], at offset: Int) {
    editListOffset = offset
    var fields = ByteFields(content)
    let isLong = fields.number(1) == 1
    fields.skip(3)
    let count = fields.number(4)
    var edits: [ContainerTrack.Edit] = []
    while edits.count < min(count, Self.maxEdits), fields.left >= (isLong ? 20 : 12) {
      edits.append(
        ContainerTrack.Edit(
          duration: isLong ? fields.number(8) : fields.number(4),
          mediaTime: isLong ? fields.signed64() : fields.signed32(), rate: fields.signed32()))
    }
    track.edits = edits
  }

  mutating func take(_ description: SampleDescription) {
    track.codec = description.codec
    track.codecTag = description.type?.text
    track.width = description.width
    track.height = description.height
    track.channels = description.channels
    track.sampleRate = description.sampleRate
    track.pixelAspectRatio = description.pixelAspectRatio
    if let first = description.configurations.first ?? nil {
      track.configuration = first.record
      track.configurationOffset = first.offset
    }
    self.description = description
  }

  /// Why the times of samples are not those of the presentation; nil when they are.
  var editDefect: String? {
    let edits = (track.edits ?? []).filter { $0.mediaTime != -1 }
    if let wrong = edits.first(where: { $0.mediaTime < 0 }) {
      return "media_time of an edit is \(wrong.mediaTime): it counts as 0."
    }
    if edits.count > 1 { return "Times are shifted by the first edit only; there are more." }
    if edits.contains(where: { $0.rate != 0x1_0000 }) {
      return "media_rate of an edit is not 1; times are those of the media all the same."
    }
    return nil
  }

  /// The parts that are shown of it, in a movie whose unit of time is that.
  func shownParts(movieTimeScale: Int) -> ShownParts? {
    guard let edits = track.edits, edits.count <= Self.maxEdits, let editListOffset else {
      return nil
    }
    return ShownParts(
      edits, of: track.id, at: editListOffset, timeScale: timeScale,
      movieTimeScale: movieTimeScale, table)
  }

  /// What is to be added to the times of samples so that the presentation begins at 0.
  func shift(movieTimeScale: Int) -> Int {
    var shift = 0
    for edit in track.edits ?? [] {
      guard edit.mediaTime == -1 else { return shift.subtractingClamped(max(0, edit.mediaTime)) }
      shift = shift.addingClamped(edit.duration.scaled(timeScale, by: movieTimeScale) ?? 0)
    }
    return shift
  }
}
