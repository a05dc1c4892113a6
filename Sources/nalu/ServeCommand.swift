internal import Dispatch
internal import HTTP
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
    let configuration = try readConfiguration(arguments)
    raiseDescriptorLimit()
    // Before the port opens, so that a signal right after it is not lost.
    let stop = DispatchSemaphore(value: 0)
    let watch = SignalWatch([.interrupt, .terminate]) { _ in stop.signal() }
    let service = Service(configuration) { writeErrorLine($0) }
    let server: Server
    do throws(ServerError) {
      server = try service.listen()
    } catch {
      throw .server("\(configuration.host):\(configuration.port): \(error.text)")
    }
    writeErrorLine("nalu \(Version.nalu) listens on http://\(configuration.host):\(server.port)")
    stop.wait()
    service.shutDown(server)
    withExtendedLifetime(watch) {}
    return 0
  }

  private static func readConfiguration(
    _ arguments: Arguments
  ) throws(CommandError) -> Configuration {
    let environment = ServeOptions.fromEnvironment(except: arguments.options.map(\.name))
    do throws(Problem) {
      return Configuration(
        try ParameterValues(environment + arguments.options, table: ServeOptions.all))
    } catch {
      throw .usage(error.detail)
    }
  }
}

extension ServerError {
  fileprivate var text: String {
    switch self {
    case .addressInUse: "the port is in use already"
    case .permission: "this port needs privileges"
    case .noSuchAddress: "no such address on this machine"
    case .certificate(let reason): "the certificate or its key cannot be used: \(reason)"
    case .library(let reason): reason
    case .system(let error): "\(error.call): \(error.message)"
    }
  }
}
