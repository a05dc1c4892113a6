internal import CMicroHTTPD
internal import Platform

extension Exchange {
  /// Hands an answer to libmicrohttpd; false when it refuses.
  func queue(_ answer: Response) -> Bool {
    let isQueued = hand(answer)
    if !isQueued { server.configuration.log("libmicrohttpd refused an answer") }
    return isQueued
  }

  private func hand(_ answer: Response) -> Bool {
    guard let response = makeResponse(answer) else { return false }
    defer { MHD_destroy_response(response) }
    for (name, value) in answer.headers where !Response.isServersOwn(name) {
      // Empty values and odd names are refused, and then left out.
      MHD_add_response_header(response, name, Response.clean(value))
    }
    if answer.closesConnection || flow.isChunked {
      MHD_add_response_header(response, "Connection", "close")
    }
    return MHD_queue_response(connection.handle, UInt32(answer.status), response) == .YES
  }

  private func makeResponse(_ answer: Response) -> OpaquePointer? {
    switch answer.body {
    case .none:
      return MHD_create_response_from_buffer(0, nil, .RESPMEM_PERSISTENT)
    case .bytes(var bytes):
      return bytes.withUnsafeMutableBytes { buffer in
        MHD_create_response_from_buffer(buffer.count, buffer.baseAddress, .RESPMEM_MUST_COPY)
      }
    case .stream(let source, let length):
      let reader = BodyReader(self, source, length: length)
      let context = Unmanaged.passRetained(reader)
      let size = length.map { UInt64(max(0, $0)) } ?? nalu_http_size_unknown
      guard
        let response = MHD_create_response_from_callback(
          size, BodyReader.blockSize, readBody, context.toOpaque(), releaseBody)
      else {
        context.release()
        return nil
      }
      reader.response = response
      flow.endsWithConnection = flow.isOld && length == nil
      if flow.isHead && length == nil {
        // libmicrohttpd 0.9.75 ends even the absent body of a HEAD with a last chunk, which would
        // be read as the next answer. As HTTP/1.0 it sends none, and ends the connection.
        nalu_http_forbid_chunks(response)
      }
      return response
    }
  }
}

extension Response {
  /// Fields that only the server can get right.
  static func isServersOwn(_ name: String) -> Bool {
    switch name.utf8.count {
    case 4: equalIgnoringCase(name, "date")
    case 10: equalIgnoringCase(name, "connection")
    case 14: equalIgnoringCase(name, "content-length")
    case 17: equalIgnoringCase(name, "transfer-encoding")
    default: false
    }
  }

  /// A field value without what would end the field.
  static func clean(_ value: String) -> String {
    guard value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { return value }
    return String(
      decoding: value.utf8.map { $0 < 0x20 || $0 == 0x7F ? 0x20 : $0 }, as: UTF8.self)
  }
}

/// Brings a body source to libmicrohttpd; used only on the I/O thread.
private final class BodyReader {
  static let blockSize = 65_536

  private let exchange: Exchange
  private let source: any BodySource
  private let length: Int?
  private var produced = 0
  private var hasEnded = false
  /// For the trailers; it outlives the reader.
  var response: OpaquePointer?

  init(_ exchange: Exchange, _ source: any BodySource, length: Int?) {
    self.exchange = exchange
    self.source = source
    self.length = length
  }

  /// Returns the count of bytes put into `buffer`, or libmicrohttpd's code for the end; 0 only
  /// when the connection was put to sleep.
  func read(into buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    if hasEnded { return end(buffer) }
    let mayGoOn = exchange.state.withLock { state in
      state.isSignalled = false
      return state.ending == nil
    }
    guard mayGoOn else { return fail(buffer) }
    var output = OutputSpan(buffer: buffer, initializedCount: 0)
    let result = source.read(into: &output)
    let count = output.finalize(for: buffer)
    produced += count
    switch result {
    case .some where count > 0, .waiting where count > 0:
      return count
    case .waiting:
      return exchange.state.withLock { exchange.sleep(&$0) } ? 0 : fail(buffer)
    case .end:
      hasEnded = true
      return count > 0 ? count : end(buffer)
    case .some, .failed:
      return fail(buffer)
    }
  }

  private func end(_ buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    if let length, produced < length { return fail(buffer) }
    for (name, value) in source.trailers {
      MHD_add_response_footer(response, name, Response.clean(value))
    }
    return nalu_http_end_of_stream
  }

  /// Ends the connection without a clean end of the body.
  ///
  /// The code that libmicrohttpd has for this makes it close the connection, but not look at it
  /// again soon, and the descriptor stays open. Sending on the socket, which `abort` made useless,
  /// fails in the way that is cleaned up at once: one byte is offered, and goes nowhere.
  private func fail(_ buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    exchange.abort()
    buffer[0] = 0
    return 1
  }
}

private let readBody: MHD_ContentReaderCallback = { context, _, buffer, room in
  guard let context, let buffer, room > 0 else { return nalu_http_end_of_stream }
  let reader = Unmanaged<BodyReader>.fromOpaque(context).takeUnretainedValue()
  return buffer.withMemoryRebound(to: UInt8.self, capacity: room) { start in
    reader.read(into: UnsafeMutableBufferPointer(start: start, count: room))
  }
}

private let releaseBody: MHD_ContentReaderFreeCallback = { context in
  guard let context else { return }
  Unmanaged<BodyReader>.fromOpaque(context).release()
}
