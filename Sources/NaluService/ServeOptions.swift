internal import Platform

/// The options of `nalu serve`. Each is also an environment variable, `NALU_MAX_BODY` for
/// `--max-body`; options win.
package enum ServeOptions {
  package static let host = Parameter<String>(
    "host", .text("an address or host name", example: "0.0.0.0"), default: "127.0.0.1",
    help: "Address to listen on.")
  package static let port = Parameter<Int>(
    "port", .integer(0...65535), default: "8080", help: "Port to listen on; 0 takes a free one.")
  package static let ioThreads = Parameter<Int>(
    "io-threads", .integer(1...64), default: "2",
    help: "Threads that move bytes to and from clients.")
  package static let maxConnections = Parameter<Int>(
    "max-connections", .integer(1...1_000_000), default: "4096",
    help: "Open connections; more wait to be accepted.")
  package static let maxConnectionsPerAddress = Parameter<Int>(
    "max-connections-per-address", .integer(0...1_000_000), default: "0 (no limit)",
    help: "Open connections of one address; more are closed at once.")
  package static let headerTimeout = Parameter<Int>(
    "header-timeout", .integer(1...3600), default: "10",
    help: "Seconds in which the head of a request must arrive.")
  package static let idleTimeout = Parameter<Int>(
    "idle-timeout", .integer(1...86400), default: "60",
    help: "Seconds that a connection is kept between two requests.")
  package static let stallTimeout = Parameter<Int>(
    "stall-timeout", .integer(1...86400), default: "30 (uploads), 60 (readers)",
    help: "Seconds without progress after which an upload or a reader is given up.")
  package static let minUploadRate = Parameter<Int>(
    "min-upload-rate", .size, default: "1000",
    help: "Bytes a second that an upload must keep up with; 0 asks for no rate.")
  package static let minReadRate = Parameter<Int>(
    "min-read-rate", .size, default: "1000",
    help: "Bytes a second that a reader of a result must keep up with; 0 asks for no rate.")
  package static let certificateFile = Parameter<String>(
    "tls-cert", .text("a PEM file", example: "cert.pem"),
    help: "Certificate chain; makes the server HTTPS. Read again on SIGHUP.")
  package static let keyFile = Parameter<String>(
    "tls-key", .text("a PEM file", example: "key.pem"), help: "The certificate's private key.")
  package static let tokenFile = Parameter<String>(
    "token-file", .text("a file", example: "tokens"),
    help: "Bearer tokens, one a line; all but /healthz and /readyz needs one. Read again on SIGHUP."
  )
  package static let origins = Parameter<[String]>(
    "cors-origins", .origins, help: "Origins of web pages that may use the service, or *.")
  package static let workers = Parameter<Int>(
    "workers", .integer(1...1024), default: "one a processor",
    help:
      "Steps of jobs that run at once; up to two more, of light kinds, while slow ones have them all."
  )
  package static let jobs = Parameter<Int>(
    "jobs", .integer(1...1024), default: "two a processor",
    help: "Jobs that hold an encoder or decoder at once.")
  package static let queue = Parameter<Int>(
    "queue", .integer(0...100_000), default: "64",
    help: "Jobs that may wait for that; the next request is answered 429.")
  package static let maxThreads = Parameter<Int>(
    "max-threads", .integer(1...64), default: "one a processor",
    help: "Encoder or decoder threads of one job at most; jobs that run together divide them.")
  package static let maxBody = Parameter<Int>(
    "max-body", .size(atLeast: 1), default: "16Gi", help: "Bytes of one upload.")
  package static let maxFramePixels = Parameter<Int>(
    "max-frame-pixels", .size(atLeast: 256), default: "35651584 (8192x4352)",
    help: "Luma samples of one coded picture.")
  package static let maxDimension = Parameter<Int>(
    "max-dimension", .integer(16...65536), default: "16384", help: "Luma samples in one direction.")
  package static let maxFrames = Parameter<Int>(
    "max-frames", .size(atLeast: 1), default: "1M", help: "Frames of one job.")
  package static let maxOutput = Parameter<Int>(
    "max-output", .size(atLeast: 1), default: "64Gi", help: "Bytes of one result.")
  package static let maxNALUnits = Parameter<Int>(
    "max-nal-units", .size(atLeast: 1), default: "1M",
    help: "NAL units that one job keeps records of.")
  package static let jobTimeout = Parameter<Int>(
    "job-timeout", .integer(1...1_000_000), default: "3600",
    help: "Seconds that a job may take, waiting for its client not counted.")
  package static let spoolDirectory = Parameter<String>(
    "spool-dir", .text("a directory", example: "/tmp"), default: "/tmp",
    help: "Where temporary files go; they have no name.")
  package static let maxSpool = Parameter<Int>(
    "max-spool", .size, default: "8Gi",
    help: "Bytes of all temporary files together; one job may have three quarters.")
  package static let maxMemory = Parameter<Int>(
    "max-memory", .size, default: "1Gi",
    help: "Bytes of uploads, reports and results of all jobs that wait in memory.")
  package static let maxCodecMemory = Parameter<Int>(
    "max-codec-memory", .size, default: "4Gi",
    help: "Bytes that one encoder may keep of pictures; slow presets look ahead less far then.")
  package static let grace = Parameter<Int>(
    "grace", .integer(0...86400), default: "30",
    help: "Seconds that running jobs get to finish after SIGTERM.")
  package static let codecLog = Parameter<Configuration.CodecLog>(
    "codec-log", .choice, default: "warning",
    help: "Which messages of the codec libraries are logged, at most 20 a job.")

  package static let all: [any AnyParameter] = [
    host, port, ioThreads, maxConnections, maxConnectionsPerAddress, headerTimeout, idleTimeout,
    stallTimeout, minUploadRate, minReadRate, certificateFile, keyFile, tokenFile, origins, workers,
    jobs, queue,
    maxThreads, maxBody, maxFramePixels, maxDimension, maxFrames,
    maxOutput, maxNALUnits, jobTimeout, spoolDirectory, maxSpool, maxMemory, maxCodecMemory,
    grace,
    codecLog,
  ]

  /// The environment variable of an option.
  package static func variable(of name: String) -> String {
    "NALU_" + name.uppercased().split(separator: "-").joined(separator: "_")
  }

  /// The options that the environment gives, without those in `given`.
  package static func fromEnvironment(
    except given: [String]
  ) -> [(name: String, value: String)] {
    all.filter { !given.contains($0.name) }.compactMap { option in
      environmentVariable(variable(of: option.name)).map { (option.name, $0) }
    }
  }
}

extension ParameterKind<String> {
  /// Any text of at least one character.
  package static func text(_ expectation: String, example: String) -> ParameterKind {
    ParameterKind(expectation, schema: .pattern("^.+$", example: example)) { text in
      text.isEmpty ? nil : text
    }
  }
}

extension ParameterKind<Int> {
  /// A count or a number of bytes: digits with an optional `k M G` (powers of 1000) or `Ki Mi Gi`
  /// (powers of 1024).
  package static var size: ParameterKind { size(atLeast: 0) }

  /// The same with a lower bound: a limit below which nothing could be served.
  package static func size(atLeast least: Int) -> ParameterKind {
    ParameterKind(
      "a size such as 500M or 16Gi\(least > 0 ? ", at least \(least)" : "")",
      schema: .pattern("^[0-9]+([kMG]|[KMG]i)?$", example: "16Gi")
    ) { text in
      let units = [
        ("Ki", 1 << 10), ("Mi", 1 << 20), ("Gi", 1 << 30), ("k", 1000), ("M", 1_000_000),
        ("G", 1_000_000_000),
      ]
      let unit = units.first { text.hasSuffix($0.0) }
      guard let number = decimalInteger(text.dropLast(unit?.0.count ?? 0)), number >= 0 else {
        return nil
      }
      let (size, overflow) = number.multipliedReportingOverflow(by: unit?.1 ?? 1)
      return overflow || size < least ? nil : size
    }
  }
}

extension ParameterKind<[String]> {
  /// Origins as browsers send them, with commas between them; or `*`.
  package static var origins: ParameterKind {
    ParameterKind(
      "* or origins such as https://example.org, with commas between them",
      schema: .pattern(
        #"^(\*|https?://[^,/]+(,https?://[^,/]+)*)$"#, example: "https://example.org")
    ) { text in
      if text == "*" { return ["*"] }
      let origins = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      let isEveryOneValid = origins.allSatisfy { origin in
        let host = origin.split(separator: "://", maxSplits: 1).dropFirst().first
        return (origin.hasPrefix("https://") || origin.hasPrefix("http://"))
          && host?.contains("/") == false
      }
      return isEveryOneValid ? origins : nil
    }
  }
}
