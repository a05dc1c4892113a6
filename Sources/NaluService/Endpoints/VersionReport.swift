internal import Codec
internal import HTTP

/// What `GET /version` tells: versions and the limits in force.
struct VersionReport {
  let configuration: Configuration

  var json: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("version", Version.nalu)
    writer.key("libraries")
    writer.beginObject()
    writer.member("libmicrohttpd", Server.libraryVersion)
    for library in LibraryVersions.all { writer.member(library.name, library.version) }
    writer.endObject()
    writer.key("limits")
    writer.beginObject()
    for limit in configuration.limits.named { writer.member(limit.name, limit.value) }
    writer.endObject()
    writer.endObject()
    writer.newLine()
    return writer.bytes
  }
}

extension Limits {
  /// The limits by the names that they have everywhere outside this program.
  package var named: [(name: String, value: Int)] {
    [
      ("max_body", maxBody), ("max_frame_pixels", maxFramePixels), ("max_dimension", maxDimension),
      ("max_frames", maxFrames), ("max_output", maxOutput), ("max_nal_units", maxNALUnits),
      ("job_timeout", jobTimeout), ("max_spool", maxSpool), ("workers", workers), ("jobs", jobs),
      ("queue", queue), ("max_threads", maxThreads),
    ]
  }
}
