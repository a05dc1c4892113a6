/// Why a job cannot be done, in words a person can act on: an `application/problem+json` answer
/// (RFC 9457), a line on the command line's standard error, a code in the log.
package struct Problem: Error, Equatable, Sendable {
  /// A stable name that programs compare: `partial-frame`.
  package enum Code: String, CaseIterable, Sendable {
    case invalidParameter = "invalid-parameter"
    case unknownParameter = "unknown-parameter"
    case missingParameter = "missing-parameter"
    case conflictingParameters = "conflicting-parameters"
    case oddDimensions = "odd-dimensions"
    case malformedMultipart = "malformed-multipart"
    case malformedRequest = "malformed-request"
    case emptyBody = "empty-body"
    case unauthorized
    case notFound = "not-found"
    case methodNotAllowed = "method-not-allowed"
    case uploadStalled = "upload-stalled"
    case bodyTooLarge = "body-too-large"
    case unrecognisedInput = "unrecognised-input"
    case noParameterSets = "no-parameter-sets"
    case partialFrame = "partial-frame"
    case undecodable
    case frameNotFound = "frame-not-found"
    case unsupportedFeature = "unsupported-feature"
    case dimensionsTooLarge = "dimensions-too-large"
    case tooManyFrames = "too-many-frames"
    case tooManyNALUnits = "too-many-nal-units"
    case outputTooLarge = "output-too-large"
    case queueFull = "queue-full"
    case draining
    case jobTimeout = "job-timeout"
    case insufficientStorage = "insufficient-storage"
    case `internal`
  }

  package var code: Code
  /// The HTTP status; the code's, unless the place where the problem arises has its own.
  package var status: Int
  /// What happened this time, with the numbers.
  package var detail: String
  /// The query parameter at fault.
  package var parameter: String?
  /// Members beside the standard ones, such as `frame_size` or `offset`.
  package var members: [Member]
  /// Seconds after which the same request may go well; nil where waiting does not help.
  package var retryAfter: Int?

  /// A further member of the problem object.
  package struct Member: Equatable, Sendable {
    package enum Value: Equatable, Sendable {
      case integer(Int)
      case string(String)
    }
    package var name: String
    package var value: Value

    package init(_ name: String, _ value: Int) {
      self.name = name
      self.value = .integer(value)
    }

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = .string(value)
    }
  }

  package init(
    _ code: Code, _ detail: String, parameter: String? = nil, members: [Member] = []
  ) {
    self.code = code
    self.status = code.status
    self.detail = detail
    self.parameter = parameter
    self.members = members
    retryAfter = code.retryAfter
  }
}

extension Problem.Code {
  /// The HTTP status that goes with the code.
  package var status: Int {
    switch self {
    case .invalidParameter, .unknownParameter, .missingParameter, .conflictingParameters,
      .oddDimensions, .malformedMultipart, .malformedRequest, .emptyBody:
      400
    case .unauthorized: 401
    case .notFound: 404
    case .methodNotAllowed: 405
    case .uploadStalled: 408
    case .bodyTooLarge: 413
    case .unrecognisedInput, .noParameterSets, .partialFrame, .undecodable, .frameNotFound,
      .unsupportedFeature, .dimensionsTooLarge, .tooManyFrames, .tooManyNALUnits, .outputTooLarge:
      422
    case .queueFull: 429
    case .draining: 503
    case .jobTimeout: 504
    case .insufficientStorage: 507
    case .internal: 500
    }
  }

  /// Of what usually passes; an occurrence may know better.
  fileprivate var retryAfter: Int? {
    switch self {
    case .queueFull, .draining, .insufficientStorage: 1
    default: nil
    }
  }

  /// The same for every occurrence of the code.
  package var title: String {
    switch self {
    case .invalidParameter: "A parameter has a value that cannot be used"
    case .unknownParameter: "There is no such parameter"
    case .missingParameter: "A parameter is missing"
    case .conflictingParameters: "Parameters contradict each other"
    case .oddDimensions: "Subsampled chroma needs even dimensions"
    case .malformedMultipart: "The multipart body cannot be read"
    case .malformedRequest: "The request is not acceptable HTTP"
    case .emptyBody: "The body is empty"
    case .unauthorized: "A valid bearer token is required"
    case .notFound: "There is nothing at this path"
    case .methodNotAllowed: "The path does not answer this method"
    case .uploadStalled: "The upload stalled"
    case .bodyTooLarge: "The body is too large"
    case .unrecognisedInput: "The input is not what was expected"
    case .noParameterSets: "The stream has no usable parameter sets"
    case .partialFrame: "The last frame is incomplete"
    case .undecodable: "The stream cannot be decoded"
    case .frameNotFound: "The stream has no such frame"
    case .unsupportedFeature: "The input uses a feature that is not supported"
    case .dimensionsTooLarge: "The pictures are too large"
    case .tooManyFrames: "There are too many frames"
    case .tooManyNALUnits: "There are too many NAL units"
    case .outputTooLarge: "The result is too large"
    case .queueFull: "Too many jobs are waiting"
    case .draining: "The server is shutting down"
    case .jobTimeout: "The job took too long"
    case .insufficientStorage: "There is no room for temporary data"
    case .internal: "Something went wrong in the server"
    }
  }
}
