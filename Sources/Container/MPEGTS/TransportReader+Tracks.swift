/// What the maps say of the streams.
extension TransportReader {
  package var tracks: [ContainerTrack] {
    var tracks: [ContainerTrack] = []
    for program in tables.programs {
      for stream in program.streams {
        var track = ContainerTrack(id: stream.pid)
        track.kind = stream.kind
        track.codec = stream.codec
        track.codecTag = "0x" + String(stream.type, radix: 16)
        track.language = stream.language
        describe(&track)
        tracks.append(track)
      }
    }
    if isGuessed, let pid = reportedPID {
      var track = ContainerTrack(id: pid)
      track.kind = .video
      track.codec = "h264"
      describe(&track)
      tracks.append(track)
    }
    return tracks
  }

  private func describe(_ track: inout ContainerTrack) {
    track.timeBase = Fraction(1, 90_000)
    track.isReported = track.id == reportedPID
    guard track.isReported else { return }
    track.sampleCount = clock.count
    track.duration = clock.duration
    track.measure = clock.measure
  }
}
