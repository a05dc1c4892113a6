internal import Container

/// What FLV files have.
extension JSONWriter {
  mutating func members(_ tag: TagEntry) {
    member("index", tag.index)
    member("offset", tag.offset)
    member("type", tag.kind.rawValue)
    member("size", tag.size)
    member("timestamp", tag.timestamp)
    if let video = tag.video {
      member("codec", video.codec)
      member("frame_type", video.frameType)
      if let type = video.packetType {
        member("avc_packet_type", type.rawValue)
        member("composition_time", video.compositionTime)
      }
    } else if let codec = tag.audioCodec {
      member("codec", codec)
    }
  }

  mutating func members(_ file: FLVFile) {
    member("version", file.version)
    member("has_video", file.hasVideo)
    member("has_audio", file.hasAudio)
    member("tag_count", file.tagCount)
    key("onMetaData")
    value(file.metadata ?? .null)
  }

  private mutating func value(_ script: ScriptValue) {
    switch script {
    case .number(let number), .date(let number):
      if let whole = Int(exactly: number) {
        value(whole)
      } else if number.isFinite {
        value(number)
      } else {
        null()
      }
    case .boolean(let flag): value(flag)
    case .text(let text): value(text)
    case .null: null()
    case .array(let items):
      beginArray()
      for item in items { value(item) }
      endArray()
    case .object(let members):
      beginObject()
      for member in members {
        textKey(member.name)
        value(member.value)
      }
      endObject()
    }
  }
}
