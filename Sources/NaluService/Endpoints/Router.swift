internal import Codec
internal import HTTP
internal import Platform

/// Finds what a request asks for, and judges it by its head alone.
final class Router: RequestHandler {
  private let service: Service
  /// Guessers shall not fill the log.
  private let unauthorized = Lock(LineRate(limit: 20))

  init(service: Service) {
    self.service = service
  }

  func begin(_ request: Request, _ exchange: Exchange) -> Disposition {
    let visit = Visit(request)
    do throws(Problem) {
      switch try route(visit, exchange) {
      case .respond(let response): return .respond(finished(response, request))
      case .receive(let upload): return .receive(upload)
      }
    } catch {
      return .respond(finished(refused(error, visit), request))
    }
  }

  /// A request, the number that a job of it would have, and when it came.
  private struct Visit {
    let request: Request
    let id = Service.makeJobID()
    let started = monotonicNanoseconds()

    init(_ request: Request) {
      self.request = request
    }
  }

  /// The answer to a request that becomes no job; one for a media endpoint has an id all the same,
  /// and a line in the log. So has one without a token, whatever it is for: somebody may be guessing.
  private func refused(_ problem: Problem, _ visit: Visit) -> Response {
    let media = media(at: visit.request.path)
    let isUnauthorized = problem.code == .unauthorized
    guard media != nil || isUnauthorized else { return Response(problem) }
    var isLogged = true
    if isUnauthorized {
      let rate = unauthorized.withLock { $0.take(at: monotonicNanoseconds()) }
      isLogged = rate.isPassed
      if rate.omitted > 0 {
        service.log(ServerLog.line("\(rate.omitted) more requests without a valid token came"))
      }
    }
    if isLogged {
      service.log(
        JobLog(
          id: visit.id, operation: Router.name(of: visit.request, in: service),
          request: visit.request, report: .refusal(problem), status: problem.status,
          outcome: .delivered
        ).line)
    }
    guard media != nil else { return Response(problem) }
    return Response(
      problem,
      headers: [("Nalu-Job-Id", visit.id), ("Server-Timing", "queue;dur=0.000, work;dur=0.000")])
  }

  private func media(at path: String) -> MediaEndpoint? {
    service.endpoints.first { "/\($0.name)" == path }
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

  private func route(_ visit: Visit, _ exchange: Exchange) throws(Problem) -> Disposition {
    let request = visit.request
    let media = media(at: request.path)
    let plain = ServiceEndpoint.all.first { $0.path == request.path }
    let methods = media == nil ? "GET, HEAD, OPTIONS" : "POST, OPTIONS"
    if request.method == "OPTIONS", request.path == "*" {
      return .respond(Response(status: 204, headers: [("Allow", "GET, HEAD, POST, OPTIONS")]))
    }
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
    return .receive(try start(media, visit, exchange))
  }

  private func authenticate(_ request: Request) throws(Problem) {
    guard let tokens = service.tokens, !tokens.allows(request.header("Authorization")) else {
      return
    }
    throw Problem(.unauthorized, "Send one of the server's tokens: Authorization: Bearer TOKEN.")
  }

  private func start(
    _ endpoint: MediaEndpoint, _ visit: Visit, _ exchange: Exchange
  ) throws(Problem) -> JobExchange {
    let request = visit.request
    let values = try ParameterValues(request.query, table: endpoint.parameters)
    let limits = service.configuration.limits
    let isForm =
      request.header("Content-Type")?.lowercased().hasPrefix("multipart/form-data") == true
    let bodyLimit = isForm ? limits.maxForm : limits.maxBody
    if let length = request.contentLength, length > bodyLimit {
      throw .bodyTooLarge(limit: limits.maxBody)
    }
    let context = OperationContext(
      limits: limits, spoolDirectory: service.spoolDirectory.share(),
      contentLength: isForm ? nil : request.contentLength)
    if endpoint.usesCodec, service.admission.isFull {
      throw Problem(
        .queueFull,
        "All codecs (\(limits.jobs)) are taken and the queue (\(limits.queue)) is full; try again later."
      )
    }
    let operation = try endpoint.makeOperation(values, context)
    let job = Job(
      id: visit.id, operation: operation, workQueue: service.workQueue,
      admission: service.admission, limits: limits,
      spoolDirectory: context.spoolDirectory,
      messages: CodecMessages(level: service.configuration.codecLog.level))
    guard service.registry.add(job) else {
      throw Problem(.draining, "The server is shutting down; try another one.")
    }
    let joined = JobExchange(
      job: job, exchange: exchange, endpoint: endpoint, service: service,
      started: visit.started, bodyLimit: bodyLimit)
    job.observe(joined)
    return joined
  }
}
