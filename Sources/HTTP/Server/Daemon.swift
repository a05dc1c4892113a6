internal import CMicroHTTPD
internal import Glibc
internal import Platform

/// The owner of a libmicrohttpd daemon and of the memory it points into.
final class Daemon {
  let port: UInt16
  private let core: ServerCore
  private let log: LogContext
  private let logger: UnsafeMutablePointer<nalu_http_logger>
  private let handle: OpaquePointer

  init(_ core: ServerCore) throws(ServerError) {
    let configuration = core.configuration
    let (listener, port) = try listen(configuration)
    let log = LogContext(configuration.log)
    let logger = UnsafeMutablePointer<nalu_http_logger>.allocate(capacity: 1)
    logger.initialize(
      to: nalu_http_logger(line: logLine, context: Unmanaged.passUnretained(log).toOpaque()))
    let options = Daemon.options(
      configuration, listener: listener, core: Unmanaged.passUnretained(core).toOpaque())
    var flags =
      MHD_USE_EPOLL_INTERNAL_THREAD.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue
      | MHD_USE_ERROR_LOG.rawValue
    if configuration.isEncrypted { flags |= MHD_USE_TLS.rawValue }
    guard let handle = nalu_http_start(flags, handleRequest, nil, logger, options) else {
      Sockets.close(listener)
      logger.deallocate()
      throw .library(log.lastLine ?? "")
    }
    self.core = core
    self.port = port
    self.log = log
    self.logger = logger
    self.handle = handle
  }

  private static func options(
    _ configuration: Server.Configuration, listener: Int32, core: UnsafeMutableRawPointer
  ) -> [MHD_OptionItem] {
    func callback(_ option: MHD_OPTION, _ function: Int) -> MHD_OptionItem {
      MHD_OptionItem(option: option, value: function, ptr_value: core)
    }
    func number(_ option: MHD_OPTION, _ value: Int) -> MHD_OptionItem {
      MHD_OptionItem(option: option, value: value, ptr_value: nil)
    }
    var options = [
      callback(.NOTIFY_CONNECTION, unsafeBitCast(notifyConnection, to: Int.self)),
      callback(.URI_LOG_CALLBACK, unsafeBitCast(requestLineRead, to: Int.self)),
      callback(.NOTIFY_COMPLETED, unsafeBitCast(requestCompleted, to: Int.self)),
      number(.LISTEN_SOCKET, Int(listener)),
      number(.CONNECTION_MEMORY_LIMIT, configuration.connectionMemory),
      number(.CONNECTION_LIMIT, configuration.connectionLimit),
    ]
    if configuration.perAddressLimit > 0 {
      options.append(number(.PER_IP_CONNECTION_LIMIT, configuration.perAddressLimit))
    }
    // A pool of one is not a pool to libmicrohttpd.
    if configuration.ioThreads > 1 {
      options.append(number(.THREAD_POOL_SIZE, configuration.ioThreads))
    }
    if configuration.isEncrypted {
      let function = unsafeBitCast(chooseCertificate, to: UnsafeMutableRawPointer.self)
      options.append(
        MHD_OptionItem(option: .HTTPS_CERT_CALLBACK, value: 0, ptr_value: function))
    }
    options.append(number(.END, 0))
    return options
  }

  /// Refuses new connections and ends everything. No connection may be suspended, nor be about to be.
  ///
  /// `MHD_quiesce_daemon` first would be one way to end, but in version 0.9.75 it aborts the process
  /// when an I/O thread happens to take the listening socket out of its epoll set at the same time.
  func stop() {
    MHD_stop_daemon(handle)
    logger.deallocate()
  }
}

private func listen(
  _ configuration: Server.Configuration
) throws(ServerError) -> (descriptor: Int32, port: UInt16) {
  do throws(SystemError) {
    return try Sockets.listen(host: configuration.host, port: configuration.port)
  } catch {
    switch error.number {
    case EADDRINUSE: throw .addressInUse
    case EACCES, EPERM: throw .permission
    case EADDRNOTAVAIL: throw .noSuchAddress
    default: throw .system(error)
    }
  }
}

/// Takes libmicrohttpd's log lines; passes on a few a second.
private final class LogContext: Sendable {
  private let log: @Sendable (String) -> Void
  private let state = Lock(State())

  private struct State {
    var rate = LineRate(limit: 10)
    var lastLine: String?
  }

  init(_ log: @escaping @Sendable (String) -> Void) {
    self.log = log
  }

  var lastLine: String? { state.withLock { $0.lastLine } }

  /// What libmicrohttpd says when a request's handler does not go on. That is always on purpose,
  /// because the exchange is over, and whoever asked for it knows why.
  private static let endOnPurpose = "Application reported internal error, closing connection."

  func take(_ line: String) {
    guard line != Self.endOnPurpose else { return }
    let (isPassed, omitted) = state.withLock { state in
      state.lastLine = line
      return state.rate.take(at: monotonicNanoseconds())
    }
    if omitted > 0 { log("\(omitted) more lines of libmicrohttpd were left out") }
    if isPassed { log(line) }
  }
}

private let logLine: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?) -> Void = {
  context, text in
  guard let context, let text else { return }
  var line = String(cString: text)
  while line.last?.isNewline == true { line.removeLast() }
  Unmanaged<LogContext>.fromOpaque(context).takeUnretainedValue().take(line)
}
