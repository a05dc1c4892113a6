internal import Container

/// What a client says of bare length-prefixed NAL units, which do not say it themselves.
package struct LengthPrefixSettings: Equatable, Sendable {
  /// Bytes of each length field; nil to find it by trying.
  package var lengthSize: Int?
  /// An AVCDecoderConfigurationRecord with the parameter sets.
  package var configuration: [UInt8]?

  package init() {}
}

/// `nal_length_size` and `avcc`, the same on every endpoint that reads H.264.
enum LengthPrefixParameters {
  static let lengthSize = Parameter<Int>(
    "nal_length_size",
    .choice(of: LengthPrefix.sizes.reversed().map { (name: "\($0)", value: $0) }),
    default: "found by trying", otherNames: ["length_size"],
    help: "The body is bare length-prefixed NAL units, with lengths of so many bytes.")
  static let configuration = Parameter<[UInt8]>(
    "avcc", .configurationRecord, otherNames: ["avcC", "extradata"],
    help:
      "The AVCDecoderConfigurationRecord of a body of bare length-prefixed NAL units, in base64.")

  static let all: [any AnyParameter] = [lengthSize, configuration]
}

extension LengthPrefixSettings {
  /// Reads the two parameters.
  package init(_ values: ParameterValues) throws(Problem) {
    self.init()
    lengthSize = values[LengthPrefixParameters.lengthSize]
    configuration = values[LengthPrefixParameters.configuration]
    guard let bytes = configuration, let record = AVCConfigurationRecord(parsing: bytes) else {
      return
    }
    if let lengthSize, lengthSize != record.lengthSize {
      throw Problem(
        .conflictingParameters,
        "nal_length_size is \(lengthSize), but lengthSizeMinusOne in avcc is"
          + " \(record.lengthSizeMinusOne).", parameter: LengthPrefixParameters.lengthSize.name)
    }
    lengthSize = record.lengthSize
  }
}

extension ParameterKind<[UInt8]> {
  private static let maxBytes = 4096

  /// A whole AVCDecoderConfigurationRecord in base64, in either alphabet, padded or not.
  fileprivate static var configurationRecord: ParameterKind {
    ParameterKind(
      "an AVCDecoderConfigurationRecord of up to \(maxBytes) bytes in base64",
      schema: .pattern(
        "^[A-Za-z0-9+/_-]+={0,2}$", example: "AULADf/hAAhnQsANjGNA8gEABGjOPIA=",
        maxLength: 2 * maxBytes)
    ) { text in
      guard text.utf8.count <= 2 * maxBytes, let bytes = base64Decoded(text),
        bytes.count <= maxBytes, let record = AVCConfigurationRecord(parsing: bytes),
        record.defect == nil
      else { return nil }
      return bytes
    }
  }
}
