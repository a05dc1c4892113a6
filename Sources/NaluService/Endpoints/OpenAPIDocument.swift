/// `openapi.yaml`, written from the tables that also parse the requests, so that the two cannot
/// drift apart.
package struct OpenAPIDocument {
  private let endpoints: [MediaEndpoint]

  package init(endpoints: [MediaEndpoint] = MediaEndpoint.all) {
    self.endpoints = endpoints
  }

  private static let description =
    "A request target may have 30000 bytes, less 64 for each parameter and field beyond the first; 414 "
    + "beyond that, 431 for a head beyond 30 KiB with them. 429 when as many jobs wait for a codec as "
    + "may; one whose upload trickles counts for five seconds, and waits behind the "
    + "others. 408 for an upload that is too slow, or keeps an encoder idle that others wait for."

  /// The whole document, OpenAPI 3.1.
  package var yaml: String {
    var lines = YAMLLines()
    lines.add(
      0, "openapi: 3.1.0", "info:", "  title: Nalu", "  version: \(Version.nalu)",
      "  summary: H.264 over HTTP", "  description: \(quoted: Self.description)", "  license:",
      "    name: MIT",
      "    identifier: MIT", "servers:", "  - url: http://127.0.0.1:8080", "paths:")
    for endpoint in endpoints { add(endpoint, to: &lines) }
    for endpoint in ServiceEndpoint.all { add(endpoint, to: &lines) }
    lines.add(0, "components:")
    addResponses(to: &lines)
    addSchemas(to: &lines)
    return lines.text
  }

  private func add(_ endpoint: MediaEndpoint, to lines: inout YAMLLines) {
    lines.add(1, "/\(endpoint.name):")
    lines.add(2, "post:")
    lines.add(
      3, "operationId: \(endpoint.name)", "summary: \(quoted: endpoint.summary)", "parameters:")
    for parameter in endpoint.parameters { add(parameter, to: &lines) }
    lines.add(3, "requestBody:", "  required: true", "  description: \(quoted: endpoint.input)")
    lines.add(4, "content:")
    lines.add(
      5, "application/octet-stream:",
      "  schema: {type: string, contentMediaType: application/octet-stream}",
      "multipart/form-data:")
    lines.add(
      6, "schema:", "  type: object", "  required: [file]", "  properties:",
      "    file: {type: string, contentMediaType: application/octet-stream}")
    if let part = endpoint.secondPart {
      lines.add(
        8, "\(part.name):", "  type: string", "  contentMediaType: application/octet-stream",
        "  description: \(quoted: part.meaning)")
    }
    lines.add(3, "responses:")
    lines.add(4, "\"200\":")
    lines.add(5, "description: The result.", "headers:")
    let headers =
      [("Nalu-Job-Id", "Names the job, here and in the log.")]
      + endpoint.outputHeaders.map { ($0.name, $0.meaning) }
    for (name, meaning) in headers {
      lines.add(
        6, "\(name):", "  description: \(quoted: meaning)", "  schema: {type: string}")
    }
    lines.add(5, "content:")
    for type in endpoint.outputTypes {
      lines.add(
        6, "\(type):", "  schema: {\(type == "application/json" ? "type: object" : "type: string")}"
      )
    }
    let codes = Problem.Code.ofEveryMediaEndpoint + endpoint.problems
    for status in Set(codes.map(\.status)).sorted() {
      let names = Problem.Code.allCases.filter { codes.contains($0) && $0.status == status }
      addProblem("\"\(status)\"", names.map(\.rawValue).joined(separator: ", "), to: &lines)
    }
    addProblem("default", "malformed-request, unauthorized", to: &lines)
  }

  private func add(_ endpoint: ServiceEndpoint, to lines: inout YAMLLines) {
    lines.add(1, "\(endpoint.path):")
    lines.add(2, "get:")
    lines.add(
      3, "operationId: \(endpoint.path.dropFirst().split(separator: ".")[0])",
      "summary: \(quoted: endpoint.summary)", "responses:")
    lines.add(4, "\"200\":")
    lines.add(
      5, "description: \(quoted: endpoint.summary)", "content:",
      "  \(endpoint.contentType):",
      "    schema: {type: \(endpoint.contentType.hasPrefix("text/") ? "string" : "object")}")
    if !endpoint.isOpen { addProblem("\"400\"", "unknown-parameter", to: &lines) }
    if endpoint.path == "/readyz" { addProblem("\"503\"", "draining, queue-full", to: &lines) }
    addProblem("default", "malformed-request, unauthorized", to: &lines)
  }

  private func add(_ parameter: any AnyParameter, to lines: inout YAMLLines) {
    let fallback = parameter.defaultText.map { " Default: \($0)." } ?? ""
    let rest = parameter.schema.isComplete ? "" : " Must be \(parameter.expectation)."
    lines.add(
      4, "- name: \(parameter.name)", "  in: query",
      "  description: \(quoted: parameter.help + fallback + rest)",
      "  schema: \(parameter.schema.yaml)")
  }

  private func addProblem(_ status: String, _ codes: String, to lines: inout YAMLLines) {
    lines.add(4, "\(status):")
    lines.add(
      5, "description: \(quoted: codes)", "content:", "  application/problem+json:",
      "    schema: {$ref: \"#/components/schemas/Problem\"}")
  }

  private func addResponses(to lines: inout YAMLLines) {
    lines.add(1, "responses:")
    lines.add(
      2, "Problem:", "  description: Any error.", "  content:", "    application/problem+json:",
      "      schema: {$ref: \"#/components/schemas/Problem\"}")
  }

  private func addSchemas(to lines: inout YAMLLines) {
    lines.add(1, "schemas:")
    lines.add(2, "Problem:")
    lines.add(
      3, "type: object", "description: RFC 9457; further members depend on the code.",
      "required: [type, title, status, detail, code, parameter]", "properties:",
      "  type: {type: string}", "  title: {type: string}", "  status: {type: integer}",
      "  detail: {type: string}", "  code:", "    type: string", "    enum:")
    for code in Problem.Code.allCases { lines.add(5, "- \(code.rawValue)") }
    lines.add(3, "  parameter: {type: [string, \"null\"]}")
  }
}

extension Problem.Code {
  /// What any media endpoint may answer.
  static let ofEveryMediaEndpoint: [Problem.Code] = [
    .invalidParameter, .unknownParameter, .missingParameter, .conflictingParameters,
    .malformedMultipart, .emptyBody, .bodyTooLarge, .outputTooLarge, .queueFull, .draining,
    .uploadStalled, .jobTimeout, .insufficientStorage, .internal,
  ]
}

extension ParameterSchema {
  fileprivate var yaml: String {
    switch self {
    case .integer(let range):
      "{type: integer, minimum: \(range.lowerBound), maximum: \(range.upperBound)}"
    case .number(let range):
      "{type: number, minimum: \(shortest(range.lowerBound)), maximum: \(shortest(range.upperBound))}"
    case .choice(let names):
      "{type: string, enum: [\(names.map { "\"\($0)\"" }.joined(separator: ", "))]}"
    case .pattern(let pattern, let example, nil):
      "{type: string, pattern: '\(pattern)', examples: [\"\(example)\"]}"
    case .pattern(let pattern, let example, let maxLength?):
      "{type: string, maxLength: \(maxLength), pattern: '\(pattern)', examples: [\"\(example)\"]}"
    }
  }
}

/// Lines of YAML with their depth.
private struct YAMLLines {
  private(set) var text = ""

  mutating func add(_ depth: Int, _ lines: String...) {
    for line in lines { text += String(repeating: "  ", count: depth) + line + "\n" }
  }
}

extension String.StringInterpolation {
  /// A double-quoted YAML scalar.
  fileprivate mutating func appendInterpolation(quoted text: String) {
    let escaped = text.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
    appendLiteral("\"\(escaped)\"")
  }
}
