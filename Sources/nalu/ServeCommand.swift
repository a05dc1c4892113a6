internal import Dispatch
internal import HTTP
internal import NaluService
internal import Platform

/// `nalu serve`: runs the server until it is told to stop.
enum ServeCommand {
  static func run(_ words: ArraySlice<String>) throws(CommandError) -> Int32 {
    // Until there is somebody to take them; one that comes before the server is up is not lost.
    holdSignals([.interrupt, .terminate, .hangUp])
    let arguments = try Arguments(words, table: ServeOptions.all)
    if arguments.wantsHelp { return Nalu.printText(try Help.text(for: "serve")) }
    guard arguments.operands.isEmpty else {
      throw .usage("serve takes options only, not \(quoted(arguments.operands[0])).")
    }
    var configuration = try readConfiguration(arguments)
    configuration.fit(descriptors: raiseDescriptorLimit())
    let log = ErrorLog { Service.logLine("\($0) lines were left out") }
    let service: Service
    do throws(StartError) {
      service = try Service(configuration) { log.write($0) }
    } catch {
      throw .server(error.message)
    }
    let stop = DispatchSemaphore(value: 0)
    let watch = SignalWatch([.interrupt, .terminate]) { signal in
      // Ctrl-C once more: whoever is at the terminal does not want to wait.
      if service.isDraining, signal == .interrupt { service.hurry() }
      stop.signal()
    }
    let server: Server
    do throws(StartError) {
      server = try service.listen()
    } catch {
      throw .server(error.message)
    }
    let reload = SignalWatch([.hangUp]) { _ in
      for line in service.reload(server) { log.write(Service.logLine(line)) }
    }
    writeErrorLine("nalu \(Version.nalu) listens on \(configuration.address(port: server.port))")
    stop.wait()
    service.shutDown(server)
    log.flush()
    withExtendedLifetime((watch, reload)) {}
    return 0
  }

  private static func readConfiguration(
    _ arguments: Arguments
  ) throws(CommandError) -> Configuration {
    let environment = ServeOptions.fromEnvironment(except: arguments.options.map(\.name))
    for variable in environment {
      do throws(Problem) {
        _ = try ParameterValues([variable], table: ServeOptions.all)
      } catch {
        throw .usage("\(ServeOptions.variable(of: variable.name)): \(error.detail)")
      }
    }
    do throws(Problem) {
      return try Configuration(
        try ParameterValues(environment + arguments.options, table: ServeOptions.all))
    } catch {
      throw .usage(error.detail)
    }
  }
}
