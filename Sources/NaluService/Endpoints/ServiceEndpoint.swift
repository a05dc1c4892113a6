internal import HTTP
internal import Platform

/// A path that answers `GET` about the service itself.
struct ServiceEndpoint: Sendable {
  let path: String
  let summary: String
  let contentType: String
  /// Needs no token, and ignores whatever a query says: what a load balancer asks.
  var isOpen = false
  let body: @Sendable (Service) throws(Problem) -> [UInt8]

  func respond(to request: Request, of service: Service) throws(Problem) -> Response {
    if !isOpen, let unknown = request.query.first {
      throw .unknownParameter(unknown.name, table: [])
    }
    return Response(
      status: 200, headers: [("Content-Type", contentType)],
      body: .bytes(try body(service)))
  }

  static let all = [health, readiness, version, metrics, openAPI]

  static let health = ServiceEndpoint(
    path: "/healthz", summary: "200 while the process lives.", contentType: "text/plain",
    isOpen: true
  ) { (_) throws(Problem) in
    Array("ok\n".utf8)
  }

  static let readiness = ServiceEndpoint(
    path: "/readyz", summary: "200, or 503 while draining or with a full queue.",
    contentType: "text/plain", isOpen: true
  ) { (service) throws(Problem) in
    if service.registry.isDraining { throw Problem(.draining, "The server is shutting down.") }
    if service.admission.isFull {
      var problem = Problem(.queueFull, "As many jobs wait as may.")
      problem.status = 503
      throw problem
    }
    return Array("ready\n".utf8)
  }

  static let version = ServiceEndpoint(
    path: "/version", summary: "Version, library versions and the limits in force.",
    contentType: "application/json"
  ) { (service) throws(Problem) in
    VersionReport(configuration: service.configuration).json
  }

  static let metrics = ServiceEndpoint(
    path: "/metrics", summary: "Counters and gauges in the Prometheus text format.",
    contentType: "text/plain; version=0.0.4"
  ) { (service) throws(Problem) in
    Array(service.metrics.text(of: service).utf8)
  }

  static let openAPI = ServiceEndpoint(
    path: "/openapi.yaml", summary: "This description.", contentType: "application/yaml"
  ) { (service) throws(Problem) in
    Array(OpenAPIDocument(endpoints: service.endpoints).yaml.utf8)
  }
}
