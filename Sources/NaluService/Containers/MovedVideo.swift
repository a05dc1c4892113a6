internal import Container
internal import Platform

/// Takes the video out of a transport stream whose program map moves it from one PID to another:
/// for libavformat these are streams of their own, and the end of one comes behind the others.
struct MovedVideo: Sendable {
  private let upload: SpooledUpload
  private let maxPackets: Int
  private var reader: TransportReader
  private var sink = Sink()
  private var position = 0

  private static let pieceSize = 256 << 10

  init(_ upload: SpooledUpload, _ limits: Limits) {
    self.upload = upload
    maxPackets = limits.maxNALUnits
    reader = TransportReader(search: nil)
  }

  /// Goes on with the next bytes of the upload.
  ///
  /// - Parameters:
  ///   - bytes: Gets more of the byte stream.
  ///   - streamOffset: How much of it there is already.
  ///   - timeline: Gets to know when its pieces are shown.
  /// - Returns: False when there is no more.
  /// - Throws: When there are too many pieces.
  mutating func step(
    into bytes: inout [UInt8], at streamOffset: Int, _ timeline: inout StreamTimeline
  ) throws(Problem) -> Bool {
    let piece = upload.bytes(at: position, count: Self.pieceSize)
    position += piece.count
    if piece.isEmpty {
      reader.finish(into: &sink)
    } else {
      reader.read(piece.span, into: &sink)
    }
    bytes += sink.bytes
    for mark in sink.marks {
      var mark = mark
      mark.streamOffset += streamOffset
      timeline.marks.append(mark)
    }
    sink = Sink()
    guard timeline.marks.count <= maxPackets else { throw .tooManyPackets(maxPackets) }
    return !piece.isEmpty
  }

  private struct Sink: ContainerSink {
    var bytes: [UInt8] = []
    var marks: [StreamTimeline.Mark] = []

    mutating func take(_ sample: Sample) {
      marks.append(
        StreamTimeline.Mark(
          streamOffset: bytes.count, mediaOffset: sample.offset, presentation: sample.pts,
          duration: 0, isHidden: false))
    }

    mutating func take(payload: Span<UInt8>) { bytes.append(copying: payload) }

    mutating func take(_ configuration: AVCConfigurationRecord, at offset: Int) {}
    mutating func amendSample(duration: Int?, isSync: Bool?) {}
    mutating func take(_ unit: ContainedUnit, _ bytes: Span<UInt8>) {}
    mutating func take(_ entry: ContainerEntry) {}
    mutating func note(_ finding: ContainerFinding) {}
  }
}
