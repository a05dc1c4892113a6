internal import Codec
package import HTTP
internal import Platform

/// How a server is set up: the values of `ServeOptions`.
package struct Configuration: Sendable {
  /// Address, connections and deadlines. Its certificate is read from the files below.
  package var http = Server.Configuration()
  package var limits = Limits()
  package var spoolDirectory = "/tmp"
  /// Seconds that running jobs get to finish when the server is told to stop.
  package var grace = 30
  /// Which messages of the codec libraries are logged.
  package var codecLog = CodecLog.warning
  /// PEM files; both or none.
  package var certificateFile: String?
  package var keyFile: String?
  /// A token a line; without it no request needs one.
  package var tokenFile: String?
  /// Origins of web pages that may use the service.
  package var origins: [String] = []

  /// The defaults of a machine with that many processors.
  package init(processors: Int = availableProcessors()) {
    http.port = 8080
    limits.workers = processors
    limits.jobs = 2 * processors
    limits.maxThreads = processors
  }

  /// Takes the values that were given, and the defaults for the rest.
  package init(_ values: ParameterValues) throws(Problem) {
    self.init()
    takeHTTP(values)
    takeLimits(values)
    spoolDirectory = values[ServeOptions.spoolDirectory] ?? spoolDirectory
    grace = values[ServeOptions.grace] ?? grace
    codecLog = values[ServeOptions.codecLog] ?? codecLog
    certificateFile = values[ServeOptions.certificateFile]
    keyFile = values[ServeOptions.keyFile]
    tokenFile = values[ServeOptions.tokenFile]
    origins = values[ServeOptions.origins] ?? []
    guard (certificateFile == nil) == (keyFile == nil) else {
      throw Problem(.conflictingParameters, "tls-cert and tls-key go together.")
    }
  }

  /// Where a server of this configuration is found, as a URL.
  package func address(port: UInt16) -> String {
    let scheme = certificateFile == nil ? "http" : "https"
    // RFC 3986 §3.2.2: colons in a host need brackets.
    let host = http.host.contains(":") ? "[\(http.host)]" : http.host
    return "\(scheme)://\(host):\(port)"
  }

  /// Leaves descriptors for what is not a connection, such as temporary files: without them,
  /// nothing would be served once all clients are there.
  package mutating func fit(descriptors: Int) {
    http.connectionLimit = min(http.connectionLimit, max(1, descriptors - descriptors / 4))
  }

  private mutating func takeHTTP(_ values: ParameterValues) {
    http.host = values[ServeOptions.host] ?? http.host
    http.port = values[ServeOptions.port].map { UInt16($0) } ?? http.port
    http.ioThreads = values[ServeOptions.ioThreads] ?? http.ioThreads
    http.connectionLimit = values[ServeOptions.maxConnections] ?? http.connectionLimit
    http.perAddressLimit =
      values[ServeOptions.maxConnectionsPerAddress] ?? http.perAddressLimit
    http.minimumUploadRate = values[ServeOptions.minUploadRate] ?? 1000
    http.minimumReaderRate = values[ServeOptions.minReadRate] ?? 1000
    if let seconds = values[ServeOptions.headerTimeout] { http.headerTimeout = .seconds(seconds) }
    if let seconds = values[ServeOptions.idleTimeout] { http.idleTimeout = .seconds(seconds) }
    if let seconds = values[ServeOptions.stallTimeout] {
      http.uploadStallTimeout = .seconds(seconds)
      http.readerStallTimeout = .seconds(seconds)
    }
  }

  private mutating func takeLimits(_ values: ParameterValues) {
    limits.workers = values[ServeOptions.workers] ?? limits.workers
    limits.jobs = values[ServeOptions.jobs] ?? limits.jobs
    limits.queue = values[ServeOptions.queue] ?? limits.queue
    limits.maxThreads = values[ServeOptions.maxThreads] ?? limits.maxThreads
    limits.maxBody = values[ServeOptions.maxBody] ?? limits.maxBody
    limits.maxFramePixels = values[ServeOptions.maxFramePixels] ?? limits.maxFramePixels
    limits.maxDimension = values[ServeOptions.maxDimension] ?? limits.maxDimension
    limits.maxFrames = values[ServeOptions.maxFrames] ?? limits.maxFrames
    limits.maxOutput = values[ServeOptions.maxOutput] ?? limits.maxOutput
    limits.maxNALUnits = values[ServeOptions.maxNALUnits] ?? limits.maxNALUnits
    limits.jobTimeout = values[ServeOptions.jobTimeout] ?? limits.jobTimeout
    limits.maxCodecMemory = values[ServeOptions.maxCodecMemory] ?? limits.maxCodecMemory
    limits.maxMemory = values[ServeOptions.maxMemory] ?? limits.maxMemory
    limits.maxSpool = values[ServeOptions.maxSpool] ?? limits.maxSpool
  }
}

extension Configuration {
  /// How much of what the codec libraries say is logged.
  package enum CodecLog: String, CaseIterable, Sendable {
    case off, error, warning, info, debug

    var level: CodecMessages.Level? {
      switch self {
      case .off: nil
      case .error: .error
      case .warning: .warning
      case .info: .info
      case .debug: .debug
      }
    }
  }
}
