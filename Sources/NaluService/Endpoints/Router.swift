internal import HTTP
internal import Platform

/// Finds what a request asks for, and judges it by its head alone.
final class Router: RequestHandler {
  private let service: Service

  init(service: Service) {
    self.service = service
  }

  func begin(_ request: Request, _ exchange: Exchange) -> Disposition {
    let started = monotonicNanoseconds()
    do throws(Problem) {
      switch try route(request, exchange, started) {
      case .respond(let response): return .respond(finished(response, request))
      case .receive(let upload): return .receive(upload)
      }
    } catch {
      return .respond(finished(Response(error), request))
    }
  }

  func refusal(of violation: Violation, _ request: Request) -> Response {
    var problem = Problem(
      violation.status == 408 ? .uploadStalled : .malformedRequest, violation.detail)
    problem.status = violation.status
    return finished(Response(problem, closesConnection: true), request)
  }

  /// Counts an answer and adds the fields that every answer has.
  private func finished(_ response: Response, _ request: Request) -> Response {
    service.metrics.count(endpoint: Router.name(of: request, in: service), status: response.status)
    var response = response
    response.headers += service.commonFields(for: request)
    return response
  }

  /// A label of bounded variety for what a request asks for.
  private static func name(of request: Request, in service: Service) -> String {
    let names = service.endpoints.map { "/\($0.name)" } + ServiceEndpoint.all.map(\.path)
    return names.first { $0 == request.path }.map { String($0.dropFirst()) } ?? "other"
  }

  private func route(
    _ request: Request, _ exchange: Exchange, _ started: UInt64
  ) throws(Problem) -> Disposition {
    let media = service.endpoints.first { "/\($0.name)" == request.path }
    let plain = ServiceEndpoint.all.first { $0.path == request.path }
    let methods = media == nil ? "GET, HEAD, OPTIONS" : "POST, OPTIONS"
    if request.method == "OPTIONS", media != nil || plain != nil {
      let fields = service.crossOrigin.preflightFields(for: request, methods: methods)
      return .respond(Response(status: 204, headers: [("Allow", methods)] + fields))
    }
    if plain?.isOpen != true { try authenticate(request) }
    guard media != nil || plain != nil else {
      throw Problem(
        .notFound,
        "There is nothing at \(quoted(request.path)); GET /openapi.yaml lists what there is.")
    }
    guard methods.split(separator: ", ").contains(Substring(request.method)) else {
      let problem = Problem(.methodNotAllowed, "\(request.path) answers \(methods).")
      return .respond(Response(problem, headers: [("Allow", methods)]))
    }
    if let plain { return .respond(try plain.respond(to: request, of: service)) }
    guard let media else { throw Problem(.internal, "The route has no endpoint.") }
    return .receive(try start(media, request, exchange, started))
  }

  private func authenticate(_ request: Request) throws(Problem) {
    guard let tokens = service.tokens, !tokens.allows(request.header("Authorization")) else {
      return
    }
    throw Problem(.unauthorized, "Send one of the server's tokens: Authorization: Bearer TOKEN.")
  }

  private func start(
    _ endpoint: MediaEndpoint, _ request: Request, _ exchange: Exchange, _ started: UInt64
  ) throws(Problem) -> JobExchange {
    let values = try ParameterValues(request.query, table: endpoint.parameters)
    let limits = service.configuration.limits
    if let length = request.contentLength, length > limits.maxBody {
      throw .bodyTooLarge(limit: limits.maxBody)
    }
    let isForm =
      request.header("Content-Type")?.lowercased().hasPrefix("multipart/form-data") == true
    let context = OperationContext(
      limits: limits, spoolDirectory: service.spoolDirectory,
      contentLength: isForm ? nil : request.contentLength)
    if endpoint.usesCodec, service.admission.isFull {
      throw Problem(
        .queueFull, "\(limits.jobs) jobs run and \(limits.queue) wait already; try again later.")
    }
    let operation = try endpoint.makeOperation(values, context)
    let job = Job(
      id: Service.makeJobID(), operation: operation, workQueue: service.workQueue,
      admission: service.admission, limits: limits, spoolDirectory: service.spoolDirectory)
    guard service.registry.add(job) else {
      throw Problem(.draining, "The server is shutting down; try another one.")
    }
    let joined = JobExchange(
      job: job, exchange: exchange, endpoint: endpoint.name, service: service, started: started)
    job.observe(joined)
    return joined
  }
}
