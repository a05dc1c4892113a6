internal import Container

/// Tracks and what describes them.
extension JSONWriter {
  /// `frames`: of the track, where samples are none.
  mutating func members(_ track: ContainerTrack, frames: Int?) {
    member("id", track.id)
    member("kind", track.kind.rawValue)
    member("codec", track.codec)
    member("codec_tag", track.codecTag)
    member("reported", track.isReported)
    if let isEnabled = track.isEnabled { member("enabled", isEnabled) }
    member("language", track.language)
    if let name = track.name { member("name", name) }
    member("time_base", track.timeBase.map { "\($0.numerator)/\($0.denominator)" })
    member("duration", track.duration)
    member("duration_seconds", track.durationSeconds)
    member("sample_count", track.sampleCount)
    if track.kind == .video {
      var counted = track
      if let frames, frames != track.sampleCount {
        counted.sampleCount = frames
        counted.measure = nil
      }
      member(
        "average_frame_rate", counted.averageFrameRate.map { "\($0.numerator)/\($0.denominator)" })
    }
    if track.kind == .video { videoMembers(track) }
    if track.kind == .audio {
      member("sample_rate", track.sampleRate)
      member("channels", track.channels)
    }
    if let duration = track.defaultDuration { member("default_duration", duration) }
    if let edits = track.edits { members(edits) }
  }

  private mutating func videoMembers(_ track: ContainerTrack) {
    member("width", track.width)
    member("height", track.height)
    if let width = track.displayWidth { member("display_width", width) }
    if let height = track.displayHeight { member("display_height", height) }
    if let ratio = track.pixelAspectRatio {
      member("sample_aspect_ratio", "\(ratio.numerator):\(ratio.denominator)")
    }
    if let matrix = track.matrix {
      key("display_matrix")
      beginArray()
      for number in matrix { value(number) }
      endArray()
      member("rotation", track.rotation)
    }
  }

  private mutating func members(_ edits: [ContainerTrack.Edit]) {
    key("edit_list")
    beginArray()
    for edit in edits {
      beginObject()
      member("segment_duration", edit.duration)
      member("media_time", edit.mediaTime)
      member("media_rate", Double(edit.rate) / 65536)
      endObject()
    }
    endArray()
  }

  /// The members of an AVCDecoderConfigurationRecord, named as in ISO/IEC 14496-15 §5.3.3.1.2.
  mutating func members(_ record: AVCConfigurationRecord) {
    member("configurationVersion", record.configurationVersion)
    member("AVCProfileIndication", record.profileIndication)
    member("profile_compatibility", record.profileCompatibility)
    member("AVCLevelIndication", record.levelIndication)
    member("lengthSizeMinusOne", record.lengthSizeMinusOne)
    member("numOfSequenceParameterSets", record.sequenceParameterSets.count)
    hexes("sequenceParameterSetNALUnit", record.sequenceParameterSets)
    member("numOfPictureParameterSets", record.pictureParameterSets.count)
    hexes("pictureParameterSetNALUnit", record.pictureParameterSets)
    guard let more = record.extension else { return }
    member("chroma_format", more.chromaFormat)
    member("bit_depth_luma_minus8", more.bitDepthLumaMinus8)
    member("bit_depth_chroma_minus8", more.bitDepthChromaMinus8)
    member("numOfSequenceParameterSetExt", more.sequenceParameterSetExtensions.count)
    hexes("sequenceParameterSetExtNALUnit", more.sequenceParameterSetExtensions)
  }

  private mutating func hexes(_ name: String, _ units: [AVCConfigurationRecord.Unit]) {
    key(name)
    beginArray()
    for unit in units { hex(unit.bytes.span) }
    endArray()
  }
}
