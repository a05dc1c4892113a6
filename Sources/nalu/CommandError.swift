internal import NaluService
internal import Platform

/// Why a command ended without its result.
enum CommandError: Error {
  /// The command was not called as it can be.
  case usage(String)
  /// The job failed.
  case problem(Problem)
  /// A file or stream could not be used.
  case file(String, SystemError)
  /// The server could not start.
  case server(String)

  var exitStatus: Int32 {
    switch self {
    case .usage: 2
    case .problem(let problem): problem.isOfUsage ? 2 : 1
    case .file, .server: 1
    }
  }

  var text: String {
    switch self {
    case .usage(let message): "\(message)\nTry 'nalu --help'."
    case .problem(let problem):
      "\(problem.code.title): \(problem.detail) [\(problem.code.rawValue)]"
    case .file(let name, let error): "\(name): \(error.message)"
    case .server(let message): message
    }
  }
}

extension Problem {
  /// The options are at fault, and not the input.
  fileprivate var isOfUsage: Bool {
    switch code {
    case .invalidParameter, .unknownParameter, .missingParameter, .conflictingParameters,
      .oddDimensions:
      true
    default: false
    }
  }
}
