internal import CMicroHTTPD
internal import Platform

/// What the callbacks of libmicrohttpd work with.
final class ServerCore: Sendable {
  let configuration: Server.Configuration
  let handler: any RequestHandler
  let lingering: Lingering
  private let state = Lock(State())

  private struct State {
    var connections: [OpaquePointer: Connection] = [:]
    var isStopping = false
    var certificate: LoadedCertificate?
  }

  init(
    _ configuration: Server.Configuration, _ handler: any RequestHandler
  ) throws(ServerError) {
    if let pem = configuration.certificate {
      let certificate = try LoadedCertificate(pem)
      state.withLock { $0.certificate = certificate }
    }
    self.configuration = configuration
    self.handler = handler
    lingering = Lingering(limit: configuration.drainLimit)
  }

  /// All open connections.
  func connections() -> [Connection] {
    state.withLock { Array($0.connections.values) }
  }

  /// What new connections are shown.
  var certificate: LoadedCertificate? {
    get { state.withLock { $0.certificate } }
    set { state.withLock { $0.certificate = newValue } }
  }

  var openConnections: Int {
    state.withLock { $0.connections.count }
  }

  /// Cuts all connections, and each that opens from now on.
  func cutAll() {
    let all = state.withLock { state in
      state.isStopping = true
      return Array(state.connections.values)
    }
    for connection in all { connection.cut(.stopped) }
  }

  /// The answer to a client that was too slow with its request.
  func tooSlow(_ request: Request) -> Response {
    handler.refusal(
      of: Violation(status: 408, detail: "The request did not arrive in time."), request)
  }

  fileprivate func opened(_ handle: OpaquePointer) -> Connection {
    let connection = Connection(self, handle)
    let isStopping = state.withLock { state in
      state.connections[handle] = connection
      return state.isStopping
    }
    if isStopping { connection.cut(.stopped) }
    return connection
  }

  fileprivate func closed(_ connection: Connection) {
    connection.closed()
    state.withLock { $0.connections[connection.handle] = nil }
  }
}

// SAFETY of the contexts below: the core outlives the daemon (`Daemon` holds it until the daemon
// has stopped); connections and exchanges are retained until libmicrohttpd's last word about them.

/// A connection was accepted, or is about to be closed.
let notifyConnection: MHD_NotifyConnectionCallback = { core, handle, context, code in
  guard let core, let handle, let context else { return }
  switch code {
  case .CONNECTION_NOTIFY_STARTED:
    let core = Unmanaged<ServerCore>.fromOpaque(core).takeUnretainedValue()
    context.pointee = Unmanaged.passRetained(core.opened(handle)).toOpaque()
  case .CONNECTION_NOTIFY_CLOSED:
    guard let connection = context.pointee else { return }
    context.pointee = nil
    let owned = Unmanaged<Connection>.fromOpaque(connection).takeRetainedValue()
    owned.server.closed(owned)
  default:
    break
  }
}

/// A request line was read. What is returned becomes the context of the request.
let requestLineRead:
  @convention(c) (
    UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?
  ) -> UnsafeMutableRawPointer? = { _, target, handle in
    guard let handle, let context = nalu_http_connection_context(handle) else { return nil }
    let connection = Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue()
    return Unmanaged.passRetained(connection.began(target: target)).toOpaque()
  }

/// The head is complete, upload bytes are there, or the upload has ended.
let handleRequest: MHD_AccessHandlerCallback = {
  _, _, _, method, version, bytes, count, context in
  guard let context = context?.pointee, let method, let version, let count else { return .NO }
  let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
  return exchange.advance(method: method, version: version, bytes: bytes, count: count)
}

/// The request is over, however that came.
let requestCompleted: MHD_RequestCompletedCallback = { _, _, context, code in
  guard let context, let pointer = context.pointee else { return }
  context.pointee = nil
  Unmanaged<Exchange>.fromOpaque(pointer).takeRetainedValue().completed(code)
}
