internal import NaluService
internal import Platform

/// `nalu serve`, and the same operations on files.
@main
struct Nalu {
  static func main() {
    ignoreBrokenPipes()
    var words = CommandLine.arguments.dropFirst()
    do throws(CommandError) {
      exitProcess(try run(words.popFirst(), words))
    } catch {
      writeErrorLine("nalu: \(error.text)")
      exitProcess(error.exitStatus)
    }
  }

  private static func run(
    _ command: String?, _ words: ArraySlice<String>
  ) throws(CommandError) -> Int32 {
    switch command {
    case nil:
      throw CommandError.usage("What shall be done? Commands are serve, \(mediaNames) and help.")
    case "help", "--help", "-h":
      return printText(try Help.text(for: words.first))
    case "version", "--version":
      return printText("nalu \(Version.nalu)")
    case "openapi":
      return printText(String(OpenAPIDocument().yaml.dropLast()))
    case "serve":
      return try ServeCommand.run(words)
    case .some(let name):
      guard let endpoint = MediaEndpoint.all.first(where: { $0.name == name }) else {
        throw CommandError.usage(
          "There is no command \(name). Commands are serve, \(mediaNames) and help.")
      }
      return try MediaCommand(endpoint: endpoint).run(words)
    }
  }

  private static var mediaNames: String {
    MediaEndpoint.all.map(\.name).joined(separator: ", ")
  }

  /// Prints to standard output; the exit status.
  static func printText(_ text: String) -> Int32 {
    do throws(SystemError) {
      let output = try OutputFile(path: nil)
      try output.write(Array("\(text)\n".utf8).span)
      return 0
    } catch {
      return 1
    }
  }
}
