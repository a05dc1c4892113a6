internal import Platform

/// An HTTP/1.1 server on libmicrohttpd: a few I/O threads that never wait for a client, a handler,
/// or an operation.
package final class Server {
  private let core: ServerCore
  private let daemon: Daemon
  private let sweep: Sweep
  private let isStopped = Lock(false)

  /// Starts to listen.
  package init(
    _ configuration: Configuration, handler: any RequestHandler
  ) throws(ServerError) {
    let core = try ServerCore(configuration, handler)
    self.core = core
    daemon = try Daemon(core)
    sweep = Sweep(core)
  }

  deinit {
    stop()
  }

  /// The port it listens on.
  package var port: UInt16 { daemon.port }

  package var openConnections: Int { core.openConnections }

  /// Shows another certificate to connections that come from now on; a server that began without
  /// one stays without.
  package func replaceCertificate(_ certificate: Certificate) throws(ServerError) {
    guard core.configuration.isEncrypted else { return }
    core.certificate = try LoadedCertificate(certificate)
  }

  /// Ends what still runs, with the outcome `.stopped`, and stops. Waits for the I/O threads, so
  /// it must not be called on one, nor under a lock that a callback takes.
  package func stop() {
    isStopped.withLock { isStopped in
      guard !isStopped else { return }
      isStopped = true
      // A connection that was cut, or comes after, is not suspended again: none sleeps when the daemon
      // stops, which libmicrohttpd would not survive.
      core.cutAll()
      daemon.stop()
      sweep.stop()
      core.lingering.closeAll()
    }
  }
}

// SAFETY: all state is behind locks; the daemon is used under `isStopped` once it runs.
extension Server: @unchecked Sendable {}
