/// What an FLV file says of itself as a whole.
package struct FLVFile: Equatable, Sendable {
  package var version = 0
  /// What the header announces.
  package var hasVideo = false
  package var hasAudio = false
  package var tagCount = 0
  /// Milliseconds.
  package var lastTimestamp = 0
  package var metadata: ScriptValue?
  private var video: ContainerTrack?
  private var audio: ContainerTrack?
  private var videoClock = SampleClock()
  private var audioClock = SampleClock()

  init() {}

  /// Those that have a tag.
  package var tracks: [ContainerTrack] { [video, audio].compactMap { $0 } }

  mutating func noteVideo(_ head: VideoHead, at time: Int) {
    if video == nil {
      video = ContainerTrack(id: 9)
      video?.kind = .video
      video?.timeBase = Fraction(1, 1000)
      video?.codec = head.video.codec
      video?.codecTag = head.codecTag
      video?.isReported = head.isH264
    }
    if head.video.packetType == .units || head.video.packetType == nil { videoClock.add(time) }
  }

  mutating func noteConfiguration(_ record: AVCConfigurationRecord, at offset: Int) {
    guard video?.configuration == nil else { return }
    video?.configuration = record
    video?.configurationOffset = offset
  }

  mutating func noteAudio(_ head: AudioHead, at time: Int) {
    if audio == nil {
      audio = ContainerTrack(id: 8)
      audio?.kind = .audio
      audio?.timeBase = Fraction(1, 1000)
      audio?.codec = head.codec
      audio?.codecTag = head.codecTag
      audio?.sampleRate = head.sampleRate
      audio?.channels = head.channels
    }
    if head.hasSamples { audioClock.add(time) }
  }

  mutating func noteConfiguration(_ configuration: AudioSpecificConfig) {
    audio?.sampleRate = configuration.outputRate
    audio?.channels = configuration.channels
  }

  /// The metadata may come anywhere.
  mutating func complete() {
    video?.duration = videoClock.duration
    video?.measure = videoClock.measure
    video?.sampleCount = videoClock.count
    audio?.duration = audioClock.duration
    audio?.sampleCount = audioClock.count
    video?.width = metadata?["width"]?.integer
    video?.height = metadata?["height"]?.integer
  }

  static let audioCodecs: [Int: String] = [
    0: "pcm", 1: "adpcm", 2: "mp3", 3: "pcm", 4: "nellymoser", 5: "nellymoser", 6: "nellymoser",
    7: "pcm_alaw", 8: "pcm_mulaw", 10: "aac", 11: "speex", 14: "mp3",
  ]

  static let videoCodecs: [Int: String] = [
    2: "h263", 3: "screen", 4: "vp6", 5: "vp6", 6: "screen", 7: "h264", 12: "hevc",
  ]
}

/// The first bytes of an audio tag's body.
struct AudioHead: Sendable {
  /// Bytes that it takes, as far as those that are there tell.
  let size: Int
  let codec: String?
  let codecTag: String
  /// It has sound, and does not only say how that is coded.
  let hasSamples: Bool
  /// An AudioSpecificConfig follows.
  let hasConfiguration: Bool
  private(set) var sampleRate: Int?
  private(set) var channels: Int?

  /// `body` has one byte or more.
  init(_ body: [UInt8]) {
    let format = Int(body[0] >> 4)
    var fields = ByteFields(body)
    let flags = fields.number(1)
    if format == 9 {
      // Enhanced RTMP: the packet type, and four characters.
      size = 5
      let code = FourCharacters(fields.number(4))
      codec = Self.codecs[code]
      codecTag = code.text
      hasSamples = flags & 15 == 1
      hasConfiguration = flags & 15 == 0 && codec == "aac"
      return
    }
    codec = FLVFile.audioCodecs[format]
    codecTag = "\(format)"
    size = format == 10 ? 2 : 1
    let isHeader = format == 10 && fields.number(1) == 0
    hasSamples = !isHeader
    hasConfiguration = isHeader
    // AAC says 44 kHz stereo whatever it is.
    if format != 10 {
      sampleRate = [5512, 11025, 22050, 44100][flags >> 2 & 3]
      channels = flags & 1 + 1
    }
  }

  private static let codecs: [FourCharacters: String] = [
    "mp4a": "aac", "Opus": "opus", "fLaC": "flac", "ac-3": "ac3", "ec-3": "eac3", ".mp3": "mp3",
  ]
}

/// The first bytes of a video tag's body.
struct VideoHead: Sendable {
  /// Bytes that it takes, as far as those that are there tell.
  let size: Int
  let codecTag: String
  let video: TagEntry.Video

  var isH264: Bool { video.codec == "h264" }

  /// `body` has one byte or more.
  init(_ body: [UInt8]) {
    let isExtended = body[0] & 0x80 != 0
    var fields = ByteFields(body)
    fields.skip(1)
    if isExtended {
      let type = Int(body[0] & 15)
      let code = FourCharacters(fields.number(4))
      let codec = Self.codecs[code]
      // CodedFrames has a composition time for these two.
      let hasTime = type == 1 && (code == "avc1" || code == "hvc1")
      size = 5 + (body.count >= 5 && hasTime ? 3 : 0)
      let time = hasTime && fields.left >= 3 ? Self.signed24(fields.number(3)) : nil
      codecTag = code.text
      video = TagEntry.Video(
        frameType: Int(body[0] >> 4 & 7), codec: codec,
        packetType: type == 0
          ? .sequenceHeader : type == 1 || type == 3 ? .units : type == 2 ? .endOfSequence : .other,
        compositionTime: time)
      return
    }
    let id = Int(body[0] & 15)
    codecTag = "\(id)"
    let hasPacketType = id == 7 || id == 12
    size = hasPacketType ? 5 : 1
    var packetType: TagEntry.PacketType?
    var time: Int?
    if hasPacketType, fields.left >= 4 {
      switch fields.number(1) {
      case 0: packetType = .sequenceHeader
      case 1: packetType = .units
      case 2: packetType = .endOfSequence
      default: packetType = .other
      }
      time = Self.signed24(fields.number(3))
    }
    video = TagEntry.Video(
      frameType: Int(body[0] >> 4), codec: FLVFile.videoCodecs[id], packetType: packetType,
      compositionTime: time)
  }

  private static func signed24(_ number: Int) -> Int {
    number & 0x80_0000 != 0 ? number - 0x100_0000 : number
  }

  private static let codecs: [FourCharacters: String] = [
    "avc1": "h264", "hvc1": "hevc", "av01": "av1", "vp08": "vp8", "vp09": "vp9", "vvc1": "vvc",
  ]
}
