internal import NaluService

/// What `nalu help` prints; the parameters come from the same tables that parse them.
enum Help {
  /// The overview, or the page of one command.
  static func text(for command: String?) throws(CommandError) -> String {
    guard let command else { return overview }
    if command == "serve" { return serve }
    guard let endpoint = MediaEndpoint.all.first(where: { $0.name == command }) else {
      throw .usage("There is no command \(command).")
    }
    return page(of: endpoint)
  }

  private static var overview: String {
    let commands = MediaEndpoint.all.map { endpoint in
      "  \(pad("nalu \(endpoint.name) \(files(of: endpoint)) [-o FILE]", to: 34)) \(endpoint.summary)"
    }
    return """
      Nalu \(Version.nalu): H.264 over HTTP.

      \(pad("  nalu serve", to: 36)) Start the server.
      \(commands.joined(separator: "\n"))
      \(pad("  nalu help COMMAND", to: 36)) All options of a command.
      \(pad("  nalu openapi", to: 36)) The description of the service, as in openapi.yaml.
      \(pad("  nalu version", to: 36)) The version.

      Exit status: 0, 1 (the job failed; why is on standard error), 2 (usage).
      """
  }

  private static func page(of endpoint: MediaEndpoint) -> String {
    var lines = [
      "nalu \(endpoint.name) [--parameter value …] \(files(of: endpoint)) [-o FILE]", "",
      "\(endpoint.summary) Input: \(endpoint.input)", "",
    ]
    if let part = endpoint.secondPart {
      lines += ["\(part.name.uppercased()): \(part.meaning)", ""]
    }
    for parameter in endpoint.parameters {
      lines += entry(
        "--\(parameter.name)", parameter.help, parameter.expectation, parameter.defaultText)
    }
    lines += entry("-o FILE", "Where the result goes.", "a file name", "standard output")
    lines.append("  \(pad("-q, --quiet", to: 22)) No progress on the terminal.")
    return lines.joined(separator: "\n")
  }

  private static func files(of endpoint: MediaEndpoint) -> String {
    endpoint.secondPart.map { "[FILE|- [\($0.name.uppercased())]]" } ?? "[FILE|-]"
  }

  private static var serve: String {
    var lines = ["nalu serve [--option value …]", "", "Starts the server.", ""]
    for option in ServeOptions.all {
      lines += entry(
        "--\(option.name)", option.help,
        "\(option.expectation); \(ServeOptions.variable(of: option.name))",
        option.defaultText)
    }
    return lines.joined(separator: "\n")
  }

  private static func entry(
    _ name: String, _ help: String, _ expectation: String, _ defaultText: String?
  ) -> [String] {
    let value = defaultText.map { "\(expectation); default \($0)" } ?? expectation
    return ["  \(pad(name, to: 22)) \(help)", "\(pad("", to: 25))(\(value))"]
  }

  private static func pad(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
