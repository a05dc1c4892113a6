internal import NaluService
internal import Platform

/// `nalu serve`: runs the server until it is told to stop.
enum ServeCommand {
  static func run(_ words: ArraySlice<String>) throws(CommandError) -> Int32 {
    let arguments = try Arguments(words)
    if arguments.wantsHelp { return Nalu.printText(try Help.text(for: "serve")) }
    guard arguments.operands.isEmpty else {
      throw .usage("serve takes options only, not \(quoted(arguments.operands[0])).")
    }
    let environment = ServeOptions.fromEnvironment(except: arguments.options.map(\.name))
    let configuration: Configuration
    do throws(Problem) {
      let values = try ParameterValues(
        environment + arguments.options, table: ServeOptions.all)
      configuration = Configuration(values)
    } catch {
      throw .usage(error.detail)
    }
    _ = configuration
    return 0
  }
}
