internal import CMicroHTTPD
internal import Glibc
internal import Platform

/// What only the I/O thread knows of an exchange.
struct Flow {
  /// The request target, before libmicrohttpd decoded it in place.
  var rawTarget: [UInt8] = []
  /// Where the target was received; still valid in the first call of the handler.
  var target: UnsafePointer<CChar>?
  var hasBegun = false
  var isUploadComplete = false
  var upload: (any Upload)?
  var multipart: MultipartReader?
  /// The upload was told that its body cannot be read.
  var hasFailed = false
  /// Body bytes that the upload has had.
  var received = 0
  /// Body bytes thrown away since the answer.
  var discarded = 0
  /// The connection ends although the client may be sending: it must not be reset.
  var lingers = false
  var isHead = false
  /// libmicrohttpd 0.9.75 forgives bare LF and CR around chunks. A proxy in front may see the end
  /// of such a body, and the next request, elsewhere: nothing that follows is taken for one.
  var isChunked = false
  /// HTTP/1.0
  var isOld = false
  /// The end of the connection is that of the answer's body.
  var endsWithConnection = false

  init(target: UnsafePointer<CChar>?) {
    self.target = target
    if let target {
      rawTarget = UnsafeBufferPointer(start: target, count: strlen(target)).map {
        UInt8(bitPattern: $0)
      }
    }
  }
}

/// The steps of an exchange, in the order libmicrohttpd takes them; all on the I/O thread.
extension Exchange {
  /// A request that is answered before its body is read may still be read to its end if the body
  /// is at most this long: the connection stays usable.
  private static let shortBody = 1 << 20

  /// One call of libmicrohttpd's access handler: the head, then upload bytes, then the end.
  func advance(
    method: UnsafePointer<CChar>, version: UnsafePointer<CChar>,
    bytes: UnsafePointer<CChar>?, count: UnsafeMutablePointer<Int>
  ) -> MHD_Result {
    let goesOn: Bool
    if !flow.hasBegun {
      flow.hasBegun = true
      goesOn = begin(method: method, version: version)
    } else if count.pointee > 0, let bytes {
      let start = UnsafeRawPointer(bytes).assumingMemoryBound(to: UInt8.self)
      let buffer = UnsafeBufferPointer(start: start, count: count.pointee)
      goesOn = receive(buffer, left: &count.pointee)
    } else {
      goesOn = endUpload()
    }
    return goesOn ? .YES : .NO
  }

  private func begin(
    method: UnsafePointer<CChar>, version: UnsafePointer<CChar>
  ) -> Bool {
    guard state.withLock({ $0.ending == nil }) else { return false }
    let head = Head(
      of: connection.handle, method: method, version: version, target: flow.target,
      rawTarget: flow.rawTarget, server.configuration.headRoom)
    var request = head.request
    request.remoteAddress = connection.remoteAddress
    flow.target = nil
    flow.isHead = request.method == "HEAD"
    flow.isChunked = request.isChunked
    flow.isOld = request.version == "HTTP/1.0"
    publish(request)

    if let violation = head.violation {
      var refusal = server.handler.refusal(of: violation, request)
      refusal.closesConnection = true
      guard head.leavesRoom else { return refuseUnheard(refusal) }
      respond(refusal)
    } else {
      switch server.handler.begin(request, self) {
      case .respond(let response):
        respond(response)
      case .receive(let upload):
        flow.upload = upload
        state.withLock { $0.upload = upload }
        prepareMultipart(request)
      }
    }
    // What is answered already need not be read, but a short body is, for the connection's sake.
    let mayRead =
      head.violation == nil && !(request.expectsContinue && request.hasBody)
      && !request.isChunked && (request.contentLength ?? 0) <= Exchange.shortBody
    let answer = state.withLock { state -> Response?? in
      guard state.ending == nil else { return .none }
      state.stage = request.hasBody ? .receiving : .waiting
      state.remaining = request.contentLength
      state.pace = Pace(
        allowance: server.configuration.uploadStallTimeout,
        rate: server.configuration.minimumUploadRate)
      guard !state.isAnswered || mayRead else { return .some(take(&state)) }
      if state.isAnswered, request.hasBody { startDraining(&state) }
      return .some(nil)
    }
    switch answer {
    case .none: return false
    case .some(nil): return true
    case .some(.some(let answer)):
      // Answered before the body: libmicrohttpd reads nothing more and ends the connection.
      flow.lingers = true
      return queue(answer)
    }
  }

  /// Answers past libmicrohttpd, which gets no chance to; always false.
  private func refuseUnheard(_ refusal: Response) -> Bool {
    state.withLock { state in
      guard state.ending == nil else { return }
      state.isAnswered = true
      say(refusal, isHead: flow.isHead, &state)
      if !server.configuration.isEncrypted { Sockets.endWriting(connection.descriptor) }
      end(.aborted, &state)
    }
    return false
  }

  /// A request line has come in. If libmicrohttpd has no room for its parameters, they are taken from
  /// it, so that it does not try; `begin` refuses the request.
  func judgeLine() {
    guard let target = flow.target, !server.configuration.headRoom.holds(target: flow.rawTarget),
      let mark = flow.rawTarget.firstIndex(of: UInt8(ascii: "?"))
    else { return }
    // It takes them apart in this place, as far as the next zero.
    UnsafeMutablePointer(mutating: target)[mark + 1] = 0
  }

  private func receive(_ buffer: UnsafeBufferPointer<UInt8>, left: inout Int) -> Bool {
    enum Use { case end, discard, offer }
    let use = state.withLock { state -> Use in
      state.isSignalled = false
      if state.ending != nil || state.lastWord != nil || state.hasSaidLastWord { return .end }
      return state.isAnswered ? .discard : .offer
    }
    let taken: Int
    switch use {
    case .end:
      return false
    case .discard:
      taken = buffer.count
      flow.discarded += taken
      if flow.discarded > server.configuration.drainLimit {
        abort()
        return false
      }
    case .offer:
      taken = offer(buffer.span)
    }
    left -= taken
    return state.withLock { state in
      state.pace.progressed(by: taken)
      state.drain?.progressed(by: taken)
      state.remaining = state.remaining.map { $0 - taken }
      state.wakeThreshold.progressed(connection.descriptor, remaining: state.remaining)
      return left == 0 || sleep(&state)
    }
  }

  /// Gives the bytes to the upload and returns how many it took.
  private func offer(_ bytes: Span<UInt8>) -> Int {
    guard let upload = flow.upload else { return bytes.count }
    // After a failure nothing is read until the answer decides what becomes of the rest.
    guard !flow.hasFailed else { return 0 }
    guard bytes.count <= upload.bodyLimit - flow.received else {
      flow.hasFailed = true
      upload.failed(.bodyTooLarge)
      return 0
    }
    let taken =
      flow.multipart == nil
      ? upload.receive(bytes) ? bytes.count : 0 : offerParts(bytes, to: upload)
    flow.received += taken
    return taken
  }

  private func endUpload() -> Bool {
    if !flow.isUploadComplete {
      flow.isUploadComplete = true
      let isAnswered = state.withLock { state in
        state.stage = .waiting
        return state.isAnswered
      }
      if !isAnswered, !flow.hasFailed, let upload = flow.upload {
        if let error = flow.multipart?.errorAtEnd {
          upload.failed(error)
        } else {
          upload.endOfUpload()
        }
      }
    }
    let answer = state.withLock { state -> Response?? in
      guard state.ending == nil, !state.hasSaidLastWord else { return .none }
      if let answer = take(&state) { return .some(answer) }
      state.isSignalled = false
      return sleep(&state) ? .some(nil) : .none
    }
    switch answer {
    case .none: return false
    case .some(nil): return true
    case .some(.some(let answer)): return queue(answer)
    }
  }

  /// Takes the answer in order to send it.
  private func take(_ state: inout State) -> Response? {
    guard let answer = state.answer ?? state.lastWord else { return nil }
    state.answer = nil
    state.lastWord = nil
    state.stage = .answering
    state.sentStatus = answer.status
    state.pace = Pace(
      allowance: server.configuration.readerStallTimeout,
      rate: server.configuration.minimumReaderRate)
    return answer
  }

  /// libmicrohttpd is done with the request. The socket is still open.
  func completed(_ code: MHD_RequestTerminationCode) {
    let rest = state.withLock { state in
      if let lastWord = state.lastWord { say(lastWord, isHead: flow.isHead, &state) }
      let rest = state
      state.stage = .over
      state.isSuspended = false
      state.lastWord = nil
      state.answer = nil
      state.upload = nil
      return rest
    }
    var outcome = rest.ending ?? Outcome(code, connection.descriptor)
    if rest.ending == nil {
      if rest.hasSaidLastWord {
        outcome = .delivered
      } else if outcome == .delivered && rest.stage != .answering {
        outcome = .aborted
      }
    }
    if code != .REQUEST_TERMINATED_COMPLETED_OK || flow.endsWithConnection {
      // libmicrohttpd 0.9.75 closes the connection, but after some errors, and after a body that
      // ends with the connection, it does not look at it again: the descriptor would stay open.
      nalu_http_look_soon(connection.handle)
    }
    if flow.lingers || flow.isChunked || rest.hasSaidLastWord {
      server.lingering.take(connection.descriptor)
    }
    connection.ended(self)
    flow.upload?.ended(outcome)
    flow.upload = nil
  }
}

extension Outcome {
  /// What libmicrohttpd's word means; for an error that it does not explain, the socket is asked.
  fileprivate init(_ code: MHD_RequestTerminationCode, _ descriptor: Int32) {
    self =
      switch code {
      case .REQUEST_TERMINATED_COMPLETED_OK: .delivered
      case .REQUEST_TERMINATED_TIMEOUT_REACHED: .timedOut
      case .REQUEST_TERMINATED_DAEMON_SHUTDOWN: .stopped
      case .REQUEST_TERMINATED_READ_ERROR, .REQUEST_TERMINATED_CLIENT_ABORT: .clientGone
      default: Sockets.peersAreGone([descriptor]) == [true] ? .clientGone : .aborted
      }
  }
}
