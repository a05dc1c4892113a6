package import Platform

/// Something to do with an upload: a path of the service and a command of the same name.
package struct MediaEndpoint: Sendable {
  /// `encode`: the path without its slash, and the command.
  package let name: String
  /// One sentence, for help and `openapi.yaml`.
  package let summary: String
  /// What the body is.
  package let input: String
  /// A second file that the form, or the command line, may have.
  package let secondPart: SecondPart?
  /// Media types that a successful answer may have, the default first.
  package let outputTypes: [String]
  /// A person can read the default result on a terminal.
  package var isText: Bool { outputTypes.first == "application/json" }
  /// `Nalu-…` headers of a successful answer, with what they mean.
  package let outputHeaders: [(name: String, meaning: String)]
  package let parameters: [any AnyParameter]
  /// Its operations open a codec sooner or later, so a full queue refuses them at once.
  package let usesCodec: Bool
  /// Problems beyond those that every media endpoint can answer.
  package let problems: [Problem.Code]
  package let makeOperation: MakeOperation

  /// Turns the parameters into an operation, or says what is wrong with them.
  package typealias MakeOperation =
    @Sendable (ParameterValues, OperationContext) throws(Problem) -> any Operation & ~Copyable

  /// A file beside the media.
  package struct SecondPart: Sendable {
    /// Of the part of the form.
    package let name: String
    package let meaning: String
  }

  package init(
    name: String, summary: String, input: String, secondPart: SecondPart? = nil,
    outputTypes: [String],
    outputHeaders: [(name: String, meaning: String)] = [], parameters: [any AnyParameter],
    usesCodec: Bool = true,
    problems: [Problem.Code], makeOperation: @escaping MakeOperation
  ) {
    self.name = name
    self.summary = summary
    self.input = input
    self.secondPart = secondPart
    self.outputTypes = outputTypes
    self.outputHeaders = outputHeaders
    self.parameters = parameters
    self.usesCodec = usesCodec
    self.problems = problems
    self.makeOperation = makeOperation
  }
}

/// What an operation may know of its surroundings.
package struct OperationContext: Sendable {
  package let limits: Limits
  package let spoolDirectory: SpoolDirectory
  /// Bytes of media to come, where that is known.
  package let contentLength: Int?
  /// Has all of the media, where that is a file.
  package let file: StoredFile?

  package init(
    limits: Limits, spoolDirectory: SpoolDirectory, contentLength: Int?, file: StoredFile? = nil
  ) {
    self.limits = limits
    self.file = file
    self.spoolDirectory = spoolDirectory
    self.contentLength = contentLength
  }
}

extension MediaEndpoint {
  /// Everything that Nalu does to an upload.
  package static let all: [MediaEndpoint] = [.inspect, .encode, .decode, .transcode, .remux]
}
