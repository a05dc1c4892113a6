import Glibc

/// A plain blocking client that sends exactly the bytes it is told to.
package final class Client {
  package let descriptor: Int32
  private var buffered: [UInt8] = []
  /// The server has ended the connection orderly.
  private var hasEnded = false

  package struct Reply {
    package var status = 0
    package var headers: [(name: String, value: String)] = []
    package var body: [UInt8] = []
    /// Fields after a chunked body.
    package var trailers: [(name: String, value: String)] = []
    /// The end came as the framing promised.
    package var isComplete = false

    package var text: String { String(decoding: body, as: UTF8.self) }
    package func header(_ name: String) -> String? {
      headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }
  }

  /// Connects; reads fail after `timeout` seconds without a byte.
  package init(port: UInt16, timeout: Int = 120, receiveBuffer: Int32? = nil) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    self.descriptor = descriptor
    if var size = receiveBuffer {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
    }
    var limit = timeval(tv_sec: timeout, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    isConnected = withUnsafeBytes(of: address) { bytes in
      connect(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, size) == 0
    }
  }

  package let isConnected: Bool

  deinit { if !isClosed { close(descriptor) } }
  private var isClosed = false

  /// Closes orderly.
  package func hangUp() {
    guard !isClosed else { return }
    isClosed = true
    close(descriptor)
  }

  /// Closes with a reset.
  package func reset() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    hangUp()
  }

  package func endWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Sends all; false when the connection broke.
  @discardableResult
  package func send(_ bytes: [UInt8]) -> Bool {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.send(
          descriptor, $0.baseAddress.map { $0 + done }, bytes.count - done, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      done += count
    }
    return true
  }

  @discardableResult
  package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  /// Reads once more into the buffer; false at the end, or when nothing comes.
  private func fill() -> Bool {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    let count = chunk.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
    hasEnded = count == 0
    guard count > 0 else { return false }
    buffered += chunk[..<count]
    return true
  }

  /// Whether the server ends the connection before it sends another byte.
  package func isEnded() -> Bool {
    buffered.isEmpty && !fill() && hasEnded
  }

  /// Whether the server ends the connection orderly, whatever it sends before.
  package func readsToTheEnd() -> Bool {
    while fill() {}
    return hasEnded
  }

  /// Whether at least that many bytes can be read; they stay buffered.
  package func canRead(_ count: Int) -> Bool {
    while buffered.count < count { if !fill() { return false } }
    return true
  }

  private func line() -> String? {
    while true {
      if let end = buffered.firstIndex(of: 0x0A) {
        var line = buffered[..<end]
        if line.last == 0x0D { line.removeLast() }
        buffered.removeSubrange(...end)
        return String(decoding: line, as: UTF8.self)
      }
      if !fill() { return nil }
    }
  }

  private func take(_ count: Int) -> [UInt8]? {
    while buffered.count < count { if !fill() { return nil } }
    defer { buffered.removeFirst(count) }
    return Array(buffered[..<count])
  }

  private func fields() -> [(name: String, value: String)]? {
    var fields: [(name: String, value: String)] = []
    while let line = line() {
      if line.isEmpty { return fields }
      let parts = line.split(separator: ":", maxSplits: 1)
      let value = parts.count > 1 ? String(parts[1].drop { $0 == " " }) : ""
      fields.append((String(parts.first ?? ""), value))
    }
    return nil
  }

  /// Reads a whole answer; `100 Continue` counts as one.
  package func reply(toHead isHead: Bool = false) -> Reply {
    var reply = Reply()
    guard let first = line(),
      let headers = {
        reply.status = Int(first.split(separator: " ").dropFirst().first ?? "") ?? 0;
        return fields()
      }()
    else { return reply }
    reply.headers = headers
    if isHead || reply.status < 200 || reply.status == 204 || reply.status == 304 {
      reply.isComplete = true
    } else if let length = reply.header("content-length").flatMap({ Int($0) }) {
      if let body = take(length) {
        reply.body = body
        reply.isComplete = true
      } else {
        reply.body = buffered
      }
    } else if reply.header("transfer-encoding") == "chunked" {
      while let size = line().flatMap({ Int($0, radix: 16) }) {
        if size == 0 {
          reply.trailers = fields() ?? []
          reply.isComplete = true
          break
        }
        guard let chunk = take(size), line() == "" else { break }
        reply.body += chunk
      }
    } else {
      while fill() {}
      reply.isComplete = hasEnded
      reply.body = buffered
      buffered = []
    }
    return reply
  }

  /// Sends a request and reads its answer.
  package func request(_ text: String) -> Reply {
    send(text)
    return reply(toHead: text.hasPrefix("HEAD "))
  }
}
