/// One supplemental enhancement information message (H.264 §7.3.2.3.1, Annex D).
///
/// What it says beyond this is in the reader's record only.
package struct SEIMessage: Equatable, Sendable {
  package var payloadType: Int
  /// As stated, in bytes.
  package var payloadSize: Int
  /// For a recovery point that could be read.
  package var recoveryPoint: RecoveryPoint?

  /// `recovery_point()` (H.264 §D.1.8).
  package struct RecoveryPoint: Equatable, Sendable {
    package var recoveryFrameCnt: Int
    package var exactMatch: Bool
    package var brokenLink: Bool
  }

  /// The name of the message in Annex D, `reserved_sei_message` if it has none.
  package var name: String { SEIPayloadType.name(payloadType) }
}

extension SEIMessage {
  /// Messages beyond this in one NAL unit are not read.
  package static let limit = 1024

  /// Parses the payload of a NAL unit of type 6; records it as an array `sei`.
  ///
  /// A message that is cut off or malformed is an issue and stays in the list; the next one is
  /// found by its size. `active` is the sequence parameter set in use, whose HRD parameters say how
  /// long the elements of timing messages are; when nil, the set that a buffering period names is
  /// used, or the only one there is.
  package static func parseAll(
    _ reader: inout BitReader, active: SequenceParameterSet?, parameterSets: ParameterSets
  ) -> [SEIMessage] {
    var parser = SEIParser(
      active: active ?? parameterSets.onlySequenceParameterSet, parameterSets: parameterSets)
    return parser.parseMessages(&reader)
  }
}

/// What the messages of one NAL unit are read with.
struct SEIParser {
  /// Nil when unknown, and inside nesting messages, which belong to other layers or views.
  var active: SequenceParameterSet?
  let parameterSets: ParameterSets
  var isNested = false

  init(active: SequenceParameterSet?, parameterSets: ParameterSets) {
    self.active = active
    self.parameterSets = parameterSets
  }

  mutating func parseMessages(_ reader: inout BitReader) -> [SEIMessage] {
    var messages: [SEIMessage] = []
    reader.record?.beginArray("sei")
    repeat {
      guard messages.count < SEIMessage.limit else {
        reader.note(SyntaxError("sei_message", at: reader.position, .codeTooLong))
        return messages
      }
      do throws(SyntaxError) {
        messages.append(try parseMessage(&reader))
      } catch {
        reader.note(error)
        return messages
      }
    } while reader.moreRBSPData()
    reader.record?.end()
    reader.rbspTrailingBits()
    return messages
  }

  /// Parses `sei_message()`. Throws only when not even type and size are there.
  mutating func parseMessage(_ reader: inout BitReader) throws(SyntaxError) -> SEIMessage {
    var message = SEIMessage(
      payloadType: try reader.sumOfBytes("last_payload_type_byte"),
      payloadSize: try reader.sumOfBytes("last_payload_size_byte"))
    reader.record?.beginObject("")
    reader.record?.add("payload_type", message.payloadType)
    reader.record?.add("name", message.name)
    reader.record?.add("payload_size", message.payloadSize)
    if message.payloadSize > reader.bitsLeft / 8 {
      reader.note(SyntaxError(message.name, at: reader.position, .truncated))
    }
    let whole = reader.beginPart(bytes: message.payloadSize)
    let depth = reader.record?.depth
    do throws(SyntaxError) {
      try parsePayload(&reader, of: &message)
    } catch {
      reader.note(error)
    }
    if let depth { reader.record?.end(to: depth) }
    reader.endPart(whole)
    reader.record?.end()
    return message
  }

  private mutating func parsePayload(
    _ reader: inout BitReader, of message: inout SEIMessage
  ) throws(SyntaxError) {
    switch message.payloadType {
    case 0: try parseBufferingPeriod(&reader)
    case 1: try parsePicTiming(&reader)
    case 2: try parsePanScanRect(&reader)
    case 3: break
    case 4: try parseRegisteredUserData(&reader)
    case 5: try parseUnregisteredUserData(&reader)
    case 6: message.recoveryPoint = try parseRecoveryPoint(&reader)
    case 7: try parseDecRefPicMarkingRepetition(&reader)
    case 9: try parseSceneInfo(&reader)
    case 10: try parseSubSeqInfo(&reader)
    case 13: _ = try reader.ue("full_frame_freeze_repetition_period", in: 0...16384)
    case 14: break
    case 15: _ = try reader.ue("snapshot_id")
    case 16:
      _ = try reader.ue("progressive_refinement_id")
      _ = try reader.ue("num_refinement_steps_minus1")
    case 17: _ = try reader.ue("progressive_refinement_id")
    case 19: try parseFilmGrainCharacteristics(&reader)
    case 20: try parseDeblockingFilterDisplayPreference(&reader)
    case 21: try parseStereoVideoInfo(&reader)
    case 23: try parseToneMappingInfo(&reader)
    case 30 where !isNested: try parseScalableNesting(&reader)
    case 37 where !isNested: try parseMultiviewNesting(&reader)
    case 45: try parseFramePackingArrangement(&reader)
    case 47: try parseDisplayOrientation(&reader)
    case 137: try parseMasteringDisplayColourVolume(&reader)
    case 144:
      _ = try reader.u(16, "max_content_light_level")
      _ = try reader.u(16, "max_pic_average_light_level")
    case 147: _ = try reader.u(8, "preferred_transfer_characteristics")
    case 148:
      _ = try reader.u(32, "ambient_illuminance", in: 1...0xFFFF_FFFF)
      _ = try reader.u(16, "ambient_light_x", in: 0...50000)
      _ = try reader.u(16, "ambient_light_y", in: 0...50000)
    case 149: try parseContentColourVolume(&reader)
    default: recordBytes(&reader)
    }
  }

  /// Records the first bytes of what is not understood, as hexadecimal digits.
  func recordBytes(_ reader: inout BitReader) {
    reader.alignToByte()
    guard reader.record != nil, reader.bitsLeft > 0 else { return }
    let bytes = reader.bytesAhead(limit: Self.shownBytes)
    reader.record?.add("data", hex(bytes))
  }

  private static let shownBytes = 32
}

/// Lower-case hexadecimal digits, two for each byte.
func hex(_ bytes: [UInt8]) -> String {
  let digits = Array("0123456789abcdef".utf8)
  return String(
    decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}

extension BitReader {
  /// The sum of `ff_byte`s and a last byte (H.264 §7.3.2.3.1), unrecorded.
  fileprivate mutating func sumOfBytes(_ lastByte: String) throws(SyntaxError) -> Int {
    var sum = 0
    while true {
      let byte = try unrecorded(8, lastByte)
      sum += byte
      if byte != 0xFF { return sum }
    }
  }
}
