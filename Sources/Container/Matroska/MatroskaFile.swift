/// What a Matroska file says of itself as a whole.
package struct MatroskaFile: Equatable, Sendable {
  package private(set) var docType: String?
  /// Nanoseconds of a tick.
  package private(set) var timestampScale = 1_000_000
  /// Ticks.
  package private(set) var duration: Double?
  package private(set) var title: String?
  package private(set) var muxingApp: String?
  package private(set) var writingApp: String?
  package private(set) var tracks: [ContainerTrack] = []
  package var clusterCount = 0
  package var cueCount = 0
  package var blockCount = 0
  private var clocks: [Int: SampleClock] = [:]
  /// Where elements of the segment are that are no clusters, in bytes of its content.
  private var places: Set<Int> = []

  /// How the frames of the reported track are packed.
  struct Packing: Equatable, Sendable {
    /// Bytes that each frame has lost.
    var header: [UInt8] = []
    /// Encrypted, or compressed in another way.
    var isOpaque = false
    /// Frames have start codes.
    var isByteStream = false
  }

  private(set) var packing = Packing()

  init() {}

  mutating func readHeader(_ content: [UInt8]) {
    var elements = ElementFields(content)
    while let element = elements.next() {
      if element.id == ElementID.docType { docType = element.text }
    }
  }

  mutating func readSeekHead(_ content: [UInt8]) {
    var entries = ElementFields(content)
    while let entry = entries.next() {
      guard entry.id == ElementID.seek else { continue }
      var elements = entry.elements
      var id: Int?
      var place: Int?
      while let element = elements.next() {
        if element.id == ElementID.seekID { id = element.unsigned }
        if element.id == ElementID.seekPosition { place = element.unsigned }
      }
      if let place, id != Int(ElementID.cluster) { places.insert(place) }
    }
  }

  /// Something that is no cluster begins there.
  func isKnown(at place: Int) -> Bool { places.contains(place) }

  mutating func readInfo(_ content: [UInt8]) {
    var elements = ElementFields(content)
    while let element = elements.next() {
      switch element.id {
      case ElementID.timestampScale: timestampScale = max(1, element.unsigned)
      case ElementID.duration:
        if let ticks = element.float, ticks >= 0, ticks < 1e15 { duration = ticks }
      case ElementID.title: title = element.text
      case ElementID.muxingApp: muxingApp = element.text
      case ElementID.writingApp: writingApp = element.text
      default: break
      }
    }
  }

  /// One tick, in seconds.
  private var timeBase: Fraction { Fraction(timestampScale, 1_000_000_000).reduced }

  /// `TrackEntry`, whose content is at `start` in the upload.
  mutating func readTrack(_ content: [UInt8], at start: Int) {
    var track = ContainerTrack(id: 0)
    track.isEnabled = true
    var packing = Packing()
    var privateData: (bytes: [UInt8], offset: Int)?
    var elements = ElementFields(content)
    while let element = elements.next() {
      switch element.id {
      case ElementID.trackNumber: track.id = element.unsigned
      case ElementID.trackType:
        switch element.unsigned {
        case 1: track.kind = .video
        case 2: track.kind = .audio
        case 17: track.kind = .subtitle
        default: track.kind = .data
        }
      case ElementID.flagEnabled: track.isEnabled = element.unsigned != 0
      case ElementID.defaultDuration:
        let ticks = (element.unsigned.addingClamped(timestampScale / 2)) / timestampScale
        track.defaultDuration = element.unsigned > 0 ? ticks : nil
      case ElementID.name: track.name = element.text
      case ElementID.language: track.language = track.language ?? element.text
      case ElementID.languageBCP47: track.language = element.text
      case ElementID.codecID:
        track.codecTag = element.text
        track.codec = Self.codecs[element.text]
      case ElementID.codecPrivate:
        privateData = (element.content, start + element.range.lowerBound)
      case ElementID.video: Self.readVideo(element.elements, &track)
      case ElementID.audio: Self.readAudio(element.elements, &track)
      case ElementID.contentEncodings: packing = Self.packing(element.elements)
      default: break
      }
    }
    if track.codecTag == "V_MS/VFW/FOURCC", let bytes = privateData?.bytes, bytes.count >= 20,
      ["H264", "h264", "X264", "x264", "AVC1", "avc1"].contains(containerText(bytes[16..<20]))
    {
      track.codec = "h264"
      packing.isByteStream = true
      privateData = nil
    }
    track.timeBase = timeBase
    if track.codec == "h264", !tracks.contains(where: \.isReported) {
      track.isReported = true
      self.packing = packing
      if let data = privateData, let record = AVCConfigurationRecord(parsing: data.bytes) {
        track.configuration = record
        track.configurationOffset = data.offset
      }
    }
    tracks.append(track)
  }

  private static func readVideo(_ video: ElementFields, _ track: inout ContainerTrack) {
    var elements = video
    var unit = 0
    while let element = elements.next() {
      switch element.id {
      case ElementID.pixelWidth: track.width = element.unsigned
      case ElementID.pixelHeight: track.height = element.unsigned
      case ElementID.displayWidth: track.displayWidth = Double(element.unsigned)
      case ElementID.displayHeight: track.displayHeight = Double(element.unsigned)
      case ElementID.displayUnit: unit = element.unsigned
      case ElementID.projection:
        var inner = element.elements
        while let pose = inner.next() {
          guard pose.id == ElementID.projectionPoseRoll, let roll = pose.float,
            roll.magnitude <= 360
          else { continue }
          // Counter-clockwise, as the standard has it.
          track.rotation = (360 - Int(roll.rounded())) % 360
        }
      default: break
      }
    }
    // Centimetres, inches and aspect ratios are no size.
    if unit != 0 { (track.displayWidth, track.displayHeight) = (nil, nil) }
  }

  private static func readAudio(_ audio: ElementFields, _ track: inout ContainerTrack) {
    var elements = audio
    while let element = elements.next() {
      switch element.id {
      case ElementID.samplingFrequency:
        if let rate = element.float, rate >= 0, rate < 1e9 { track.sampleRate = Int(rate) }
      case ElementID.channels: track.channels = element.unsigned
      default: break
      }
    }
  }

  private static let maxHeader = 256

  private static func packing(_ encodings: ElementFields) -> Packing {
    var packing = Packing()
    var encodings = encodings
    while let encoding = encodings.next() {
      guard encoding.id == ElementID.contentEncoding else { continue }
      var parts = encoding.elements
      while let part = parts.next() {
        if part.id == ElementID.contentEncryption { packing.isOpaque = true }
        guard part.id == ElementID.contentCompression else { continue }
        var algorithm = 0
        var settings = part.elements
        while let setting = settings.next() {
          if setting.id == ElementID.contentCompAlgo { algorithm = setting.unsigned }
          if setting.id == ElementID.contentCompSettings { packing.header = setting.content }
        }
        // Each frame would get so many bytes.
        if algorithm != 3 || packing.header.count > maxHeader {
          packing.isOpaque = true
          packing.header = []
        }
      }
    }
    return packing
  }

  /// A block of `frames` frames of the track with that number, from `time` on.
  mutating func noteBlock(ofTrack id: Int, frames: Int, at time: Int) {
    guard tracks.contains(where: { $0.id == id }) else { return }
    clocks[id, default: SampleClock()].add(time, samples: frames)
  }

  /// All blocks are known.
  mutating func complete() {
    for index in tracks.indices {
      let clock = clocks[tracks[index].id]
      tracks[index].sampleCount = clock?.count ?? 0
      tracks[index].measure = clock?.measure
      tracks[index].duration =
        clock?.duration ?? (clock?.count == 1 ? tracks[index].defaultDuration : nil)
    }
  }

  private static let codecs: [String: String] = [
    "V_MPEG4/ISO/AVC": "h264", "V_MPEGH/ISO/HEVC": "hevc", "V_VP8": "vp8", "V_VP9": "vp9",
    "V_AV1": "av1", "V_MPEG1": "mpeg1video", "V_MPEG2": "mpeg2video", "V_MPEG4/ISO/ASP": "mpeg4",
    "V_MJPEG": "mjpeg", "V_PRORES": "prores", "V_FFV1": "ffv1", "V_THEORA": "theora",
    "A_AAC": "aac", "A_AC3": "ac3", "A_EAC3": "eac3", "A_OPUS": "opus", "A_VORBIS": "vorbis",
    "A_FLAC": "flac", "A_MPEG/L3": "mp3", "A_MPEG/L2": "mp2", "A_DTS": "dts",
    "A_TRUEHD": "truehd", "A_ALAC": "alac", "A_PCM/INT/LIT": "pcm", "A_PCM/FLOAT/IEEE": "pcm",
    "S_TEXT/UTF8": "subrip", "S_TEXT/ASS": "ass", "S_TEXT/WEBVTT": "webvtt",
    "S_HDMV/PGS": "pgs", "S_VOBSUB": "vobsub",
  ]
}
