package import HTTP
internal import Platform

/// A running server: what all requests share.
package final class Service: Sendable {
  package let configuration: Configuration
  let endpoints: [MediaEndpoint]
  package let workQueue: WorkQueue
  package let admission: Admission
  package let registry = JobRegistry()
  package let spoolDirectory: SpoolDirectory
  let log: @Sendable (String) -> Void

  /// Prepares a service; `log` gets one line of JSON a job.
  package init(
    _ configuration: Configuration, endpoints: [MediaEndpoint] = MediaEndpoint.all,
    log: @escaping @Sendable (String) -> Void
  ) {
    self.configuration = configuration
    self.endpoints = endpoints
    self.log = log
    let limits = configuration.limits
    workQueue = WorkQueue(workers: limits.workers)
    admission = Admission(slots: limits.jobs, queueLimit: limits.queue)
    spoolDirectory = SpoolDirectory(
      path: configuration.spoolDirectory, capacity: limits.maxSpool)
  }

  /// Opens the port; requests are answered from now on.
  package func listen() throws(ServerError) -> Server {
    var http = Server.Configuration()
    http.host = configuration.host
    http.port = UInt16(clamping: configuration.port)
    return try Server(http, handler: Router(service: self))
  }

  /// Refuses new work, lets what runs finish for `Configuration.grace` seconds, cancels the rest.
  package func shutDown(_ server: Server) {
    registry.drain()
    server.stopAccepting()
    let deadline = monotonicNanoseconds() + UInt64(configuration.grace) * 1_000_000_000
    while registry.count > 0, monotonicNanoseconds() < deadline { sleep(milliseconds: 20) }
    server.stop()
  }

  static func makeJobID() -> String {
    let digits = String(UInt64.random(in: .min ... .max), radix: 36)
    return String(repeating: "0", count: 13 - digits.count) + digits
  }
}
