extension Problem {
  /// The problem object of RFC 9457, with the code and the parameter at fault.
  package var json: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("type", "/problems/\(code.rawValue)")
    writer.member("title", code.title)
    writer.member("status", status)
    writer.member("detail", detail)
    writer.member("code", code.rawValue)
    writer.member("parameter", parameter)
    for member in members {
      switch member.value {
      case .integer(let number): writer.member(member.name, number)
      case .string(let text): writer.member(member.name, text)
      }
    }
    writer.endObject()
    writer.newLine()
    return writer.bytes
  }
}
