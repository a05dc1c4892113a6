internal import HTTP
internal import Platform

/// Finds what a request asks for, and judges it by its head alone.
final class Router: RequestHandler {
  private let service: Service

  init(service: Service) {
    self.service = service
  }

  func begin(_ request: Request, _ exchange: Exchange) -> Disposition {
    do throws(Problem) {
      return try route(request, exchange)
    } catch {
      return .respond(Response(error))
    }
  }

  func refusal(of violation: Violation, _ request: Request) -> Response {
    var problem = Problem(.malformedRequest, violation.detail)
    problem.status = violation.status
    return Response(problem, closesConnection: true)
  }

  private func route(_ request: Request, _ exchange: Exchange) throws(Problem) -> Disposition {
    let media = service.endpoints.first { "/\($0.name)" == request.path }
    let plain = ServiceEndpoint.all.first { $0.path == request.path }
    guard media != nil || plain != nil else {
      throw Problem(
        .notFound,
        "There is nothing at \(quoted(request.path)); GET /openapi.yaml lists what there is.")
    }
    let methods = media == nil ? ["GET", "HEAD", "OPTIONS"] : ["POST", "OPTIONS"]
    let allow: Request.Field = ("Allow", methods.joined(separator: ", "))
    if request.method == "OPTIONS" { return .respond(Response(status: 204, headers: [allow])) }
    guard methods.contains(request.method) else {
      let problem = Problem(
        .methodNotAllowed, "\(request.path) answers \(methods.joined(separator: ", ")).")
      return .respond(Response(problem, headers: [allow]))
    }
    if let plain { return .respond(try plain.respond(to: request, of: service)) }
    guard let media else { throw Problem(.internal, "The route has no endpoint.") }
    return .receive(try start(media, request, exchange))
  }

  private func start(
    _ endpoint: MediaEndpoint, _ request: Request, _ exchange: Exchange
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
      job: job, exchange: exchange, endpoint: endpoint.name, service: service)
    job.observe(joined)
    return joined
  }
}
