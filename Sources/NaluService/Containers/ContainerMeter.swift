internal import Container
internal import Platform

/// Refuses containers that have too much beside their pictures and sound, as they come: libavformat
/// keeps it all in memory. Of MP4, `MP4Guard` does.
struct ContainerMeter: Sendable {
  private let limit: Int
  private var matroska: MatroskaMeter?
  private var flv: FLVMeter?

  init(_ format: MediaFormat, _ limits: Limits) {
    limit = limits.maxMetadata
    if format == .matroska { matroska = MatroskaMeter() }
    if format == .flv { flv = FLVMeter() }
  }

  /// Goes on with the next bytes of the upload.
  ///
  /// - Throws: `unsupported-feature` when there is too much.
  mutating func read(_ bytes: Span<UInt8>) throws(Problem) {
    matroska?.read(bytes)
    flv?.read(bytes)
    if max(matroska?.bytes ?? 0, flv?.bytes ?? 0) > limit { throw .tooMuchMetadata(limit) }
  }
}

/// Adds up the tags of an FLV file that have an `onMetaData`, wherever they are.
private struct FLVMeter: Sendable {
  private(set) var bytes = 0
  /// The last bytes, in which a tag may begin.
  private var rest: [UInt8] = []

  private static let name: [UInt8] = [2, 0, 10] + Array("onMetaData".utf8)
  private static let headerSize = 11

  mutating func read(_ chunk: Span<UInt8>) {
    rest.append(copying: chunk)
    let window = Self.headerSize + Self.name.count
    guard rest.count >= window else { return }
    for start in Self.headerSize...rest.count - Self.name.count
    where rest[start] == 2 && rest[start + 2] == 10
      && rest[start..<start + Self.name.count].elementsEqual(Self.name)
    {
      bytes += rest[start - 10..<start - 7].reduce(0) { $0 << 8 | Int($1) }
    }
    rest.removeFirst(rest.count - (window - 1))
  }
}

extension Problem {
  static func tooMuchMetadata(_ limit: Int) -> Problem {
    Problem(
      .unsupportedFeature,
      "The file has more than \(limit) bytes beside its pictures and sound: attachments, indexes or"
        + " descriptions.", members: [.init("limit", limit)])
  }
}
