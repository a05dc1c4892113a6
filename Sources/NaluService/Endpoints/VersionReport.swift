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
    for limit in configuration.http.limits { writer.member(limit.name, limit.value) }
    // A path of the server: only for those whom it trusts with a token.
    writer.member(
      "spool_dir", configuration.tokenFile == nil ? nil : configuration.spoolDirectory)
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
      ("job_timeout", jobTimeout), ("max_spool", maxSpool), ("max_memory", maxMemory),
      ("max_codec_memory", maxCodecMemory),
      ("workers", workers), ("jobs", jobs),
      ("queue", queue), ("max_threads", maxThreads),
    ]
  }
}

extension Server.Configuration {
  /// Likewise; times are seconds.
  var limits: [(name: String, value: Int)] {
    [
      ("max_connections", connectionLimit), ("max_connections_per_address", perAddressLimit),
      ("header_timeout", Int(headerTimeout.components.seconds)),
      ("idle_timeout", Int(idleTimeout.components.seconds)),
      ("upload_stall_timeout", Int(uploadStallTimeout.components.seconds)),
      ("reader_stall_timeout", Int(readerStallTimeout.components.seconds)),
      ("min_upload_rate", minimumUploadRate), ("min_read_rate", minimumReaderRate),
    ]
  }
}
