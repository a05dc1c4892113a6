internal import CMicroHTTPD
internal import Glibc

extension Response {
  /// The whole answer as bytes; the connection ends after it. A streamed body is left out.
  func serialized(isHead: Bool) -> [UInt8] {
    let content: [UInt8] = if case .bytes(let bytes) = body { bytes } else { [] }
    var head =
      "HTTP/1.1 \(status) \(String(cString: MHD_get_reason_phrase_for(UInt32(status))))\r\n"
    head += "Date: \(dateNow())\r\nConnection: close\r\n"
    for (name, value) in headers where !Response.isServersOwn(name) && !value.isEmpty {
      head += "\(name): \(Response.clean(value))\r\n"
    }
    head += "Content-Length: \(content.count)\r\n\r\n"
    return Array(head.utf8) + (isHead ? [] : content)
  }
}

/// The current time as RFC 9110 §5.6.7 writes it.
private func dateNow() -> String {
  let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
  var seconds = time(nil)
  var parts = tm()
  gmtime_r(&seconds, &parts)
  func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
  let time = "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
  return
    "\(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) "
    + "\(parts.tm_year + 1900) \(time) GMT"
}
