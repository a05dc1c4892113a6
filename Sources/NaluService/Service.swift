package import HTTP
internal import Platform
internal import Synchronization

/// A running server: what all requests share.
package final class Service: Sendable {
  package let configuration: Configuration
  let endpoints: [MediaEndpoint]
  package let workQueue: WorkQueue
  package let admission: Admission
  package let registry = JobRegistry()
  package let spoolDirectory: SpoolDirectory
  package let metrics = Metrics()
  let tokens: BearerTokens?
  let crossOrigin: CrossOrigin
  let log: @Sendable (String) -> Void
  private let housekeeping: Housekeeping
  private let isHurried = Atomic(false)

  /// Prepares a service; `log` gets one line of JSON a job.
  package init(
    _ configuration: Configuration, endpoints: [MediaEndpoint] = MediaEndpoint.all,
    log: @escaping @Sendable (String) -> Void
  ) throws(StartError) {
    self.configuration = configuration
    self.endpoints = endpoints
    self.log = log
    let limits = configuration.limits
    workQueue = WorkQueue(workers: limits.workers)
    admission = Admission(
      slots: limits.jobs, queueLimit: limits.queue, lentLimit: limits.maxCodecMemory,
      grace: Limits.codecGrace)
    spoolDirectory = SpoolDirectory(
      path: configuration.spoolDirectory, capacity: limits.maxSpool,
      memory: limits.maxMemory)
    housekeeping = Housekeeping(registry, admission, workQueue)
    do throws(SystemError) {
      _ = try TemporaryFile(in: configuration.spoolDirectory)
    } catch {
      throw StartError(
        message: "\(configuration.spoolDirectory) cannot hold temporary files: \(error.message).")
    }
    crossOrigin = CrossOrigin(origins: configuration.origins)
    do throws(BearerTokensError) {
      tokens = try configuration.tokenFile.map { path throws(BearerTokensError) in
        try BearerTokens(path: path)
      }
    } catch {
      throw StartError(message: "The token file cannot be used: \(error.reason).")
    }
  }

  /// Opens the port; requests are answered from now on.
  package func listen() throws(StartError) -> Server {
    var http = configuration.http
    http.certificate = try readCertificate()
    http.log = { [log] line in log(ServerLog.line(line)) }
    do throws(ServerError) {
      return try Server(http, handler: Router(service: self))
    } catch {
      throw StartError(
        message: "\(configuration.address(port: http.port)): \(error.text).")
    }
  }

  /// Reads the certificate and the tokens again; what cannot be read stays as it was. The lines
  /// say what happened.
  package func reload(_ server: Server) -> [String] {
    var lines: [String] = []
    if let tokens {
      do throws(BearerTokensError) {
        try tokens.reload()
        lines.append("tokens are read again")
      } catch {
        lines.append("the old tokens stay: \(error.reason)")
      }
    }
    do throws(StartError) {
      guard let certificate = try readCertificate() else { return lines }
      do throws(ServerError) {
        try server.replaceCertificate(certificate)
        lines.append("the certificate is read again")
      } catch {
        lines.append("the old certificate stays: \(error.text)")
      }
    } catch {
      lines.append("the old certificate stays: \(error.message)")
    }
    return lines
  }

  private func readCertificate() throws(StartError) -> Server.Certificate? {
    guard let certificateFile = configuration.certificateFile, let keyFile = configuration.keyFile
    else { return nil }
    do throws(SystemError) {
      return Server.Certificate(
        certificate: try readTextFile(certificateFile, limit: 1 << 20),
        key: try readTextFile(keyFile, limit: 1 << 20))
    } catch {
      throw StartError(message: "The certificate or its key cannot be read: \(error.message).")
    }
  }

  /// Refuses new work, lets what runs finish for `Configuration.grace` seconds, cancels the rest.
  ///
  /// Until then new connections are taken, so that whoever asks learns why there is no new work.
  package func shutDown(_ server: Server) {
    registry.drain()
    let deadline = monotonicNanoseconds() + UInt64(configuration.grace) * 1_000_000_000
    while registry.count > 0, monotonicNanoseconds() < deadline,
      !isHurried.load(ordering: .relaxed)
    {
      sleep(milliseconds: 20)
    }
    server.stop()
  }

  /// It is being shut down.
  package var isDraining: Bool { registry.isDraining }

  /// What is being shut down does not wait any longer.
  package func hurry() { isHurried.store(true, ordering: .relaxed) }

  /// What every answer says: to browsers, that it is data and not to be guessed at or kept.
  func commonFields(for request: Request) -> [Request.Field] {
    [
      ("X-Content-Type-Options", "nosniff"),
      ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
      ("Cache-Control", "no-store"),
    ] + crossOrigin.fields(for: request)
  }

  /// A line of the log that belongs to no job.
  package static func logLine(_ message: String) -> String { ServerLog.line(message) }

  static func makeJobID() -> String {
    let digits = String(UInt64.random(in: .min ... .max), radix: 36)
    return String(repeating: "0", count: 13 - digits.count) + digits
  }
}

/// Why a service could not start.
package struct StartError: Error, Equatable, Sendable {
  package let message: String
}

extension ServerError {
  fileprivate var text: String {
    switch self {
    case .addressInUse: "the port is in use already"
    case .permission: "this port needs privileges"
    case .noSuchAddress: "no such address on this machine"
    case .certificate(let reason): "the certificate or its key cannot be used: \(reason)"
    case .library(let reason): reason
    case .system(let error): "\(error.call): \(error.message)"
    }
  }
}
